// Transformation between real motions and motions of a model.
#pragma once

#include "functional_planner.hpp"
#include "../trajectory/path_frame.hpp"

namespace thunder {

/// Coordinates of the model: those of the world, or of the path where the model is aligned with it.
///
/// The unit of an aligned position is the distance D from start to goal, but not below `kLeastScale`, so that where
/// start and goal come together velocities remain finite. Below `kLeastScale` the mean of any model shrinks with D to
/// nothing, so that a motion from rest to rest stands still where start and goal are the same.
struct MotionFrame {
  static constexpr double kLeastScale = 1e-3;  // [m or rad]

  MotionFrame(const FunctionalModel& model, const DofVector& start, const DofVector& goal) noexcept;

  /// A position, or a derivative of one, in coordinates of the model.
  void to_model(const DofVector& x, bool derivative, double* out) const noexcept;
  /// A control point of the model in the world.
  void to_world(double* point) const noexcept;
  /// A difference of two points.
  void turn_to_world(double* difference) const noexcept;
  /// Unit vectors of the model in the world, without the origin.
  Eigen::MatrixXd axes() const;
  double mean_scale(int dof) const noexcept { return aligned && dof < 3 ? ratio : other_ratio; }

  bool aligned;
  int dimension;
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  double scale = 1.0;  // unit of position
  double ratio = 1.0;  // D / scale
  double other_ratio;  // the same of all degrees of freedom
};

}  // namespace thunder
