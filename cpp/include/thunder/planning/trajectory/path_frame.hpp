// The frame of a reach: its first axis points from start to goal, its second is horizontal, its unit is their distance.
#pragma once

#include <Eigen/Dense>

namespace thunder {

/// x = origin + length R x_path. Rotation vectors are turned by R alone.
struct PathFrame {
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  double length = 1.0;
};

/// First axis along start -> goal, second up x first; where the path is vertical, the world's y axis instead, made
/// orthogonal. Start and goal in one place have length 0 and the axes of the world.
inline PathFrame path_frame(const Eigen::Vector3d& start, const Eigen::Vector3d& goal) noexcept {
  constexpr double kVertical = 1e-6;  // sine of the angle to the vertical below which there is no horizontal direction
  PathFrame frame;
  frame.origin = start;
  const Eigen::Vector3d chord = goal - start;
  frame.length = chord.norm();
  if (!(frame.length > 0.0)) return frame;
  const Eigen::Vector3d along = chord / frame.length;
  Eigen::Vector3d side(-along.y(), along.x(), 0.0);
  if (side.norm() < kVertical) side = Eigen::Vector3d::UnitY() - along.y() * along;
  side.normalize();
  frame.R << along, side, along.cross(side);
  return frame;
}

}  // namespace thunder
