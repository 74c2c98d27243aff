// The Eigen types that more than one file uses, by one name each.
#pragma once

#include <Eigen/Dense>

#include "limits.hpp"

namespace thunder {

inline constexpr double kPi = 3.14159265358979323846;

/// NumPy's order.
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;
/// Jacobian of a frame or of a task; linear rows first, and rows that are not in a task zero.
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

// of bounded size, on the stack: m <= 6 rows of a task, n <= kMaxJoints
using TaskVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
using TaskMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, 6>;
using CompactJacobian = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, kMaxJoints>;
using JointVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxJoints, 1>;

}  // namespace thunder
