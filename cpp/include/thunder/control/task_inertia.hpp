// Operational-space inertia of a task, and torques without effect on the task (Khatib, 1987).
#pragma once

#include "../kernels/evaluator.hpp"
#include "pseudo_inverse.hpp"

namespace thunder {

/// Lambda = (J M^-1 J')^-1 and the projector P = I - J' Lambda J M^-1 of torques: J M^-1 P = 0 (errata D-25).
class TaskInertia {
 public:
  Jacobian J_over_M;  // J M^-1
  Matrix6d Lambda = Matrix6d::Zero();

  explicit TaskInertia(int n) : J_over_M(Jacobian::Zero(6, n)), factors_(RowMajor::Zero(n, n)) {}

  /// False where the mass matrix is not positive definite or J without full rank.
  bool update(const Evaluator& dynamics, const double* q, const Jacobian& J, TaskRows rows) noexcept;
  /// As `update`, for a given mass matrix.
  bool update(const RowMajor& M, const Jacobian& J, TaskRows rows) noexcept;

  /// tau := P tau
  void project(const Jacobian& J, Eigen::VectorXd& tau) const noexcept;

 private:
  bool factor(const Jacobian& J, TaskRows rows) noexcept;

  RowMajor factors_;
};

}  // namespace thunder
