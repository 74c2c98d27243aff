#include "thunder/planning/functional/pose_states.hpp"

#include "thunder/math/rotations.hpp"

namespace thunder {

BoundaryState coordinates(const PoseState& pose, const Eigen::Matrix3d& R_ref) noexcept {
  BoundaryState state(6);
  const Eigen::Vector3d phi = rotation_log(pose.R * R_ref.transpose());
  const Eigen::Matrix3d J_inverse = rotation_jacobian(phi).inverse();  // 3 x 3, regular below a whole turn
  const Eigen::Vector3d rate = J_inverse * pose.xi.tail<3>();
  state.x << pose.p, phi;
  state.v << pose.xi.head<3>(), rate;
  state.a << pose.xi_dot.head<3>(), J_inverse * (pose.xi_dot.tail<3>() - rotation_bias(phi, rate));
  return state;
}

}  // namespace thunder
