#include "thunder/control/mact.hpp"

namespace thunder {

MACT::MACT(AdaptiveModel adaptive_model, PredictionError prediction_error, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d)
    : AdaptiveController(std::move(adaptive_model), std::move(K_d)),
      prediction_error_(std::move(prediction_error)),
      K_p_(std::move(K_p)),
      e_(Eigen::VectorXd::Zero(n())),
      e_dot_(e_) {
  publish("error", e_.data(), joint_names());
  publish("s", e_dot_.data(), joint_names());
  publish("prediction_error", prediction_error_.error().data(), joint_names());
}

void MACT::reset() noexcept {
  AdaptiveController::reset();
  prediction_error_.restart();
}

void MACT::freeze() noexcept {
  AdaptiveController::freeze();
  prediction_error_.restart();
}

Status MACT::law(double t, const double* q_, const double* dq_, const JointReference& desired,
                 double* tau_) noexcept {
  const Eigen::Map<const Eigen::VectorXd> q(q_, n()), dq(dq_, n());
  e_ = desired.q - q;
  e_dot_ = desired.dq - dq;
  if (!adaptive_model_.advance(t)) return Status::diverged;
  prediction_error_.update(t, q_, dq_, last_torque());

  adaptive_model_.torque(q_, dq_, desired.dq.data(), desired.ddq.data(), tau_);  // Y_r(q, dq, dq_d, ddq_d) pihat
  add_product(K_d_, e_dot_.data(), tau_);
  add_product(K_p_, e_.data(), tau_);
  adaptive_model_.adapt(e_dot_.data());
  prediction_error_.adapt(adaptive_model_);
  return Status::ok;
}

}  // namespace thunder
