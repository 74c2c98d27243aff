#include "thunder/control/passivity_based.hpp"

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
  dq_r_.noalias() += Lambda_ * e_;
  ddq_r_ = desired.ddq;
  ddq_r_.noalias() += Lambda_ * e_dot_;
  s_ = dq_r_ - dq;

  dynamics_.mass_coriolis(q_, dq_, M_.data(), C_.data());
  dynamics_.gravity_vector(q_, tau_);
  dynamics_.friction_torque(dq_, friction_.data());
  tau += friction_;
  tau.noalias() += M_ * ddq_r_;
  tau.noalias() += C_ * dq_r_;
  tau.noalias() += K_d_ * s_;
  return Status::ok;
}

}  // namespace thunder
