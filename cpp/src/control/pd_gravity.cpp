#include "thunder/control/pd_gravity.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

PDGravity::PDGravity(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d,
                     IntegralAction integral, Gravity compensated)
    : JointController(std::move(model), std::move(K_d)),
      K_p_(std::move(K_p)),
      integral_(std::move(integral)),
      compensated_(compensated),
      e_(Eigen::VectorXd::Zero(n())),
      e_dot_(e_) {
  publish("error", e_.data(), joint_names());
  if (integral_.active()) publish("integral", integral_.torque().data(), joint_names());
}

void PDGravity::reset() noexcept {
  JointController::reset();
  integral_.reset();
}

Status PDGravity::law(double t, const double* q, const double* dq, const JointReference& desired,
                      double* tau_) noexcept {
  Eigen::Map<Eigen::VectorXd> tau(tau_, n());
  e_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  e_dot_ = desired.dq - Eigen::Map<const Eigen::VectorXd>(dq, n());
  integral_.advance(t, e_, last_torque(), torque_limits());

  dynamics_.gravity_vector(compensated_ == Gravity::actual ? q : desired.q.data(), tau_);
  add_product(K_p_, e_.data(), tau.data());
  add_product(K_d_, e_dot_.data(), tau.data());
  tau += integral_.torque();
  return Status::ok;
}

}  // namespace thunder
