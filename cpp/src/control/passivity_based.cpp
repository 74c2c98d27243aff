#include "thunder/control/passivity_based.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

PassivityBased::PassivityBased(std::shared_ptr<const Model> model, Eigen::MatrixXd Lambda, Eigen::MatrixXd K)
    : JointController(std::move(model), std::move(K)), Lambda_(std::move(Lambda)), M_(n(), n()), C_(n(), n()) {
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &dq_r_, &ddq_r_, &s_, &friction_}) v->setZero(n());
  publish("error", e_.data(), joint_names());
  publish("s", s_.data(), joint_names());
}

Status PassivityBased::law(double, const double* q_, const double* dq_, const JointReference& desired,
                           double* tau_) noexcept {
  const Eigen::Map<const Eigen::VectorXd> q(q_, n()), dq(dq_, n());
  Eigen::Map<Eigen::VectorXd> tau(tau_, n());
  e_ = desired.q - q;
  e_dot_ = desired.dq - dq;
  dq_r_ = desired.dq;
  add_product(Lambda_, e_.data(), dq_r_.data());
  ddq_r_ = desired.ddq;
  add_product(Lambda_, e_dot_.data(), ddq_r_.data());
  s_ = dq_r_ - dq;

  dynamics_.mass_coriolis(q_, dq_, M_.data(), C_.data());
  dynamics_.gravity_vector(q_, tau_);
  dynamics_.friction_torque(dq_, friction_.data());
  tau += friction_;
  tau += M_.lazyProduct(ddq_r_);
  tau += C_.lazyProduct(dq_r_);
  add_product(K_d_, s_.data(), tau.data());
  return Status::ok;
}

}  // namespace thunder
