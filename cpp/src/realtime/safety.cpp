#include "thunder/realtime/safety.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "thunder/math/dense.hpp"
#include "thunder/math/matrices.hpp"

namespace thunder::realtime {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Shortest time between two commands [s], which keeps an infinite rate times it from being NaN.
constexpr double kShortest = 1e-9;

/// Distance from position limits [rad or m], and time to them [s], within which `guard` looks along the stop: a stop of 2 s,
/// the longest, moves a joint by its velocity times half of that.
constexpr double kNear = 0.1, kSoon = 1.0;
/// For which accelerations are kept that `guard` has computed [s], and part of a velocity limit that they must leave then.
constexpr double kKept = 0.01, kLeft = 0.9;
/// Postures of which the responses to torques are looked at, and a margin for those between.
constexpr int kPostures = 64;
constexpr double kBetween = 1.5;
/// By which a joint beyond its limit may move on [rad or m], for it is never quite still.
constexpr double kStill = 1e-4;

const Eigen::VectorXd& checked(const Eigen::VectorXd& limits, int n) {
  if (limits.size() != n)
    throw std::invalid_argument("limits must be those of " + std::to_string(n) + " joints, got " +
                                std::to_string(limits.size()));
  return limits;
}

/// Numbers r of which r_i r_j bounds the acceleration of joint i by a unit torque on joint j, over postures: the inverse of
/// the mass matrix is positive definite, so its entries are bounded by its diagonal.
Eigen::VectorXd largest_responses(const Evaluator& dynamics, const SafetyLimits& limits) {
  const int n = dynamics.n();
  std::mt19937 generator(0);
  Eigen::VectorXd q(n), most = Eigen::VectorXd::Zero(n);
  RowMajor M(n, n);
  for (int posture = 0; posture < kPostures; ++posture) {
    for (int i = 0; i < n; ++i) {
      const double low = std::max(limits.lower[i], -M_PI), high = std::min(limits.upper[i], M_PI);
      q[i] = low + (high - low) * static_cast<double>(generator()) / static_cast<double>(generator.max());
    }
    dynamics.mass_matrix(q.data(), M.data());
    most = most.cwiseMax(M.inverse().diagonal());
  }
  return kBetween * most.cwiseSqrt();
}

/// The largest rate of a command [N m/s].
Eigen::VectorXd largest_rate(const SafetyLimits& limits, int n) {
  return checked(limits.torque_rate, n).cwiseMin(checked(limits.torque_step, n) / limits.period);
}

bool finite(const double* values, Eigen::Index count) noexcept {
  return all_finite(values, static_cast<std::size_t>(count));
}

}  // namespace

Safety::Safety(std::shared_ptr<const Model> model, SafetyLimits limits, std::shared_ptr<ExternalObserver> observer)
    : dynamics_(std::move(model)),
      limits_(std::move(limits)),
      stop_(dynamics_.shared_model(), braking_rate(limits_.period), kTrusted * checked(limits_.torque, n()),
            largest_rate(limits_, n()), kReactionPeriods * limits_.period),
      observer_(std::move(observer)),
      ahead_(n()),
      lower_(limits_.lower),
      upper_(limits_.upper) {
  for (const Eigen::VectorXd* values : {&limits_.lower, &limits_.upper, &limits_.velocity}) checked(*values, n());
  if (observer_ && observer_->n() != n())
    throw std::invalid_argument("observer must have the arm's " + std::to_string(n()) + " joints, got " +
                                std::to_string(observer_->n()));
  if (observer_ && observer_->contact() == nullptr)
    throw std::invalid_argument("observer must have a detector, which defines contacts");
  for (int k = 1; k <= n() + 1; ++k) frames_.push_back(dynamics_.model().frame(k));
  poses_.resize(frames_.size());
  command_ = tau_ = target_ = most_ = change_ = zero_ = asked_ = ddq_ = Eigen::VectorXd::Zero(n());
  if (dynamics_.model().elastic_count() == 0) response_ = largest_responses(dynamics_, limits_);
  reset();
}

void Safety::reset() noexcept {
  reason_ = Reason::none;
  command_.setZero();
  tau_.setZero();
  restart_clock();
  if (observer_) observer_->reset();
}

void Safety::restart_clock() noexcept { limited_at_ = torque_within_ = rate_within_ = kNaN; }

void Safety::begin(const Eigen::VectorXd& command) noexcept {
  for (int i = 0; i < n(); ++i)
    if (std::isfinite(command[i])) command_[i] = std::clamp(command[i], -limits_.torque[i], limits_.torque[i]);
}

void Safety::archive(StateArchive& state) {
  state.bounded(reason_, 0.0, static_cast<double>(Reason::none));
  state(command_, tau_, lower_, upper_, asked_, ddq_, asked_at_, limited_at_, torque_within_, rate_within_);
  if (observer_) state(*observer_);
}

Reason Safety::violated(Reason reason) noexcept {
  if (reason_ == Reason::none) reason_ = reason;
  return reason_;
}

Reason Safety::check(double t, const double* q, const double* dq) noexcept {
  if (!std::isfinite(t)) return violated(Reason::invalid_states);
  Reason found = check_velocities(dq);
  look_ahead(q, dq);
  if (found == Reason::none && !(within(q, limits_.lower, limits_.upper) && within(ahead_.data(), limits_.lower, limits_.upper)))
    found = Reason::position;
  if (found == Reason::none) found = check_stop(q, dq, std::isnan(limited_at_) ? nullptr : tau_.data(), limits_.lower, limits_.upper);
  if (found == Reason::none && touched(t, q, dq)) found = Reason::contact;
  return violated(found);
}

Reason Safety::check_velocities(const double* dq) const noexcept {
  for (int i = 0; i < n(); ++i)
    if (!(std::abs(dq[i]) <= limits_.velocity[i])) return Reason::velocity;
  return Reason::none;
}

/// The velocities until the brake acts. Accelerations are computed where the change of the torque since the last time could
/// bring a joint near its limit, and after a while.
Reason Safety::check_acceleration(double t, const double* q, const double* dq, const double* tau) noexcept {
  const double reaction = kReactionPeriods * limits_.period;
  double change = 0.0;
  for (int i = 0; i < n(); ++i) change += response_[i] * std::abs(tau[i] - asked_[i]);
  bool slow = t - asked_at_ < kKept;
  for (int i = 0; i < n() && slow; ++i)
    slow = std::abs(dq[i] + reaction * ddq_[i]) + reaction * response_[i] * change < kLeft * limits_.velocity[i];
  if (slow) return Reason::none;
  asked_at_ = t;
  asked_ = Eigen::Map<const Eigen::VectorXd>(tau, n());
  dynamics_.forward_dynamics(q, dq, tau, ddq_.data());
  ahead_ = Eigen::Map<const Eigen::VectorXd>(dq, n()) + reaction * ddq_;
  return check_velocities(ahead_.data());
}

Reason Safety::guard(double t, const double* q, const double* dq, const double* tau) noexcept {
  if (dynamics_.model().elastic_count() > 0) return check_velocities(dq);
  bool near = limits_.obstacles.size() > 0;
  for (int i = 0; i < n(); ++i) {
    const double reach = kNear + kSoon * std::abs(dq[i]);
    near = near || q[i] - reach < limits_.lower[i] || q[i] + reach > limits_.upper[i];
  }
  if (check_velocities(dq) != Reason::none || check_acceleration(t, q, dq, tau) != Reason::none) return Reason::velocity;
  return near ? check_stop(q, dq, tau, lower_, upper_) : Reason::none;
}

void Safety::allow(const double* q) noexcept {
  asked_at_ = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < n(); ++i) {
    lower_[i] = std::min(limits_.lower[i], q[i] - kStill);
    upper_[i] = std::max(limits_.upper[i], q[i] + kStill);
  }
}

void Safety::look_ahead(const double* q, const double* dq) noexcept {
  for (int i = 0; i < n(); ++i) ahead_[i] = q[i] + limits_.lookahead * dq[i];
}

bool Safety::within(const double* q, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) const noexcept {
  for (int i = 0; i < n(); ++i)
    if (!(lower[i] <= q[i] && q[i] <= upper[i])) return false;
  return true;
}

/// Looks along the stop from a state within the limits.
Reason Safety::check_stop(const double* q, const double* dq, const double* tau, const Eigen::VectorXd& lower,
                          const Eigen::VectorXd& upper) noexcept {
  const bool walls = limits_.obstacles.size() > 0;
  look_ahead(q, dq);
  if (walls && (near_obstacle(q) || near_obstacle(ahead_.data()))) return Reason::workspace;
  stop_.predict(q, dq, tau);
  for (int k = 0; k <= stop_.before() + BrakingPath::kPoints; ++k) {
    stop_.point(k, ahead_.data());
    if (!within(ahead_.data(), lower, upper)) return Reason::position;
    if (walls && near_obstacle(ahead_.data())) return Reason::workspace;
  }
  return Reason::none;
}

bool Safety::near_obstacle(const double* q) noexcept {
  dynamics_.frame_poses(q, frames_.data(), static_cast<int>(frames_.size()), poses_.data());
  return std::any_of(poses_.begin(), poses_.end(), [this](const Pose<double>& pose) {
    const Eigen::Vector3d p(pose.p.x, pose.p.y, pose.p.z);
    return !p.allFinite() || limits_.obstacles.nearer(p, 0.0, limits_.clearance) >= 0;
  });
}

bool Safety::touched(double t, const double* q, const double* dq) noexcept {
  if (!observer_) return false;
  observer_->step(t, q, dq, tau_.data());
  return observer_->contact()->maxCoeff() > 0.0;
}

const Eigen::VectorXd& Safety::limit(double t, const double* tau, const double* gravity, bool clipped,
                                     bool together) noexcept {
  if (!std::isfinite(t)) {
    violated(Reason::invalid_states);
    return command_;
  }
  // of every command, and never back: the next one may not use the time of those before once more
  const double dt = std::max(std::isnan(limited_at_) ? 0.0 : t - limited_at_, kShortest);
  limited_at_ = std::isnan(limited_at_) ? t : std::max(limited_at_, t);
  if (tau == nullptr || !finite(tau, n()) || (gravity != nullptr && !finite(gravity, n()))) {
    violated(Reason::invalid_torque);
    return command_;
  }
  bool too_much = clipped, too_fast = false;
  for (int i = 0; i < n(); ++i) {
    const double high = limits_.torque[i], added = gravity == nullptr ? 0.0 : gravity[i];
    target_[i] = std::clamp(std::clamp(tau[i], -high, high) - added, -high, high);
    most_[i] = std::min(limits_.torque_step[i], limits_.torque_rate[i] * dt);
    too_much = too_much || target_[i] != tau[i] - added;
  }
  if (together) {
    change_ = target_ - command_;
    target_ = command_ + largest_part(most_, zero_.data(), change_.data()) * change_;
  }
  for (int i = 0; i < n(); ++i) {
    const double last = command_[i];
    command_[i] = std::min(std::max(target_[i], last - most_[i]), last + most_[i]);
    tau_[i] = command_[i] + (gravity == nullptr ? 0.0 : gravity[i]);
    too_fast = too_fast || command_[i] != target_[i];
  }
  watch(t, Reason::torque, torque_within_, too_much);
  watch(t, Reason::torque_rate, rate_within_, too_fast);
  return command_;
}

void Safety::watch(double t, Reason reason, double& within, bool beyond) noexcept {
  if (!beyond || std::isnan(within))
    within = t;
  else if (t - within > limits_.patience)
    violated(reason);
}

}  // namespace thunder::realtime
