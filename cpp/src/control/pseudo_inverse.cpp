#include "thunder/control/pseudo_inverse.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

Matrix6d spread_rows(TaskRows rows, const Eigen::MatrixXd& gain) {
  Matrix6d result = Matrix6d::Zero();
  for (int r = 0, i = 0; r < 6; ++r) {
    if (!rows.has(r)) continue;
    for (int c = 0, j = 0; c < 6; ++c)
      if (rows.has(c)) result(r, c) = gain(i, j++);
    ++i;
  }
  return result;
}

bool invert_task_matrix(Matrix6d A, TaskRows rows, Matrix6d& A_inverse) noexcept {
  for (int r = 0; r < 6; ++r)
    if (!rows.has(r)) A(r, r) = 1.0;  // identity: the rest of the inverse does not change
  const bool positive = factor_positive_definite(6, A.data());
  A_inverse.setIdentity();
  for (int r = 0; r < 6; ++r) {
    if (rows.has(r))
      solve_positive_definite(6, A.data(), A_inverse.col(r).data());
    else
      A_inverse(r, r) = 0.0;
  }
  return positive;
}

bool invert_gram(const Jacobian& J, TaskRows rows, Matrix6d& A_inverse, double largest_condition) noexcept {
  const Matrix6d A = J.lazyProduct(J.transpose());
  return invert_task_matrix(A, rows, A_inverse) &&
         A.trace() * A_inverse.trace() < largest_condition * largest_condition;
}

void least_norm_motion(const Jacobian& J, const Jacobian& J_dot, const Matrix6d& A_inverse, const Vector6d& v,
                       const Vector6d& v_dot, Eigen::VectorXd& u, Eigen::VectorXd& u_dot) noexcept {
  const Vector6d y = A_inverse * v;
  u = J.transpose().lazyProduct(y);
  // A_dot y with A_dot = J_dot J' + J J_dot'
  u_dot = J_dot.transpose().lazyProduct(y);
  const Vector6d A_dot_y = J_dot.lazyProduct(u) + J.lazyProduct(u_dot);
  const Vector6d y_dot = A_inverse * (v_dot - A_dot_y);
  u_dot += J.transpose().lazyProduct(y_dot);
}

void add_transposed(const Jacobian& J, const Vector6d& force, double* tau) noexcept {
  Eigen::Map<Eigen::VectorXd>(tau, J.cols()) += J.transpose().lazyProduct(force);
}

}  // namespace thunder
