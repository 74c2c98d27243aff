// The inverse behind a right pseudo-inverse J^+ = J' (J J')^-1 of chosen task rows: checked, or damped.
#pragma once

#include <Eigen/Dense>

#include "../model/chain.hpp"

namespace thunder {

using Matrix6d = Eigen::Matrix<double, 6, 6>;
/// Rows that are not in the task are zero.
using TaskJacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

/// J counts as singular past this condition number, in the Frobenius norm: |J| |J^+|.
constexpr double kLargestCondition = 200.0;

/// Rows (of a vector: entries) that are not in the task become zero.
template <class Matrix>
void keep_rows(TaskRows rows, Matrix& A) noexcept {
  for (int r = 0; r < 6; ++r)
    if (!(rows.mask >> r & 1)) A.row(r).setZero();
}

/// The gain of a task (m x m for its m rows) among all six rows, zero in the others.
inline Matrix6d spread_rows(TaskRows rows, const Eigen::MatrixXd& gain) {
  Matrix6d result = Matrix6d::Zero();
  for (int r = 0, i = 0; r < 6; ++r) {
    if (!(rows.mask >> r & 1)) continue;
    for (int c = 0, j = 0; c < 6; ++c)
      if (rows.mask >> c & 1) result(r, c) = gain(i, j++);
    ++i;
  }
  return result;
}

/// A^-1 in the rows and columns of the task, zero in the others, where A must be zero; false where a pivot is not
/// positive.
inline bool invert_task_matrix(Matrix6d A, TaskRows rows, Matrix6d& A_inverse) noexcept {
  for (int r = 0; r < 6; ++r)
    if (!(rows.mask >> r & 1)) A(r, r) = 1.0;  // nothing asked, nothing given
  const Eigen::LLT<Matrix6d> factors(A);
  A_inverse = factors.solve(Matrix6d::Identity());
  for (int r = 0; r < 6; ++r)
    if (!(rows.mask >> r & 1)) A_inverse(r, r) = 0.0;
  return factors.info() == Eigen::Success;
}

/// (J J')^-1 in the rows of the task; false where |J| |J^+| passes `largest_condition` or is no number.
inline bool invert_gram(const TaskJacobian& J, TaskRows rows, Matrix6d& A_inverse,
                        double largest_condition = kLargestCondition) noexcept {
  const Matrix6d A = J.lazyProduct(J.transpose());
  return invert_task_matrix(A, rows, A_inverse) &&
         A.trace() * A_inverse.trace() < largest_condition * largest_condition;
}

/// u = J^+ v and its exact derivative, from A = J J': u = J' y, A y = v.
inline void least_norm_motion(const TaskJacobian& J, const TaskJacobian& J_dot, const Matrix6d& A_inverse,
                              const Eigen::Matrix<double, 6, 1>& v, const Eigen::Matrix<double, 6, 1>& v_dot,
                              Eigen::VectorXd& u, Eigen::VectorXd& u_dot) noexcept {
  const Matrix6d half = J_dot.lazyProduct(J.transpose());  // of Adot = half + half'
  const Eigen::Matrix<double, 6, 1> y = A_inverse * v;
  const Eigen::Matrix<double, 6, 1> y_dot = A_inverse * (v_dot - (half + half.transpose()) * y);
  u = J.transpose().lazyProduct(y);
  u_dot = J_dot.transpose().lazyProduct(y) + J.transpose().lazyProduct(y_dot);
}

}  // namespace thunder
