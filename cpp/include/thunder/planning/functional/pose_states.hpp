// Poses and twists at the ends of a motion as states of position and rotation vector.
#pragma once

#include "functional_planner.hpp"

namespace thunder {

/// Position, rotation, and twist with its derivative, linear part first; world axes.
struct PoseState {
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Vector6d xi = Vector6d::Zero(), xi_dot = xi;
};

/// Largest planned rotation: half a turn has two rotation vectors and is ambiguous.
constexpr double kMostTurn = kPi - 1e-3;

/// Coordinates with the rotation vector about R_ref; does not check rotations beyond `kMostTurn`.
BoundaryState coordinates(const PoseState& pose, const Eigen::Matrix3d& R_ref) noexcept;

}  // namespace thunder
