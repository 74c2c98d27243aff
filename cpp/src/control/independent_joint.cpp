#include "thunder/control/independent_joint.hpp"

namespace thunder {

IndependentJoint::IndependentJoint(std::shared_ptr<const Model> model, Gains gains, Motors motors,
                                   IntegralAction integral, Feedforward feedforward)
    : JointController(std::move(model), gains.K_d.asDiagonal()),
      gains_(std::move(gains)),
      motors_(std::move(motors)),
      integral_(std::move(integral)),
      feedforward_(feedforward),
      e_(Eigen::VectorXd::Zero(n())),
      e_dot_(e_) {
  publish("error", e_.data(), joint_names());
  if (integral_.active()) publish("integral", integral_.torque().data(), joint_names());
}

void IndependentJoint::reset() noexcept {
  JointController::reset();
  integral_.reset();
}

Status IndependentJoint::law(double t, const double* q, const double* dq, const JointReference& desired,
                             double* tau_) noexcept {
  Eigen::Map<Eigen::VectorXd> tau(tau_, n());
  e_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  e_dot_ = desired.dq - Eigen::Map<const Eigen::VectorXd>(dq, n());
  integral_.advance(t, e_, last_torque(), torque_limits());

  if (feedforward_ == Feedforward::motor)
    tau = motors_.inertia.cwiseProduct(desired.ddq) + motors_.damping.cwiseProduct(desired.dq);
  else
    dynamics_.inverse_dynamics(desired.q.data(), desired.dq.data(), desired.ddq.data(), tau_);
  tau += gains_.K_p.cwiseProduct(e_) + gains_.K_d.cwiseProduct(e_dot_) + integral_.torque();
  return Status::ok;
}

}  // namespace thunder
