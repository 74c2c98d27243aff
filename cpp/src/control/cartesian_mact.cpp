#include "thunder/control/cartesian_mact.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

CartesianMACT::CartesianMACT(AdaptiveModel adaptive_model, PredictionError prediction_error, TaskSetup task,
                             const Eigen::MatrixXd& K_xi)
    : AdaptiveController(std::move(adaptive_model), task.null_space.K_d),
      prediction_error_(std::move(prediction_error)),
      null_space_(std::move(task.null_space)),
      motion_(n(), task.frame, task.rows),
      K_xi_(spread_rows(task.rows, K_xi)) {
  for (VectorXd* v : {&beta_, &alpha_, &s_, &free_, &free_dot_}) v->setZero(n());
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

/// beta = J^+ f + (I - J^+ J) a = a + J^+ (f - J a) with a = K_posture (posture - q), and alpha, its exact derivative:
/// the proof needs it, and the printed alpha is another (errata D-12).
void CartesianMACT::reference_motion(const double* q, const double* dq) noexcept {
  if (null_space_.posture.size() > 0) {
    s_ = null_space_.posture - Map<const VectorXd>(q, n());
    free_.setZero();
    free_dot_.setZero();
    add_product(null_space_.K_posture, s_.data(), free_.data());
    add_product(null_space_.K_posture, dq, free_dot_.data(), -1.0);
  }
  const Vector6d v = motion_.error.f - motion_.J.lazyProduct(free_);
  const Vector6d v_dot =
      motion_.error.f_dot - motion_.J_dot.lazyProduct(free_) - motion_.J.lazyProduct(free_dot_);
  least_norm_motion(motion_.J, motion_.J_dot, motion_.gram_inverse, v, v_dot, beta_, alpha_);
  beta_ += free_;
  alpha_ += free_dot_;
  s_ = beta_ - Map<const VectorXd>(dq, n());
}

Status CartesianMACT::law(double t, const double* q, const double* dq, const TaskReference& desired,
                          double* tau_) noexcept {
  const bool regular = motion_.update(dynamics_, q, dq, desired);
  if (!adaptive_model_.advance(t)) return Status::diverged;
  prediction_error_.update(t, q, dq, last_torque());
  if (!regular) return Status::singular;
  reference_motion(q, dq);

  adaptive_model_.torque(q, dq, beta_.data(), alpha_.data(), tau_);  // Y_r pihat
  add_product(K_d_, s_.data(), tau_);
  const Vector6d force = K_xi_ * motion_.error.e;
  add_transposed(motion_.J, force, tau_);
  adaptive_model_.adapt(s_.data());
  prediction_error_.adapt(adaptive_model_);
  return Status::ok;
}

}  // namespace thunder
