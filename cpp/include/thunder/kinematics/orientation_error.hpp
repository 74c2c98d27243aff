// Errors of orientation: what they are, how their rate depends on the angular velocity, and what the reference asks of it.
#pragma once

#include <Eigen/Dense>

namespace thunder {

/// Rt = R_d R' turns by theta about r.
enum class OrientationKind : int {
  axis_angle,        // r sin(theta) with its own Jacobian L J_w (Thunder article, Appendix E; D4.2, eq. 121 to 124)
  axis_angle_plain,  // r sin(theta) with the geometric Jacobian: no L^-1; below 180 degrees
  rotation_vector,   // r theta, geometric Jacobian; below 180 degrees
  quaternion,        // r sin(theta / 2), geometric Jacobian; everywhere
  zyz,               // differences of ZYZ Euler angles, analytical Jacobian; not where the second angle is 0 or 180
  zyx,               // the same of ZYX angles; not where the second angle is -90 or 90
};

/// Orientation and its motion, of the reference or of the arm.
struct OrientationMotion {
  Eigen::Matrix3d R;
  Eigen::Vector3d w, w_dot;  // w_dot is used in the reference only
};

/// The error e; e' = f - L w for the kinds with a Jacobian of their own. The others have L = 1 and f = w_d, with which
/// e'(f - L w) is the rate of a potential: 1 - cos(theta) of axis_angle_plain, theta^2 / 2 of rotation_vector and
/// 2 (1 - cos(theta / 2)) of quaternion. Laws with a stiffness are passive with it, if it is one number.
struct OrientationError {
  /// L of axis_angle has the determinant cos(theta) (1 + cos(theta)) / 2: no inverse at 90 degrees, and past it laws would
  /// let the error settle at half a turn (errata T-11). Below this cosine (88.9 degrees) the error counts as singular.
  static constexpr double kSmallestCosine = 0.02;
  /// Of axis_angle_plain beyond 90 degrees: at half a turn the error is zero, and a law would stand still.
  static constexpr double kSmallestPlain = 1e-6;
  /// Bound on the sine of the second angle for zyz, on its cosine for zyx.
  static constexpr double kSmallestSine = 0.02;

  Eigen::Vector3d e = Eigen::Vector3d::Zero();
  Eigen::Matrix3d L = Eigen::Matrix3d::Identity(), L_dot = Eigen::Matrix3d::Zero();
  Eigen::Vector3d f = Eigen::Vector3d::Zero(), f_dot = Eigen::Vector3d::Zero();
  Eigen::Vector3d e_dot = Eigen::Vector3d::Zero();  // the derivative of e, of all kinds
  bool regular = true;     // where it is not, the error of Euler angles is zero
  double condition = 1.0;  // of L, about: no singularity of the arm

  OrientationError() = default;
  OrientationError(OrientationKind kind, const OrientationMotion& desired, const OrientationMotion& actual) noexcept;
};

}  // namespace thunder
