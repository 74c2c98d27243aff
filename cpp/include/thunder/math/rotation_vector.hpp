// Rotations by their vectors, R = exp(phi), and how these change with time; world axes.
#pragma once

#include <Eigen/Dense>
#include <cmath>

namespace thunder {

inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& v) noexcept {
  Eigen::Matrix3d M;
  M << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return M;
}

/// sin(x)/x, (1 - cos x)/x^2, (x - sin x)/x^3 and what their derivatives are over x, for x^2: series near zero.
struct RotationCoefficients {
  explicit RotationCoefficients(double squared) noexcept {
    constexpr double kSmall = 1e-2;  // of x^2: below it four terms of the series are exact, above it nothing cancels much
    if (squared < kSmall) {
      const double s = squared;
      a = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)));
      b = 0.5 * (1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0))));
      c = (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0)))) / 6.0;
      db = -(1.0 - s / 15.0 * (1.0 - s / 37.333333333333336 * (1.0 - s / 67.5))) / 12.0;
      dc = -(1.0 - s / 21.0 * (1.0 - s / 48.0 * (1.0 - s / 82.5))) / 60.0;
      return;
    }
    const double x = std::sqrt(squared);
    a = std::sin(x) / x;
    b = 2.0 * std::pow(std::sin(0.5 * x) / x, 2);
    c = (1.0 - a) / squared;
    db = (a - 2.0 * b) / squared;
    dc = (b - 3.0 * c) / squared;
  }
  double a, b, c, db, dc;
};

inline Eigen::Matrix3d rotation_of(const Eigen::Vector3d& phi) noexcept {
  const RotationCoefficients k(phi.squaredNorm());
  const Eigen::Matrix3d S = cross_matrix(phi);
  return Eigen::Matrix3d::Identity() + k.a * S + k.b * S * S;
}

/// J of w = J dphi/dt, the angular velocity in the axes that phi is expressed in (the left Jacobian).
inline Eigen::Matrix3d rotation_jacobian(const Eigen::Vector3d& phi) noexcept {
  const RotationCoefficients k(phi.squaredNorm());
  const Eigen::Matrix3d S = cross_matrix(phi);
  return Eigen::Matrix3d::Identity() + k.b * S + k.c * S * S;
}

/// dJ/dt dphi/dt: dw/dt = J d2phi/dt2 + this.
inline Eigen::Vector3d rotation_bias(const Eigen::Vector3d& phi, const Eigen::Vector3d& rate) noexcept {
  const RotationCoefficients k(phi.squaredNorm());
  const Eigen::Vector3d turn = phi.cross(rate), bend = phi.cross(turn);
  const double along = phi.dot(rate);
  return along * (k.db * turn + k.dc * bend) + k.c * rate.cross(turn);
}

}  // namespace thunder
