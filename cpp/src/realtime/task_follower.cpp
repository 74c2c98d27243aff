#include "thunder/realtime/task_follower.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/math/rotations.hpp"

namespace thunder::realtime {

namespace {

using Eigen::Vector3d;

constexpr double kLongestStep = 0.02;  // of the clock that is integrated [s]
constexpr double kUnit = 1e-3;         // tolerance on the length of a quaternion
constexpr double kFarthest = 1e6;       // distance or speed [m, m/s, rad/s]
constexpr double kBraking = 0.8;       // fraction of the largest acceleration that braking uses
constexpr double kSmoothing = 5.0;     // bandwidth of the acceleration's lag, in bandwidths: a damping ratio of 0.8

Vector3d bounded(const Vector3d& x, double most) noexcept {
  const double length = x.norm();
  return length <= most ? x : Vector3d(x * (most / length));
}

/// The acceleration that reduces e: critically damped at small distance, with braking at large distance. v_d and a_d are the
/// goal's velocity and acceleration.
Vector3d approach(const Vector3d& e, const Vector3d& v_d, const Vector3d& a_d, const Vector3d& v, double bandwidth,
                  double speed, double most, double dt) noexcept {
  const double distance = e.norm();
  double rate = 0.5 * bandwidth;  // [1/s], with a gain of 2 bandwidth on the velocity: critical damping
  if (rate * distance > std::sqrt(2.0 * kBraking * most * distance)) rate = std::sqrt(2.0 * kBraking * most / distance);
  const double gain = std::min(2.0 * bandwidth, dt > 0.0 ? 1.0 / dt : 0.0);
  return bounded(a_d + gain * (bounded(v_d + rate * e, speed) - v), most);
}

Eigen::Quaterniond turned(const Eigen::Quaterniond& R, const Vector3d& phi) noexcept {
  return (quaternion_exp(phi) * R).normalized();
}

}  // namespace

Refusal TaskFollower::take_pose(double t, const double* position, const double* quaternion) noexcept {
  if (t <= pose_time_) return Refusal::reordered;
  const Eigen::Map<const Vector3d> p(position);
  Eigen::Quaterniond turn(quaternion[3], quaternion[0], quaternion[1], quaternion[2]);
  if (!p.allFinite() || !turn.coeffs().allFinite()) return Refusal::not_finite;
  const double length = turn.norm();
  if (!(std::abs(length - 1.0) <= kUnit)) return Refusal::no_rotation;
  if (!(p.norm() <= kFarthest)) return Refusal::too_large;
  turn.coeffs() /= length;
  goal_ = {p, turn};
  has_goal_ = true;
  goal_time_ = pose_time_ = t;
  return Refusal::none;
}

Refusal TaskFollower::take_twist(double t, const double* linear, const double* angular) noexcept {
  if (t <= twist_time_) return Refusal::reordered;
  const Eigen::Map<const Vector3d> v(linear), w(angular);
  if (!v.allFinite() || !w.allFinite()) return Refusal::not_finite;
  if (!(std::max(v.norm(), w.norm()) <= kFarthest)) return Refusal::too_large;
  if (has_goal_ && t > goal_time_) {
    goal_ = goal_at(t);
    goal_time_ = t;
  }
  // bounded, because a goal that runs ahead would still be followed after the twist has become zero
  twist_ << bounded(v, limits_.speed), bounded(w, limits_.turning);
  twist_time_ = t;
  return Refusal::none;
}

bool TaskFollower::take(double t, const TaskReference& wanted) noexcept {
  if (!wanted.valid() || !(wanted.p.norm() <= kFarthest)) return false;
  goal_ = {wanted.p, shorter_quaternion(wanted.R)};
  has_goal_ = true;
  twist_ << bounded(wanted.xi.head<3>(), limits_.speed), bounded(wanted.xi.tail<3>(), limits_.turning);
  feedforward_ = wanted.xi_dot;
  goal_time_ = pose_time_ = twist_time_ = t;
  return true;
}

void TaskFollower::drop(Reason why) noexcept {
  why_ = why;
  feedforward_.setZero();
  joined_ = has_goal_ = false;
  goal_time_ = pose_time_ = twist_time_ = kNever;
  twist_.setZero();
}

bool TaskFollower::present(double t) noexcept {
  if (std::max(pose_time_, twist_time_) >= t - timeout_) return true;
  if (has_goal_ || twist_time_ > kNever) drop(Reason::reference_ended);
  return false;
}

void TaskFollower::start(double t, const Vector3d& p, const Eigen::Matrix3d& R, const Vector6d& xi) noexcept {
  body_ = {p, shorter_quaternion(R)};
  xi_ = xi;
  xi_dot_.setZero();
  t_ = t;
  joined_ = true;
  if (has_goal_ && pose_time_ >= t - timeout_) return;
  goal_ = body_;
  goal_time_ = t;
  has_goal_ = true;
}

/// The goal at time t, moved on by the twist.
TaskFollower::Pose TaskFollower::goal_at(double t) const noexcept {
  const double dt = t - goal_time_;
  if (!twist_is_fresh(t) || dt == 0.0) return goal_;
  return {goal_.p + dt * twist_.head<3>(), turned(goal_.R, dt * twist_.tail<3>())};
}

const TaskReference& TaskFollower::at(double t) noexcept {
  const double dt = std::clamp(t - t_, 0.0, kLongestStep);
  t_ = t;
  const Pose goal = goal_at(t);
  const Vector6d twist = twist_is_fresh(t) ? twist_ : Vector6d::Zero();
  const Vector3d away = goal.p - body_.p, turn = quaternion_log(goal.R * body_.R.conjugate());
  Vector6d a;
  a << approach(away, twist.head<3>(), feedforward_.head<3>(), xi_.head<3>(), limits_.bandwidth, limits_.speed,
                limits_.acceleration, dt),
      approach(turn, twist.tail<3>(), feedforward_.tail<3>(), xi_.tail<3>(), limits_.bandwidth, limits_.turning,
               limits_.angular_acceleration, dt);
  xi_dot_ += (1.0 - std::exp(-kSmoothing * limits_.bandwidth * dt)) * (a - xi_dot_);
  xi_ += dt * xi_dot_;
  body_.p += dt * xi_.head<3>();
  body_.R = turned(body_.R, dt * xi_.tail<3>());
  reference_.p = body_.p;
  reference_.R = body_.R.toRotationMatrix();
  reference_.xi = xi_;
  reference_.xi_dot = xi_dot_;
  return reference_;
}

void TaskFollower::archive(StateArchive& state) {
  state(joined_, has_goal_, t_, goal_time_, pose_time_, twist_time_);
  for (Pose* pose : {&goal_, &body_}) state(pose->p, pose->R.coeffs());
  state(twist_, xi_, xi_dot_, feedforward_);
  state.bounded(why_, 0.0, kReasons - 1);
}

}  // namespace thunder::realtime
