#include "thunder/kinematics/spherical_wrist.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/math/matrices.hpp"

namespace thunder {

namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kRelative = 1e-12;  // relative, of reach and of the test for a free joint
constexpr double kSameBranch = 1e-7;        // branches closer than this are one [rad]
constexpr double kSingularWrist = 1e-10;

Matrix3d rotation(const Vector3d& axis, double angle) { return AngleAxisd(angle, axis).toRotationMatrix(); }

Vector3d across(const Vector3d& axis, const Vector3d& x) { return x - axis * axis.dot(x); }

/// The turn about `axis` that takes the direction of x to that of y, both seen along the axis.
double angle_between(const Vector3d& axis, const Vector3d& x, const Vector3d& y) {
  const Vector3d u = across(axis, x), v = across(axis, y);
  return std::atan2(axis.dot(u.cross(v)), u.dot(v));
}

struct Roots {
  double angle[2];
  int count = 0;
};

/// Angles of `h . Rot(axis, angle) x = value`: two, one or none; any will do where axis, h or x are parallel, and that
/// gives `free`. `scale` is the magnitude of the compared values.
Roots component(const Vector3d& h, const Vector3d& axis, const Vector3d& x, double value, double scale, double free) {
  const double a = h.dot(across(axis, x)), b = h.dot(axis.cross(x));
  const double c = value - h.dot(axis) * axis.dot(x), r = std::hypot(a, b);
  Roots roots;
  if (r <= kRelative * scale) {
    if (std::abs(c) <= kRelative * scale) roots.angle[roots.count++] = free;
    return roots;
  }
  if (std::abs(c) > r + kRelative * scale) return roots;
  const double middle = std::atan2(b, a);
  // where the two coincide, rounding of c would separate them by its square root
  if (r - std::abs(c) <= kRelative * scale) {
    roots.angle[roots.count++] = c > 0.0 ? middle : middle + kPi;
    return roots;
  }
  const double half = std::acos(c / r);
  roots.angle[roots.count++] = middle + half;
  roots.angle[roots.count++] = middle - half;
  return roots;
}

}  // namespace

SphericalWrist::SphericalWrist(const Geometry& geometry)
    : g_(geometry), wrist_in_frame_(geometry.R.transpose() * (geometry.wrist - geometry.p)) {}

SphericalWrist::Solutions SphericalWrist::solve(const Vector3d& p, const Matrix3d& R,
                                                const Joints& near) const noexcept {
  Solutions solutions;
  const Vector3d wrist = p + R * wrist_in_frame_;
  const Matrix3d turn = R * g_.R.transpose();  // of all six joints
  // turns about axes 2 and 3 leave the height of the wrist along these as it is, with its sign (errata N-5)
  const Vector3d& h = g_.axes[1];
  const double height = h.dot(g_.wrist - g_.points[0]);
  const Vector3d from_shoulder = wrist - g_.points[0];
  const double scale = from_shoulder.norm() + std::abs(height);
  const Roots shoulder = component(h, -g_.axes[0], from_shoulder, height, scale, near[0]);
  for (int k = 0; k < shoulder.count; ++k) solve_elbow(shoulder.angle[k], wrist, turn, near, solutions);
  return solutions;
}

void SphericalWrist::solve_elbow(double q1, const Vector3d& wrist, const Matrix3d& turn, const Joints& near,
                                 Solutions& solutions) const noexcept {
  const Vector3d from_upper =
      g_.points[0] + rotation(g_.axes[0], -q1) * (wrist - g_.points[0]) - g_.points[1];  // joint 1 undone
  const Vector3d forearm = g_.wrist - g_.points[2], upper_arm = g_.points[1] - g_.points[2];
  const double cosine_law = 0.5 * (forearm.squaredNorm() + upper_arm.squaredNorm() - from_upper.squaredNorm());
  const double scale = forearm.squaredNorm() + upper_arm.squaredNorm();
  const Roots elbow = component(upper_arm, g_.axes[2], forearm, cosine_law, scale, near[2]);
  for (int k = 0; k < elbow.count; ++k) {
    const double q3 = elbow.angle[k];
    const Vector3d folded = rotation(g_.axes[2], q3) * forearm - upper_arm;
    const bool free = across(g_.axes[1], folded).norm() <= kRelative * std::sqrt(scale);
    const double q2 = free ? near[1] : angle_between(g_.axes[1], folded, from_upper);
    solve_wrist({q1, q2, q3}, turn, near, solutions);
  }
}

/// The wrist's joints are ZYZ Euler angles up to their zeros: two branches (lecture 5, errata N-6).
void SphericalWrist::solve_wrist(const Vector3d& arm, const Matrix3d& turn, const Joints& near,
                                 Solutions& solutions) const noexcept {
  const Vector3d &w4 = g_.axes[3], &w5 = g_.axes[4], &w6 = g_.axes[5];
  Matrix3d R = turn;
  for (int i = 0; i < 3; ++i) R = rotation(g_.axes[i], -arm[i]) * R;  // rotation of the wrist
  const Vector3d direction = R * w6;
  const double sine = w4.cross(direction).norm();
  const bool singular = sine < kSingularWrist;  // only the sum or the difference of joints 4 and 6 counts
  const double bend = std::atan2(sine, w4.dot(direction));
  const double straight = angle_between(w5, w6, w4);  // joint 5 where axes 4 and 6 fall together
  const Vector3d aside = w6.unitOrthogonal();
  for (const double sign : {1.0, -1.0}) {
    Joints q;
    q.head<3>() = arm;
    q[4] = straight + sign * bend;
    const Matrix3d R5 = rotation(w5, q[4]);
    q[3] = singular ? near[3] : angle_between(w4, R5 * w6, direction);
    q[5] = angle_between(w6, aside, (rotation(w4, q[3]) * R5).transpose() * (R * aside));
    add(q, solutions);
  }
}

void SphericalWrist::add(const Joints& q, Solutions& solutions) const noexcept {
  Joints wrapped;
  for (int i = 0; i < 6; ++i) wrapped[i] = std::remainder(q[i], 2.0 * kPi);
  const auto same = [&](const Joints& other) {
    double most = 0.0;
    for (int i = 0; i < 6; ++i) most = std::max(most, std::abs(std::remainder(q[i] - other[i], 2.0 * kPi)));
    return most < kSameBranch;
  };
  const auto end = solutions.q.begin() + solutions.count;
  if (solutions.count < 8 && std::find_if(solutions.q.begin(), end, same) == end)
    solutions.q[solutions.count++] = wrapped;
}

}  // namespace thunder
