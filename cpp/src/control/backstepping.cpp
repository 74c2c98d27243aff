#include "thunder/control/backstepping.hpp"

#include "thunder/kinematics/task_motion.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

Backstepping::Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, OrientationKind kind,
                           Gains gains)
    : AdaptiveController(std::move(adaptive_model), gains.null_space.K_d),
      frame_(frame),
      rows_{(1 << static_cast<int>(task)) - 1},
      kind_(kind),
      null_space_(std::move(gains.null_space)),
      Lambda_(spread_rows(rows_, gains.Lambda)),
      K_p_(spread_rows(rows_, gains.K_p)),
      terms_(blank_terms()) {
  publish("error", terms_.task.e.data(), row_names(rows_));
  publish("s", terms_.s.data(), joint_names());
}

Backstepping::Terms Backstepping::blank_terms() const {
  const VectorXd zero = VectorXd::Zero(n());
  return {FrameMotion(n()), TaskError(), zero, zero, zero, zero};
}

/// dq_r = J^+ v (eq. 30) with L v = b, the attraction to a posture in the null space of J, and the exact derivative;
/// false where J J' is singular.
bool Backstepping::reference_motion(const double* q, const double* dq, Terms& o) const noexcept {
  const TaskError& task = o.task;
  Matrix6d A_inverse;
  if (!invert_gram(o.motion.J, rows_, A_inverse, largest_condition(holding()))) return false;
  const Eigen::Matrix3d L_inverse = task.orientation.L.inverse();
  Vector6d v = task.f + Lambda_ * task.e, v_dot = task.f_dot + Lambda_ * task.e_dot;  // b and its derivative
  v.tail<3>() = L_inverse * v.tail<3>().eval();
  v_dot.tail<3>() = L_inverse * (v_dot.tail<3>() - task.orientation.L_dot * v.tail<3>()).eval();
  null_space_.motion(q, dq, o.motion.J, o.motion.J_dot, A_inverse, v, v_dot, o.dq_r, o.ddq_r);
  o.s = o.dq_r - Map<const VectorXd>(dq, n());
  return true;
}

Status Backstepping::evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& o) noexcept {
  o.motion.update(dynamics_, frame_, q, dq);
  for (Jacobian* J : {&o.motion.J, &o.motion.J_dot}) keep_rows(rows_, *J);
  if (!o.task.update(o.motion, desired, rows_, kind_) || !reference_motion(q, dq, o)) return Status::singular;

  adaptive_model_.torque(q, dq, o.dq_r.data(), o.ddq_r.data(), o.tau.data());  // Y_r pihat
  Vector6d restoring = K_p_ * o.task.e;
  restoring.tail<3>() = o.task.orientation.L.transpose() * restoring.tail<3>().eval();
  add_product(K_d_, o.s.data(), o.tau.data());
  add_transposed(o.motion.J, restoring, o.tau.data());  // eq. 33, with J' L' K_p e (errata D-1)
  return Status::ok;
}

Status Backstepping::law(double t, const double* q, const double* dq, const TaskReference& desired,
                         double* tau) noexcept {
  const bool usable = adaptive_model_.advance(t);
  const Status status = evaluate(q, dq, desired, terms_);  // the error is still logged
  if (!usable) return Status::diverged;
  if (status != Status::ok) return status;
  Map<VectorXd>(tau, n()) = terms_.tau;
  adaptive_model_.adapt(terms_.s.data());
  return Status::ok;
}

}  // namespace thunder
