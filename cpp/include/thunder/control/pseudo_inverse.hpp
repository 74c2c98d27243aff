// The inverse behind a right pseudo-inverse J^+ = J' (J J')^-1 of chosen task rows, and quantities derived from it.
#pragma once

#include "../math/matrices.hpp"
#include "../model/chain.hpp"

namespace thunder {

/// J counts as singular past this condition number, in the Frobenius norm: |J| |J^+|.
constexpr double kLargestCondition = 200.0;
/// The law takes a held arm over below this one.
constexpr double kReleaseCondition = 180.0;
constexpr double largest_condition(bool held) { return held ? kReleaseCondition : kLargestCondition; }

/// The gain of a task (m x m for its m rows) among all six rows, zero in the others.
Matrix6d spread_rows(TaskRows rows, const Eigen::MatrixXd& gain);

/// A^-1 in the rows and columns of the task, zero in the others, where A must be zero; false where a pivot is not
/// positive.
bool invert_task_matrix(Matrix6d A, TaskRows rows, Matrix6d& A_inverse) noexcept;

/// (J J')^-1 in the rows of the task; false where |J| |J^+| exceeds `largest_condition` or is NaN.
bool invert_gram(const Jacobian& J, TaskRows rows, Matrix6d& A_inverse,
                 double largest_condition = kLargestCondition) noexcept;

/// u = J^+ v and its exact derivative, from A = J J': u = J' y, A y = v.
void least_norm_motion(const Jacobian& J, const Jacobian& J_dot, const Matrix6d& A_inverse, const Vector6d& v,
                       const Vector6d& v_dot, Eigen::VectorXd& u, Eigen::VectorXd& u_dot) noexcept;

/// tau += J' force
void add_transposed(const Jacobian& J, const Vector6d& force, double* tau) noexcept;

}  // namespace thunder
