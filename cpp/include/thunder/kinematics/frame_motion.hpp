// Where a frame of the arm is and how it moves.
#pragma once

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"

namespace thunder {

/// Pose, Jacobian, its derivative and the twist of a frame; world axes, linear rows first.
struct FrameMotion {
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Jacobian J, J_dot;
  Vector6d xi = Vector6d::Zero();    // J dq
  Vector6d bias = Vector6d::Zero();  // J_dot dq

  explicit FrameMotion(int n) : J(Jacobian::Zero(6, n)), J_dot(Jacobian::Zero(6, n)) {}

  void update(const Evaluator& dynamics, const Frame<double>& frame, const double* q, const double* dq) noexcept;
};

}  // namespace thunder
