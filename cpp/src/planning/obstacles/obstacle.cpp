#include "thunder/planning/obstacles/obstacle.hpp"

#include <algorithm>
#include <cmath>

namespace thunder {

namespace {

/// Any direction is valid for a point at distance 0.
Proximity from_point(const Eigen::Vector3d& difference, double radius) {
  const double length = difference.norm();
  if (!(length > 0.0)) return {-radius, Eigen::Vector3d::UnitX()};
  return {length - radius, difference / length};
}

}  // namespace

Proximity Sphere::nearest(const Eigen::Vector3d& p) const noexcept { return from_point(p - center_, radius_); }

Proximity Box::nearest(const Eigen::Vector3d& p) const noexcept {
  const Eigen::Vector3d x = R_.transpose() * (p - center_);
  const Eigen::Vector3d beyond = x - x.cwiseMax(-half_).cwiseMin(half_);
  const double distance = beyond.norm();
  if (distance > 0.0) return {distance, R_ * beyond / distance};
  Eigen::Index face = 0;
  const double depth = (x.cwiseAbs() - half_).maxCoeff(&face);
  return {depth, R_.col(face) * std::copysign(1.0, x[face])};
}

Proximity Capsule::nearest(const Eigen::Vector3d& p) const noexcept {
  const double square = way_.squaredNorm();
  const double along = square > 0.0 ? std::clamp((p - a_).dot(way_) / square, 0.0, 1.0) : 0.0;
  return from_point(p - a_ - along * way_, radius_);
}

}  // namespace thunder
