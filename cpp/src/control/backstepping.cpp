#include "thunder/control/backstepping.hpp"

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::VectorXd;

}  // namespace

Backstepping::Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, Gains gains)
    : AdaptiveController(std::move(adaptive_model), std::move(gains.K_d)),
      frame_(frame),
      rows_{(1 << static_cast<int>(task)) - 1},
      Lambda_(spread_rows(rows_, gains.Lambda)),
      K_p_(spread_rows(rows_, gains.K_p)),
      terms_(blank_terms()) {
  std::vector<std::string> labels{"x", "y", "z", "rx", "ry", "rz"};
  labels.resize(rows());
  publish("error", terms_.task.e.data(), std::move(labels));
  publish("s", terms_.s.data(), model_->data().joint_names);
}

Backstepping::Terms Backstepping::blank_terms() const {
  const VectorXd zero = VectorXd::Zero(n());
  return {FrameMotion(n()), TaskError(), zero, zero, zero, zero};
}

/// dq_r (eq. 30) and its exact derivative, with dq_r = J' y, A y = v, L v = b; false where A = J J' is singular.
bool Backstepping::reference_motion(const double* dq, Terms& o) const noexcept {
  const TaskError& task = o.task;
  const TaskJacobian &J = o.motion.J, &J_dot = o.motion.J_dot;
  Matrix6d A_inverse;
  if (!invert_gram(J, rows_, A_inverse)) return false;
  const Matrix6d half = J_dot.lazyProduct(J.transpose());  // of Adot = half + half'
  Matrix6d L_inverse = Matrix6d::Identity();
  L_inverse.bottomRightCorner<3, 3>() = task.L.bottomRightCorner<3, 3>().inverse();

  const Vector6d b = task.f + Lambda_ * task.e;
  const Vector6d b_dot = task.f_dot + Lambda_ * task.e_dot;
  const Vector6d v = L_inverse * b;
  const Vector6d v_dot = L_inverse * (b_dot - task.L_dot * v);
  const Vector6d y = A_inverse * v;
  const Vector6d y_dot = A_inverse * (v_dot - (half + half.transpose()) * y);
  o.dq_r = J.transpose().lazyProduct(y);
  o.ddq_r = J_dot.transpose().lazyProduct(y) + J.transpose().lazyProduct(y_dot);
  o.s = o.dq_r - Map<const VectorXd>(dq, n());
  return true;
}

Status Backstepping::evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& o) noexcept {
  o.motion.update(*model_, frame_, q, dq);
  for (TaskJacobian* J : {&o.motion.J, &o.motion.J_dot}) keep_rows(rows_, *J);
  if (!o.task.update(o.motion, desired, rows_) || !reference_motion(dq, o)) return Status::singular;

  adaptive_model_.torque(q, dq, o.dq_r.data(), o.ddq_r.data(), o.tau.data());  // Y_r pihat
  const Vector6d restoring = o.task.L.transpose() * (K_p_ * o.task.e);
  o.tau.noalias() += K_d_ * o.s;
  o.tau += o.motion.J.transpose().lazyProduct(restoring);  // eq. 33, with J' L' K_p e (errata D-1)
  return Status::ok;
}

Status Backstepping::law(double t, const double* q, const double* dq, const TaskReference& desired,
                         double* tau) noexcept {
  if (!adaptive_model_.advance(t)) return Status::diverged;
  const Status status = evaluate(q, dq, desired, terms_);
  if (status != Status::ok) return status;
  Map<VectorXd>(tau, n()) = terms_.tau;
  adaptive_model_.adapt(terms_.s.data());
  return Status::ok;
}

}  // namespace thunder
