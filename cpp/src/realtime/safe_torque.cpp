#include "thunder/realtime/safe_torque.hpp"

#include <algorithm>
#include <limits>

namespace thunder::realtime {

namespace {

constexpr double kAtRest = 0.05;        // speed below which the spring is set [rad/s or m/s]
constexpr double kLongestBraking = 0.5; // time after which it is [s]
constexpr double kElasticShare = 0.25;  // of the stable damping of an elastic joint whose motor is not measured

Eigen::MatrixXd diagonal(const Eigen::VectorXd& entries) { return entries.asDiagonal(); }

}  // namespace

SafeTorque::SafeTorque(std::shared_ptr<const Model> model, const Eigen::VectorXd& stiffness, Eigen::VectorXd damping,
                       const Eigen::VectorXd& torque_limits)
    : law_(model, diagonal(stiffness), diagonal(damping), IntegralAction({}, {}, model->n()), PDGravity::Gravity::actual),
      elastic_damping_(model),
      damping_(std::move(damping)),
      y_(Eigen::VectorXd::Zero(law_.n())),
      dy_(y_),
      point_(y_),
      limits_(y_),
      nan_(Eigen::VectorXd::Constant(law_.n(), std::numeric_limits<double>::quiet_NaN())),
      reference_(law_.n()) {
  law_.set_torque_limits(torque_limits);
}

void SafeTorque::step(double t, const double* q, const double* dq, const Motors& motors, double* tau) noexcept {
  const bool sees_motors = motors.x != nullptr && motors.dx != nullptr;
  if (sees_motors != sees_motors_) {
    leave();
    sees_motors_ = sees_motors;
  }
  read_feedback(q, dq, motors);
  if (!started_) started_at_ = t;
  started_ = true;
  const double fastest = Eigen::Map<const Eigen::VectorXd>(dq, n()).cwiseAbs().maxCoeff();
  if (!held_ && (fastest < kAtRest || t - started_at_ > kLongestBraking)) {
    point_ = y_;
    held_ = true;
  }
  reference_.q = Eigen::Map<const Eigen::VectorXd>(q, n());
  if (held_) reference_.q += point_ - y_;
  if (!sees_motors)
    for (const int j : law_.model()->elastic_joints()) reference_.q[j] = q[j];
  law_.step(t, q, dy_.data(), reference_, tau);
}

/// Positions and velocities that gains act on.
void SafeTorque::read_feedback(const double* q, const double* dq, const Motors& motors) noexcept {
  y_ = Eigen::Map<const Eigen::VectorXd>(q, n());
  dy_ = Eigen::Map<const Eigen::VectorXd>(dq, n());
  const std::vector<int>& elastic = law_.model()->elastic_joints();
  if (elastic.empty()) return;
  if (!sees_motors_) {
    elastic_damping_.at(q, limits_.data());
    for (int j = 0; j < n(); ++j) dy_[j] *= std::min(1.0, kElasticShare * limits_[j] / damping_[j]);
    return;
  }
  for (std::size_t k = 0; k < elastic.size(); ++k) {
    y_[elastic[k]] = motors.x[k];
    dy_[elastic[k]] = motors.dx[k];
  }
}

void SafeTorque::blind(const double* q, double* tau) noexcept {
  reference_.q = Eigen::Map<const Eigen::VectorXd>(q, n());
  law_.step(0.0, q, nan_.data(), reference_, tau);
}

void SafeTorque::archive(StateArchive& state) {
  law_.archive(state);
  state(started_at_, started_, held_, sees_motors_, point_);
}

}  // namespace thunder::realtime
