#include "thunder/kinematics/orientation_error.hpp"

#include <cmath>

#include "thunder/math/matrices.hpp"
#include "thunder/math/rotations.hpp"

namespace thunder {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// r sin(theta), the vector of (Rt - Rt') / 2.
Vector3d axis_angle_error(const Matrix3d& Rt) noexcept {
  return 0.5 * Vector3d(Rt(2, 1) - Rt(1, 2), Rt(0, 2) - Rt(2, 0), Rt(1, 0) - Rt(0, 1));
}

Matrix3d half_trace_minus_transpose(const Matrix3d& A) noexcept {
  return 0.5 * (A.trace() * Matrix3d::Identity() - A.transpose());
}

/// The kinds with the geometric Jacobian. Rt' = [w] Rt with w = w_d - Rt w_actual.
void geometric(OrientationKind kind, const Matrix3d& Rt, const OrientationMotion& desired, const OrientationMotion& actual,
               OrientationError& error) noexcept {
  const Vector3d w = desired.w - Rt * actual.w;
  if (kind == OrientationKind::axis_angle_plain) {
    error.e = axis_angle_error(Rt);
    error.e_dot = half_trace_minus_transpose(Rt).transpose() * w;
    error.regular = Rt.trace() > 1.0 || error.e.norm() > OrientationError::kSmallestPlain;
  } else if (kind == OrientationKind::rotation_vector) {
    error.e = rotation_log(Rt);
    error.e_dot = rotation_jacobian(error.e).inverse() * w;
  } else {
    const Eigen::Quaterniond q = shorter_quaternion(Rt);
    error.e = q.vec();
    error.e_dot = 0.5 * (q.w() * w + w.cross(error.e));
  }
  error.f = desired.w;
  error.f_dot = desired.w_dot;
}

/// e' = L' w_d - L w with L = (tr(Rt) 1 - Rt') / 2 (errata section 0 and T-11).
void axis_angle(const Matrix3d& Rt, const OrientationMotion& desired, const OrientationMotion& actual,
                OrientationError& error) noexcept {
  const double cosine = 0.5 * (Rt.trace() - 1.0);
  error.e = axis_angle_error(Rt);
  error.L = half_trace_minus_transpose(Rt);
  error.L_dot = half_trace_minus_transpose(cross_matrix(desired.w) * Rt - Rt * cross_matrix(actual.w));
  error.f = error.L.transpose() * desired.w;
  error.f_dot = error.L_dot.transpose() * desired.w + error.L.transpose() * desired.w_dot;
  error.e_dot = error.f - error.L * actual.w;
  error.regular = cosine >= OrientationError::kSmallestCosine;
  error.condition = 1.0 / cosine;
}

/// ZYZ or ZYX Euler angles of a rotation, the branch with sin(theta) >= 0 or cos(theta) >= 0. With the third axis
/// (side cos(phi), side sin(phi), up) in fixed axes both sequences have the same equations.
struct EulerAngles {
  double phi, theta, psi, side, up;

  EulerAngles(OrientationKind kind, const Matrix3d& R) noexcept {
    const bool zyz = kind == OrientationKind::zyz;
    const int axis = zyz ? 2 : 0;
    phi = std::atan2(R(1, axis), R(0, axis));
    side = std::hypot(R(0, axis), R(1, axis));
    up = R(2, axis);
    theta = zyz ? std::atan2(side, up) : std::atan2(-up, side);
    psi = zyz ? std::atan2(R(2, 1), -R(2, 0)) : std::atan2(R(2, 1), R(2, 2));
  }

  bool regular() const noexcept { return side >= OrientationError::kSmallestSine; }
  /// T^-1 of w = T (phi', theta', psi').
  Matrix3d T_inverse() const noexcept {
    const double cp = std::cos(phi), sp = std::sin(phi);
    Matrix3d result;
    result << -cp * up / side, -sp * up / side, 1.0, -sp, cp, 0.0, cp / side, sp / side, 0.0;
    return result;
  }
  Matrix3d T_dot(const Vector3d& rates) const noexcept {
    const double cp = std::cos(phi), sp = std::sin(phi), dp = rates[0];
    const double side_dot = up * rates[1], up_dot = -side * rates[1];
    Matrix3d result;
    result << 0.0, -cp * dp, -sp * dp * side + cp * side_dot, 0.0, -sp * dp, cp * dp * side + sp * side_dot, 0.0, 0.0,
        up_dot;
    return result;
  }
};

void euler(OrientationKind kind, const OrientationMotion& desired, const OrientationMotion& actual,
           OrientationError& error) noexcept {
  const EulerAngles angles_d(kind, desired.R), angles(kind, actual.R);
  error.regular = angles.regular() && angles_d.regular();
  if (!error.regular) return;
  error.e << std::remainder(angles_d.phi - angles.phi, 2.0 * kPi), angles_d.theta - angles.theta,
      std::remainder(angles_d.psi - angles.psi, 2.0 * kPi);
  error.condition = 1.0 / angles.side;
  error.L = angles.T_inverse();
  error.L_dot = -error.L * angles.T_dot(error.L * actual.w) * error.L;
  const Matrix3d T_d_inverse = angles_d.T_inverse();
  error.f = T_d_inverse * desired.w;
  error.f_dot = T_d_inverse * (desired.w_dot - angles_d.T_dot(error.f) * error.f);
  error.e_dot = error.f - error.L * actual.w;
}

}  // namespace

OrientationError::OrientationError(OrientationKind kind, const OrientationMotion& desired,
                                   const OrientationMotion& actual) noexcept {
  if (kind == OrientationKind::zyz || kind == OrientationKind::zyx) {
    euler(kind, desired, actual, *this);
    return;
  }
  const Matrix3d Rt = desired.R * actual.R.transpose();
  if (kind == OrientationKind::axis_angle)
    axis_angle(Rt, desired, actual, *this);
  else
    geometric(kind, Rt, desired, actual, *this);
}

}  // namespace thunder
