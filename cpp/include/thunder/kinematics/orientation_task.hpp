// Orientation errors as kinematic control uses them: the error, how its rate depends on the angular velocity, and what
// the reference asks of that rate.
#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "../control/task_error.hpp"

namespace thunder {

/// Rt = R_d R' turns by theta about r.
enum class OrientationKind : int {
  axis_angle,        // r sin(theta) with its own Jacobian L J_w (D4.2, eq. 121 to 124); below 90 degrees
  axis_angle_plain,  // r sin(theta) with the geometric Jacobian: no L^-1; below 180 degrees
  rotation_vector,   // r theta, geometric Jacobian; below 180 degrees
  quaternion,        // r sin(theta / 2), geometric Jacobian; everywhere
  zyz,               // differences of ZYZ Euler angles, analytical Jacobian; not where the second angle is 0 or 180
};

/// The rate asked for is b, the rate that there is A w; e' = b - A w for the kinds with a Jacobian of their own.
struct OrientationTask {
  Eigen::Vector3d e = Eigen::Vector3d::Zero();
  Eigen::Matrix3d A = Eigen::Matrix3d::Identity(), A_dot = Eigen::Matrix3d::Zero();
  Eigen::Vector3d b = Eigen::Vector3d::Zero(), b_dot = Eigen::Vector3d::Zero();
  bool regular = true;
  double condition = 1.0;  // of A, about: no singularity of the arm
};

/// Vector part r sin(theta / 2) of the shorter of both quaternions, and cos(theta / 2).
struct HalfTurn {
  Eigen::Vector3d vector;
  double cosine;

  explicit HalfTurn(const Eigen::Matrix3d& Rt) {
    const Eigen::Quaterniond Q(Rt);
    const double sign = Q.w() < 0.0 ? -1.0 : 1.0;
    vector = sign * Q.vec();
    cosine = sign * Q.w();
  }
  Eigen::Vector3d rotation_vector() const {
    const double sine = vector.norm();
    const double ratio = sine > 1e-9 ? 2.0 * std::atan2(sine, cosine) / sine : 2.0;
    return ratio * vector;
  }
};

/// ZYZ Euler angles of a rotation, the branch with sin(theta) >= 0.
struct ZyzAngles {
  double phi, theta, psi;

  explicit ZyzAngles(const Eigen::Matrix3d& R)
      : phi(std::atan2(R(1, 2), R(0, 2))),
        theta(std::atan2(std::hypot(R(0, 2), R(1, 2)), R(2, 2))),
        psi(std::atan2(R(2, 1), -R(2, 0))) {}

  /// w = T (phi', theta', psi')
  Eigen::Matrix3d T() const {
    const double cp = std::cos(phi), sp = std::sin(phi), ct = std::cos(theta), st = std::sin(theta);
    Eigen::Matrix3d result;
    result << 0.0, -sp, cp * st, 0.0, cp, sp * st, 1.0, 0.0, ct;
    return result;
  }
  Eigen::Matrix3d T_dot(const Eigen::Vector3d& rates) const {
    const double cp = std::cos(phi), sp = std::sin(phi), ct = std::cos(theta), st = std::sin(theta);
    const double dp = rates[0], dt = rates[1];
    Eigen::Matrix3d result;
    result << 0.0, -cp * dp, -sp * dp * st + cp * ct * dt, 0.0, -sp * dp, cp * dp * st + sp * ct * dt, 0.0, 0.0,
        -st * dt;
    return result;
  }
};

/// Orientation and its motion, of the reference or of the arm.
struct OrientationMotion {
  Eigen::Matrix3d R;
  Eigen::Vector3d w, w_dot;  // w_dot is looked at in the reference only
};

inline OrientationTask axis_angle_task(const OrientationMotion& desired, const OrientationMotion& actual) {
  const OrientationError error(desired.R, actual.R);
  OrientationTask task;
  task.e = error.e();
  task.A = error.L();
  task.A_dot = error.L_dot(desired.w, actual.w);
  task.b = task.A.transpose() * desired.w;
  task.b_dot = task.A_dot.transpose() * desired.w + task.A.transpose() * desired.w_dot;
  task.regular = error.cosine() >= TaskError::kSmallestCosine;
  task.condition = 1.0 / error.cosine();
  return task;
}

inline OrientationTask zyz_task(const OrientationMotion& desired, const OrientationMotion& actual) {
  constexpr double kSmallestSine = 0.02;
  constexpr double kTurn = 6.283185307179586;
  const ZyzAngles angles_d(desired.R), angles(actual.R);
  OrientationTask task;
  task.regular = std::sin(angles_d.theta) >= kSmallestSine && std::sin(angles.theta) >= kSmallestSine;
  if (!task.regular) return task;
  task.e << std::remainder(angles_d.phi - angles.phi, kTurn), angles_d.theta - angles.theta,
      std::remainder(angles_d.psi - angles.psi, kTurn);
  const Eigen::Matrix3d T_d_inverse = angles_d.T().inverse();
  task.condition = 1.0 / std::sin(angles.theta);
  task.A = angles.T().inverse();
  task.A_dot = -task.A * angles.T_dot(task.A * actual.w) * task.A;
  task.b = T_d_inverse * desired.w;
  task.b_dot = T_d_inverse * (desired.w_dot - angles_d.T_dot(task.b) * task.b);
  return task;
}

inline OrientationTask orientation_task(OrientationKind kind, const OrientationMotion& desired,
                                        const OrientationMotion& actual) {
  if (kind == OrientationKind::axis_angle) return axis_angle_task(desired, actual);
  if (kind == OrientationKind::zyz) return zyz_task(desired, actual);
  OrientationTask task;
  const OrientationError error(desired.R, actual.R);
  const HalfTurn half(error.Rt);
  if (kind == OrientationKind::axis_angle_plain) task.e = error.e();
  if (kind == OrientationKind::rotation_vector) task.e = half.rotation_vector();
  if (kind == OrientationKind::quaternion) task.e = half.vector;
  task.b = desired.w;
  task.b_dot = desired.w_dot;
  return task;
}

}  // namespace thunder
