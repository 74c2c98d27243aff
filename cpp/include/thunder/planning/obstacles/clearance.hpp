// Clearance of a path from obstacles, static or moving, proved without sampling.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "../trajectory/bezier_path.hpp"
#include "obstacle.hpp"

namespace thunder {

/// An obstacle, given at time 0, that moves without rotation.
struct MovingObstacle {
  std::shared_ptr<const Obstacle> shape;
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();  // [m/s]
};

/// The least signed distance along a path, negative inside an obstacle. The true one lies between both numbers.
struct Clearance {
  double distance = std::numeric_limits<double>::infinity();     // met at `time` [m]
  double lower_bound = std::numeric_limits<double>::infinity();  // proved
  double time = 0.0;
  int obstacle = -1;  // which one; -1 where there is none
};

/// Obstacles, grouped for queries. The first three numbers of a path are its position; nothing here allocates.
///
/// The signed distance to a convex set is a convex function, so it lies above its tangent planes: with the nearest
/// direction n at one point x0, no point of the hull of the control points P_j is nearer than d(x0) + min_j n.(P_j - x0),
/// and the piece lies in that hull. Halving the piece where that is inconclusive makes the bound converge with the square
/// of the interval. A motion at constant velocity is linear in time: subtracted from the control points, it leaves a
/// standing obstacle. Bounds are lowered by a bound of their rounding errors.
class ObstacleSet {
 public:
  ObstacleSet() = default;
  /// Throws std::invalid_argument for a null obstacle, or one beyond `kLargest`.
  explicit ObstacleSet(const std::vector<MovingObstacle>& obstacles);

  int size() const noexcept { return static_cast<int>(balls_.size() + shapes_.size()); }

  /// Signed distance of a point at time t to obstacle k.
  double distance(int k, const Eigen::Vector3d& p, double t) const noexcept;
  /// The first obstacle nearer than `margin` to a point at time t, or -1.
  int nearer(const Eigen::Vector3d& p, double t, double margin) const noexcept;

  /// True if the straight line between two points keeps at least `margin` from static obstacles.
  bool line_free(const Eigen::Vector3d& a, const Eigen::Vector3d& b, double margin) const noexcept;
  /// True if the path is proved to keep at least `margin`. False if it does not, exceeds it by less than `kTouch`,
  /// or its numbers are beyond `kLargest`.
  bool free(const BezierPath& path, double margin) const noexcept { return free(path, margin, 0, path.pieces()); }
  /// The same for the pieces from `first` to before `last`.
  bool free(const BezierPath& path, double margin, int first, int last) const noexcept;

  /// The least distance, to `tolerance`; NaN, with a bound of -infinity, where the path's numbers are beyond `kLargest`.
  Clearance clearance(const BezierPath& path, double tolerance = kTouch) const noexcept;

  static constexpr double kTouch = 1e-9;  // [m]
  static constexpr double kLargest = 1e100;  // [m], [m/s]: squares must not overflow, or what is infinite is far

 private:
  struct Item {
    Eigen::Vector3d velocity;
    double speed, extent;
    int index;
  };
  struct Ball : Item {  // spheres are most frequent in searches: without virtual calls
    Eigen::Vector3d center;
    double radius;
  };
  struct Shape : Item {
    std::shared_ptr<const Obstacle> shape;
  };

  template <class Visit>
  bool each(const Visit& visit) const noexcept;

  std::vector<Ball> balls_;
  std::vector<Shape> shapes_;
};

}  // namespace thunder
