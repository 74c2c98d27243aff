// Convex obstacles: distance and direction from a point.
#pragma once

#include <Eigen/Dense>
#include <cmath>

namespace thunder {

/// Signed distance to an obstacle, negative inside, and its gradient: the nearest point of the surface is
/// p - distance * normal. Inside, where several points are nearest, it is one of them.
struct Proximity {
  double distance;
  Eigen::Vector3d normal;
};

/// A closed convex set. Its signed distance is a convex function of the point, which `PotentialField` relies on.
class Obstacle {
 public:
  virtual ~Obstacle() = default;
  virtual Proximity nearest(const Eigen::Vector3d& p) const noexcept = 0;
  /// The largest length that distances to it are computed from [m]: bounds of rounding errors grow with it.
  virtual double extent() const noexcept = 0;
};

class Sphere final : public Obstacle {
 public:
  Sphere(const Eigen::Vector3d& center, double radius) : center_(center), radius_(radius) {}
  Proximity nearest(const Eigen::Vector3d& p) const noexcept override;
  double extent() const noexcept override { return center_.norm() + radius_; }
  const Eigen::Vector3d& center() const noexcept { return center_; }
  double radius() const noexcept { return radius_; }

 private:
  Eigen::Vector3d center_;
  double radius_;
};

/// A box in any orientation.
class Box final : public Obstacle {
 public:
  /// half: half the lengths of the edges, along the columns of R.
  Box(const Eigen::Vector3d& center, const Eigen::Matrix3d& R, const Eigen::Vector3d& half)
      : center_(center), half_(half), R_(R) {}
  Proximity nearest(const Eigen::Vector3d& p) const noexcept override;
  double extent() const noexcept override { return center_.norm() + half_.norm(); }

 private:
  Eigen::Vector3d center_, half_;
  Eigen::Matrix3d R_;
};

/// All points within a radius of the segment from a to b.
class Capsule final : public Obstacle {
 public:
  Capsule(const Eigen::Vector3d& a, const Eigen::Vector3d& b, double radius) : a_(a), way_(b - a), radius_(radius) {}
  Proximity nearest(const Eigen::Vector3d& p) const noexcept override;
  double extent() const noexcept override { return a_.norm() + way_.norm() + radius_; }

 private:
  Eigen::Vector3d a_, way_;
  double radius_;
};

/// Half-space behind a plane; the normal, of unit length, points out of it.
class HalfSpace final : public Obstacle {
 public:
  HalfSpace(const Eigen::Vector3d& point, const Eigen::Vector3d& normal) : normal_(normal), level_(normal.dot(point)) {}
  Proximity nearest(const Eigen::Vector3d& p) const noexcept override { return {normal_.dot(p) - level_, normal_}; }
  double extent() const noexcept override { return std::abs(level_); }

 private:
  Eigen::Vector3d normal_;
  double level_;
};

}  // namespace thunder
