#include "thunder/control/cartesian_mact.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

CartesianMACT::CartesianMACT(AdaptiveModel adaptive_model, PredictionError prediction_error, TaskSetup task,
                             const Eigen::MatrixXd& K_p)
    : AdaptiveController(std::move(adaptive_model), task.null_space.K_d),
      prediction_error_(std::move(prediction_error)),
      null_space_(std::move(task.null_space)),
      motion_(n(), task.frame, task.rows, task.kind),
      K_p_(spread_rows(task.rows, K_p)) {
  for (VectorXd* v : {&beta_, &alpha_, &s_}) v->setZero(n());
  publish("error", motion_.error_rows.data(), row_names(motion_.rows()));
  publish("s", s_.data(), joint_names());
  publish("prediction_error", prediction_error_.error().data(), joint_names());
}

void CartesianMACT::reset() noexcept {
  AdaptiveController::reset();
  prediction_error_.restart();
}

void CartesianMACT::freeze() noexcept {
  AdaptiveController::freeze();
  prediction_error_.restart();
}

Status CartesianMACT::law(double t, const double* q, const double* dq, const TaskReference& desired,
                          double* tau_) noexcept {
  const bool regular = motion_.update(dynamics_, q, dq, desired, holding());
  if (!adaptive_model_.advance(t)) return Status::diverged;
  prediction_error_.update(t, q, dq, last_torque());
  if (!regular) return Status::singular;
  // alpha is the exact derivative of beta: the proof needs it, and the printed alpha is another (errata D-12)
  null_space_.motion(q, dq, motion_.J, motion_.J_dot, motion_.gram_inverse, motion_.error.f, motion_.error.f_dot, beta_,
                     alpha_);
  s_ = beta_ - Map<const VectorXd>(dq, n());

  adaptive_model_.torque(q, dq, beta_.data(), alpha_.data(), tau_);  // Y_r pihat
  add_product(K_d_, s_.data(), tau_);
  const Vector6d force = K_p_ * motion_.error.e;
  add_transposed(motion_.J, force, tau_);
  adaptive_model_.adapt(s_.data());
  prediction_error_.adapt(adaptive_model_);
  return Status::ok;
}

}  // namespace thunder
