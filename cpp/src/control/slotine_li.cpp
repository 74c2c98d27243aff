#include "thunder/control/slotine_li.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

SlotineLi::SlotineLi(AdaptiveModel adaptive_model, Eigen::MatrixXd Lambda, Eigen::MatrixXd K_d)
    : AdaptiveController(std::move(adaptive_model), std::move(K_d)), Lambda_(std::move(Lambda)) {
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &dq_r_, &ddq_r_, &s_}) v->setZero(n());
  publish("error", e_.data(), joint_names());
  publish("s", s_.data(), joint_names());
}

Status SlotineLi::law(double t, const double* q_, const double* dq_, const JointReference& desired,
                      double* tau_) noexcept {
  const Eigen::Map<const Eigen::VectorXd> q(q_, n()), dq(dq_, n());
  Eigen::Map<Eigen::VectorXd> tau(tau_, n());
  e_ = desired.q - q;
  e_dot_ = desired.dq - dq;
  if (!adaptive_model_.advance(t)) return Status::diverged;

  dq_r_ = desired.dq;
  add_product(Lambda_, e_.data(), dq_r_.data());
  ddq_r_ = desired.ddq;
  add_product(Lambda_, e_dot_.data(), ddq_r_.data());
  s_ = dq_r_ - dq;

  adaptive_model_.torque(q_, dq_, dq_r_.data(), ddq_r_.data(), tau_);  // Y_r pihat
  add_product(K_d_, s_.data(), tau.data());
  adaptive_model_.adapt(s_.data());
  return Status::ok;
}

}  // namespace thunder
