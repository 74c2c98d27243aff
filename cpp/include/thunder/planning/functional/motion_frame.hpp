// Transformation between real motions and motions of a model.
#pragma once

#include "functional_planner.hpp"
#include "../trajectory/path_frame.hpp"

namespace thunder {

/// Coordinates of the model: those of the world, or of the path where the model is aligned with it.
///
/// The unit of an aligned position is the distance D from start to goal, but not below `kLeastScale`, so that where
/// start and goal come together velocities remain finite; the mean then shrinks with D to nothing, and with it the motion.
struct MotionFrame {
  static constexpr double kLeastScale = 1e-3;  // [m]

  MotionFrame(const FunctionalModel& model, const DofVector& start, const DofVector& goal) noexcept;

  /// A position, or a derivative of one, in coordinates of the model.
  void to_model(const DofVector& x, bool derivative, double* out) const noexcept;
  /// A control point of the model in the world.
  void to_world(double* point) const noexcept;
  /// Unit vectors of the model in the world, without the origin.
  Eigen::MatrixXd axes() const;
  double mean_scale(int dof) const noexcept { return aligned && dof < 3 ? ratio : 1.0; }

  bool aligned;
  int dimension;
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  double scale = 1.0;  // unit of position
  double ratio = 1.0;  // D / scale
};

}  // namespace thunder
