#include "thunder/math/rotations.hpp"

#include <cmath>

namespace thunder {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

/// sin(x)/x, (1 - cos x)/x^2, (x - sin x)/x^3 and their derivatives over x, for x^2: series near zero.
struct RotationCoefficients {
  explicit RotationCoefficients(double squared) noexcept {
    // Limit of x^2. Below it the series are within 3e-15 of their values. Above it differences cancel: at the limit c, db and
    // dc lose 7e-14, 5e-13 and 2e-10 of their values, and less beyond. Their terms shrink with phi, so that
    // `rotation_jacobian` stays exact to rounding and `rotation_bias` to 3e-14 |rate| |phi x rate|.
    constexpr double kSmall = 1e-2;
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

/// 1 + k1 [phi] + k2 [phi]^2
Matrix3d polynomial(const Vector3d& phi, double k1, double k2) noexcept {
  const Matrix3d S = cross_matrix(phi);
  return Matrix3d::Identity() + k1 * S + k2 * S * S;
}

}  // namespace

Matrix3d to_eigen(const Mat3<double>& R) noexcept {
  Matrix3d result;
  result << R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz;
  return result;
}

Matrix3d cross_matrix(const Vector3d& v) noexcept {
  Matrix3d M;
  M << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return M;
}

Matrix3d rotation_exp(const Vector3d& phi) noexcept {
  const RotationCoefficients k(phi.squaredNorm());
  return polynomial(phi, k.a, k.b);
}

Quaterniond quaternion_exp(const Vector3d& phi) noexcept {
  const Vector3d half = 0.5 * phi;
  const double angle = half.norm(), scale = angle > 1e-8 ? std::sin(angle) / angle : 1.0;
  return {std::cos(angle), scale * half.x(), scale * half.y(), scale * half.z()};
}

Vector3d quaternion_log(const Quaterniond& q) noexcept {
  const double side = q.w() < 0.0 ? -1.0 : 1.0, sine = q.vec().norm();
  const double factor = sine > 0.0 ? 2.0 * std::atan2(sine, std::abs(q.w())) / sine : 2.0;
  return side * factor * q.vec();
}

Quaterniond shorter_quaternion(const Matrix3d& R) noexcept {
  Quaterniond q(R);
  if (q.w() < 0.0) q.coeffs() = -q.coeffs();
  return q;
}

Vector3d rotation_log(const Matrix3d& R) noexcept { return quaternion_log(Quaterniond(R)); }

Matrix3d rotation_jacobian(const Vector3d& phi) noexcept {
  const RotationCoefficients k(phi.squaredNorm());
  return polynomial(phi, k.b, k.c);
}

Vector3d rotation_bias(const Vector3d& phi, const Vector3d& rate) noexcept {
  const RotationCoefficients k(phi.squaredNorm());
  const Vector3d turn = phi.cross(rate), bend = phi.cross(turn);
  const double along = phi.dot(rate);
  return along * (k.db * turn + k.dc * bend) + k.c * rate.cross(turn);
}

}  // namespace thunder
