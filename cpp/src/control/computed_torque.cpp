#include "thunder/control/computed_torque.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

ComputedTorque::ComputedTorque(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_v, Form form)
    : JointController(std::move(model), K_v), K_p_(std::move(K_p)), K_v_(std::move(K_v)), form_(form) {
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &feedback_, &ddq_}) v->setZero(n());
  publish("error", e_.data(), joint_names());
}

Status ComputedTorque::law(double, const double* q, const double* dq, const JointReference& desired,
                           double* tau_) noexcept {
  e_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  e_dot_ = desired.dq - Eigen::Map<const Eigen::VectorXd>(dq, n());
  feedback_.setZero();
  add_product(K_v_, e_dot_.data(), feedback_.data());
  add_product(K_p_, e_.data(), feedback_.data());

  ddq_ = desired.ddq;
  if (form_ == Form::craig) ddq_ += feedback_;
  dynamics_.inverse_dynamics(q, dq, ddq_.data(), tau_);
  if (form_ == Form::impedance) Eigen::Map<Eigen::VectorXd>(tau_, n()) += feedback_;
  return Status::ok;
}

}  // namespace thunder
