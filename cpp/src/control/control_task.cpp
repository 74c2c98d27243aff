#include "thunder/control/control_task.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

ControlTask::ControlTask(int n, const Frame<double>& controlled, TaskRows rows, OrientationKind kind)
    : TaskMotion(n, controlled, rows, kind), error_rows(Eigen::VectorXd::Zero(rows.count())) {}

bool ControlTask::update(const Evaluator& dynamics, const double* q, const double* dq, const TaskReference& desired,
                         bool held) noexcept {
  const bool regular = TaskMotion::update(dynamics, q, dq, desired);
  TaskVector e;
  gather(rows(), error.e, e);
  error_rows = e;
  // the orientation error's Jacobian has its own condition, which is not a singularity of the arm
  return regular && invert_gram(J, rows(), gram_inverse, largest_condition(held) * error.orientation.condition);
}

/// a += gain (posture - q)
void NullSpace::attract(const double* q, Eigen::VectorXd& a) const noexcept {
  add_product(gain, posture.data(), a.data());
  add_product(gain, q, a.data(), -1.0);
}

void NullSpace::torque(const double* q, const double* dq, Eigen::VectorXd& tau) const noexcept {
  tau.setZero();
  add_product(K_d, dq, tau.data(), -1.0);
  if (posture.size() > 0) attract(q, tau);
}

void NullSpace::motion(const double* q, const double* dq, const Jacobian& J, const Jacobian& J_dot,
                       const Matrix6d& gram_inverse, Vector6d v, Vector6d v_dot, Eigen::VectorXd& u,
                       Eigen::VectorXd& u_dot) const noexcept {
  if (posture.size() > 0) {
    u.setZero();
    u_dot.setZero();
    attract(q, u);
    add_product(gain, dq, u_dot.data(), -1.0);
    v -= J.lazyProduct(u);
    v_dot -= J_dot.lazyProduct(u) + J.lazyProduct(u_dot);
  }
  least_norm_motion(J, J_dot, gram_inverse, v, v_dot, u, u_dot);
  if (posture.size() == 0) return;
  attract(q, u);
  add_product(gain, dq, u_dot.data(), -1.0);
}

}  // namespace thunder
