#include "thunder/planning/trajectory/pose_states.hpp"

#include "thunder/math/rotation_vector.hpp"

namespace thunder {

Eigen::Vector3d rotation_vector(const Eigen::Matrix3d& R, const Eigen::Matrix3d& R_ref) noexcept {
  const Eigen::Matrix3d turn = R * R_ref.transpose();
  Eigen::Quaterniond q(turn);
  q.normalize();
  if (q.w() < 0.0) q.coeffs() = -q.coeffs();
  const double sine = q.vec().norm();
  const double factor = sine > 0.0 ? 2.0 * std::atan2(sine, q.w()) / sine : 2.0;
  return factor * q.vec();
}

BoundaryState coordinates(const PoseState& pose, const Eigen::Matrix3d& R_ref) noexcept {
  BoundaryState state(6);
  const Eigen::Vector3d phi = rotation_vector(pose.R, R_ref);
  const Eigen::Matrix3d J_inverse = rotation_jacobian(phi).inverse();  // 3 x 3, regular below a whole turn
  const Eigen::Vector3d rate = J_inverse * pose.xi.tail<3>();
  state.x << pose.p, phi;
  state.v << pose.xi.head<3>(), rate;
  state.a << pose.xi_dot.head<3>(), J_inverse * (pose.xi_dot.tail<3>() - rotation_bias(phi, rate));
  return state;
}

}  // namespace thunder
