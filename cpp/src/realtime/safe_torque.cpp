#include "thunder/realtime/safe_torque.hpp"

namespace thunder::realtime {

namespace {

constexpr double kAtRest = 0.05;        // speed below which the spring is set [rad/s or m/s]
constexpr double kLongestBraking = 0.5; // time after which it is [s]

}  // namespace

SafeTorque::SafeTorque(std::shared_ptr<const Model> model, double rate, Eigen::VectorXd torque_limits,
                       Eigen::VectorXd torque_rate)
    : brake_(std::move(model), rate, std::move(torque_limits), std::move(torque_rate)),
      y_(Eigen::VectorXd::Zero(brake_.n())),
      dy_(y_),
      point_(y_),
      away_(y_),
      parts_(y_) {}

void SafeTorque::step(double t, const double* q, const double* dq, const Motors& motors, double* tau,
                      const double* load) noexcept {
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
  away_ = point_ - y_;
  if (!sees_motors)
    for (const int j : model()->elastic_joints()) away_[j] = 0.0;
  brake_.torque(q, dq, {dy_.data(), held_ ? away_.data() : nullptr, load}, tau);
}

/// Positions and velocities that gains act on.
void SafeTorque::read_feedback(const double* q, const double* dq, const Motors& motors) noexcept {
  y_ = Eigen::Map<const Eigen::VectorXd>(q, n());
  dy_ = Eigen::Map<const Eigen::VectorXd>(dq, n());
  const std::vector<int>& elastic = model()->elastic_joints();
  if (elastic.empty()) return;
  if (!sees_motors_) {
    brake_.damping_parts(q, parts_.data());
    for (const int j : elastic) dy_[j] *= parts_[j];
    return;
  }
  for (std::size_t k = 0; k < elastic.size(); ++k) {
    y_[elastic[k]] = motors.x[k];
    dy_[elastic[k]] = motors.dx[k];
  }
}

void SafeTorque::archive(StateArchive& state) { state(started_at_, started_, held_, sees_motors_, point_); }

}  // namespace thunder::realtime
