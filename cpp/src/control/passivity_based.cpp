#include "thunder/control/passivity_based.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

PassivityBased::PassivityBased(std::shared_ptr<const Model> model, Eigen::MatrixXd Lambda, Eigen::MatrixXd K_d)
    : JointController(std::move(model), std::move(K_d)), Lambda_(std::move(Lambda)) {
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &dq_r_, &ddq_r_, &s_}) v->setZero(n());
  publish("error", e_.data(), joint_names());
  publish("s", s_.data(), joint_names());
}

Status PassivityBased::law(double, const double* q_, const double* dq_, const JointReference& desired,
                           double* tau_) noexcept {
  const Eigen::Map<const Eigen::VectorXd> q(q_, n()), dq(dq_, n());
  e_ = desired.q - q;
  e_dot_ = desired.dq - dq;
  dq_r_ = desired.dq;
  add_product(Lambda_, e_.data(), dq_r_.data());
  ddq_r_ = desired.ddq;
  add_product(Lambda_, e_dot_.data(), ddq_r_.data());
  s_ = dq_r_ - dq;

  reference_torque(q_, dq_, dq_r_.data(), ddq_r_.data(), tau_);
  add_product(K_d_, s_.data(), tau_);
  return Status::ok;
}

}  // namespace thunder
