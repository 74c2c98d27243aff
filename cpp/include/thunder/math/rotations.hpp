// SO(3) in Eigen's types: rotations by their vectors, R = exp(phi), and how these change with time; world axes.
#pragma once

#include <Eigen/Dense>

#include "linear.hpp"

namespace thunder {

inline Eigen::Vector3d to_eigen(const Vec3<double>& v) noexcept { return {v.x, v.y, v.z}; }
Eigen::Matrix3d to_eigen(const Mat3<double>& R) noexcept;

/// [v] of v x p = [v] p.
Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& v) noexcept;

/// exp(phi): turns by |phi| about phi.
Eigen::Matrix3d rotation_exp(const Eigen::Vector3d& phi) noexcept;
Eigen::Quaterniond quaternion_exp(const Eigen::Vector3d& phi) noexcept;
/// phi of R = exp(phi), at most half a turn long.
Eigen::Vector3d rotation_log(const Eigen::Matrix3d& R) noexcept;
Eigen::Vector3d quaternion_log(const Eigen::Quaterniond& q) noexcept;
/// The quaternion of R with w >= 0; its vector part has length sin(theta / 2).
Eigen::Quaterniond shorter_quaternion(const Eigen::Matrix3d& R) noexcept;

/// J of w = J dphi/dt, the angular velocity in the axes that phi is expressed in (the left Jacobian).
Eigen::Matrix3d rotation_jacobian(const Eigen::Vector3d& phi) noexcept;
/// dJ/dt dphi/dt: dw/dt = J d2phi/dt2 + this.
Eigen::Vector3d rotation_bias(const Eigen::Vector3d& phi, const Eigen::Vector3d& rate) noexcept;

}  // namespace thunder
