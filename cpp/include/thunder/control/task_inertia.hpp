// Inertia that a task feels, and torques that leave the task alone (Khatib, 1987).
#pragma once

#include "../kernels/evaluator.hpp"
#include "../math/cholesky.hpp"
#include "pseudo_inverse.hpp"

namespace thunder {

/// Lambda = (J M^-1 J')^-1 and the projector P = I - J' Lambda J M^-1 of torques: J M^-1 P = 0 (errata D-25).
class TaskInertia {
 public:
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  TaskJacobian J_over_M;  // J M^-1
  Matrix6d Lambda = Matrix6d::Zero();

  explicit TaskInertia(int n) : J_over_M(TaskJacobian::Zero(6, n)), factors_(Square::Zero(n, n)) {}

  /// False where the mass matrix is not positive definite or J without full rank.
  bool update(const Evaluator& dynamics, const double* q, const TaskJacobian& J, TaskRows rows) noexcept {
    dynamics.mass_matrix(q, factors_.data());
    return factor(J, rows);
  }

  /// As `update`, with the mass matrix at hand.
  bool update(const Square& M, const TaskJacobian& J, TaskRows rows) noexcept {
    factors_ = M;
    return factor(J, rows);
  }

  /// tau := P tau
  void project(const TaskJacobian& J, Eigen::VectorXd& tau) const noexcept {
    const Vector6d acceleration = J_over_M.lazyProduct(tau);
    const Vector6d force = Lambda * acceleration;
    tau -= J.transpose().lazyProduct(force);
  }

 private:
  using Vector6d = Eigen::Matrix<double, 6, 1>;

  bool factor(const TaskJacobian& J, TaskRows rows) noexcept {
    const int n = static_cast<int>(factors_.rows());
    cholesky(n, factors_.data());
    J_over_M = J;
    for (int r = 0; r < 6; ++r)
      if (rows.mask >> r & 1) cholesky_solve(n, factors_.data(), J_over_M.row(r).data());
    const Matrix6d mobility = J_over_M.lazyProduct(J.transpose());
    return (factors_.diagonal().array() > 0.0).all() && invert_task_matrix(mobility, rows, Lambda);
  }

  Square factors_;
};

}  // namespace thunder
