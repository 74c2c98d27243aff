#include "thunder/control/task_inertia.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

bool TaskInertia::update(const Evaluator& dynamics, const double* q, const Jacobian& J, TaskRows rows) noexcept {
  dynamics.mass_matrix(q, factors_.data());
  return factor(J, rows);
}

bool TaskInertia::update(const RowMajor& M, const Jacobian& J, TaskRows rows) noexcept {
  factors_ = M;
  return factor(J, rows);
}

void TaskInertia::project(const Jacobian& J, Eigen::VectorXd& tau) const noexcept {
  const Vector6d acceleration = J_over_M.lazyProduct(tau);
  add_transposed(J, -(Lambda * acceleration), tau.data());
}

bool TaskInertia::factor(const Jacobian& J, TaskRows rows) noexcept {
  const int n = static_cast<int>(factors_.rows());
  const bool positive = factor_positive_definite(n, factors_.data());
  J_over_M = J;
  for (int r = 0; r < 6; ++r)
    if (rows.has(r)) solve_positive_definite(n, factors_.data(), J_over_M.row(r).data());
  const Matrix6d mobility = J_over_M.lazyProduct(J.transpose());
  return positive && invert_task_matrix(mobility, rows, Lambda);
}

}  // namespace thunder
