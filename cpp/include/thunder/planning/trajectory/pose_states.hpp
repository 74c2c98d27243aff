// Poses and twists at the ends of a motion as states of position and rotation vector.
#pragma once

#include "../functional/functional_planner.hpp"

namespace thunder {

/// Position, rotation, and twist with its derivative, linear part first; world axes.
struct PoseState {
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Eigen::Matrix<double, 6, 1> xi = Eigen::Matrix<double, 6, 1>::Zero(), xi_dot = xi;
};

/// Turns up to this are planned: half a turn has two vectors, and which one is meant cannot be told.
constexpr double kMostTurn = 3.14159265358979323846 - 1e-3;

/// Of the rotation from R_ref to R: R = exp(phi) R_ref.
Eigen::Vector3d rotation_vector(const Eigen::Matrix3d& R, const Eigen::Matrix3d& R_ref) noexcept;

/// Coordinates with the rotation vector about R_ref; a turn beyond `kMostTurn` is none of its business.
BoundaryState coordinates(const PoseState& pose, const Eigen::Matrix3d& R_ref) noexcept;

}  // namespace thunder
