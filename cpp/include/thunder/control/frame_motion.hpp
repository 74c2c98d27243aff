// Where a frame of the arm is and how it moves.
#pragma once

#include "../kernels/evaluator.hpp"
#include "reference.hpp"

namespace thunder {

inline Eigen::Matrix3d to_eigen(const Mat3<double>& R) {
  Eigen::Matrix3d result;
  result << R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz;
  return result;
}

/// Pose, Jacobian, its derivative and the twist of a frame; world axes, linear rows first.
struct FrameMotion {
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Jacobian J, J_dot;
  Vector6d xi = Vector6d::Zero();    // J dq
  Vector6d bias = Vector6d::Zero();  // J_dot dq

  explicit FrameMotion(int n) : J(Jacobian::Zero(6, n)), J_dot(Jacobian::Zero(6, n)) {}

  void update(const Evaluator& dynamics, const Frame<double>& frame, const double* q, const double* dq) noexcept {
    Pose<double> pose;
    dynamics.frame_kinematics(q, dq, frame, &pose, J.data(), J_dot.data());
    p = {pose.p.x, pose.p.y, pose.p.z};
    R = to_eigen(pose.R);
    const Eigen::Map<const Eigen::VectorXd> velocity(dq, J.cols());
    xi.noalias() = J.lazyProduct(velocity);
    bias.noalias() = J_dot.lazyProduct(velocity);
  }
};

}  // namespace thunder
