#include "thunder/control/backstepping.hpp"

#include "thunder/kinematics/task_motion.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

BacksteppingFeedback::BacksteppingFeedback(Task task, Gains gains)
    : rows_{(1 << static_cast<int>(task)) - 1},
      null_space_(std::move(gains.null_space)),
      Lambda_(spread_rows(rows_, gains.Lambda)),
      K_p_(spread_rows(rows_, gains.K_p)) {}

bool BacksteppingFeedback::motion(const double* q, const double* dq, const TaskError& task, const Jacobian& J,
                                  const Jacobian& J_dot, bool held, VectorXd& dq_r, VectorXd& ddq_r) const noexcept {
  Matrix6d A_inverse;
  if (!invert_gram(J, rows_, A_inverse, largest_condition(held))) return false;
  const Eigen::Matrix3d L_inverse = task.orientation.L.inverse();
  Vector6d v = task.f + Lambda_ * task.e, v_dot = task.f_dot + Lambda_ * task.e_dot;  // L v and its derivative
  v.tail<3>() = L_inverse * v.tail<3>().eval();
  v_dot.tail<3>() = L_inverse * (v_dot.tail<3>() - task.orientation.L_dot * v.tail<3>()).eval();
  null_space_.motion(q, dq, J, J_dot, A_inverse, v, v_dot, dq_r, ddq_r);
  return true;
}

void BacksteppingFeedback::add_torque(const TaskError& task, const Jacobian& J, const VectorXd& s,
                                      VectorXd& tau) const noexcept {
  Vector6d force = restoring(task);
  force.tail<3>() = task.orientation.L.transpose() * force.tail<3>().eval();
  add_product(K_d(), s.data(), tau.data());
  add_transposed(J, force, tau.data());
}

Backstepping::Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, OrientationKind kind,
                           Gains gains)
    : AdaptiveController(std::move(adaptive_model), gains.null_space.K_d),
      frame_(frame),
      kind_(kind),
      feedback_(task, std::move(gains)),
      terms_(blank_terms()) {
  publish("error", terms_.task.e.data(), row_names(feedback_.rows()));
  publish("s", terms_.s.data(), joint_names());
}

Backstepping::Terms Backstepping::blank_terms() const {
  const VectorXd zero = VectorXd::Zero(n());
  return {FrameMotion(n()), TaskError(), zero, zero, zero, zero};
}

Status Backstepping::evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& o) noexcept {
  o.motion.update(dynamics_, frame_, q, dq);
  for (Jacobian* J : {&o.motion.J, &o.motion.J_dot}) keep_rows(feedback_.rows(), *J);
  if (!o.task.update(o.motion, desired, feedback_.rows(), kind_) ||
      !feedback_.motion(q, dq, o.task, o.motion.J, o.motion.J_dot, holding(), o.dq_r, o.ddq_r))
    return Status::singular;
  o.s = o.dq_r - Map<const VectorXd>(dq, n());
  adaptive_model_.torque(q, dq, o.dq_r.data(), o.ddq_r.data(), o.tau.data());  // Y_r pihat
  feedback_.add_torque(o.task, o.motion.J, o.s, o.tau);
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
