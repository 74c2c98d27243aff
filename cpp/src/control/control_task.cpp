#include "thunder/control/control_task.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

ControlTask::ControlTask(int n, const Frame<double>& controlled, TaskRows rows)
    : TaskMotion(n, controlled, rows), error_rows(Eigen::VectorXd::Zero(rows.count())) {}

bool ControlTask::update(const Evaluator& dynamics, const double* q, const double* dq,
                         const TaskReference& desired) noexcept {
  const bool regular = TaskMotion::update(dynamics, q, dq, desired);
  TaskVector e;
  gather(rows(), error.e, e);
  error_rows = e;
  // the orientation error's Jacobian has its own condition, which is not a singularity of the arm
  return regular && invert_gram(J, rows(), gram_inverse, kLargestCondition * error.orientation.condition);
}

void NullSpace::torque(const double* q, const double* dq, Eigen::VectorXd& tau) const noexcept {
  tau.setZero();
  add_product(K_d, dq, tau.data(), -1.0);
  if (posture.size() == 0) return;
  add_product(K_posture, posture.data(), tau.data());
  add_product(K_posture, q, tau.data(), -1.0);
}

}  // namespace thunder
