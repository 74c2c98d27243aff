#include "thunder/planning/obstacles/clearance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "hull.hpp"

namespace thunder {

using Eigen::Vector3d;

namespace {

Vector3d point(const BezierPath& path, int k, int j) noexcept {
  return Eigen::Map<const Vector3d>(path.piece(k) + j * path.dimension);
}

/// A ball about a piece, from rest.
struct Bubble {
  Vector3d center;
  double radius;

  Bubble(const BezierPath& path, int k) noexcept {
    center = 0.5 * (point(path, k, 0) + point(path, k, path.degree));
    double square = 0.0;
    for (int j = 0; j <= path.degree; ++j) square = std::max(square, (point(path, k, j) - center).squaredNorm());
    radius = std::sqrt(square);
  }
};

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// True if a point is at least this far away. Balls need no square root; rounding matters only at the limit itself.
bool beyond(const hull::BallDistance& ball, const Vector3d& p, double distance) noexcept {
  const double reach = ball.radius + distance;
  return reach <= 0.0 ? ball(p).distance >= distance : (p - ball.center).squaredNorm() >= reach * reach;
}

bool beyond(const hull::ShapeDistance& shape, const Vector3d& p, double distance) noexcept {
  return shape(p).distance >= distance;
}

/// True if positions, times and their squares are finite for an observer of this speed.
bool measurable(const BezierPath& path, double speed) noexcept {
  double largest = 0.0;
  for (const double t : path.breaks) largest = std::max(largest, std::abs(t) * speed);
  for (const double value : path.points)
    if (!(std::abs(value) + largest < ObstacleSet::kLargest)) return false;
  return true;
}

}  // namespace

ObstacleSet::ObstacleSet(const std::vector<MovingObstacle>& obstacles) {
  int index = 0;
  for (const MovingObstacle& obstacle : obstacles) {
    if (!obstacle.shape) throw std::invalid_argument("every obstacle must have a shape");
    const Item item{obstacle.velocity, obstacle.velocity.norm(), obstacle.shape->extent(), index++};
    if (!(item.speed < kLargest && item.extent < kLargest))
      throw std::invalid_argument("obstacles must be nearer, smaller and slower than 1e100 m (per s)");
    if (const auto* sphere = dynamic_cast<const Sphere*>(obstacle.shape.get()))
      balls_.push_back({item, sphere->center(), sphere->radius()});
    else
      shapes_.push_back({item, obstacle.shape});
  }
}

/// Calls visit(item, distance function) until it returns stop.
template <class Visit>
bool ObstacleSet::each(const Visit& visit) const noexcept {
  for (const Ball& ball : balls_)
    if (!visit(ball, hull::BallDistance{ball.center, ball.radius})) return false;
  for (const Shape& shape : shapes_)
    if (!visit(shape, hull::ShapeDistance{shape.shape.get()})) return false;
  return true;
}

double ObstacleSet::distance(int k, const Vector3d& p, double t) const noexcept {
  double found = std::numeric_limits<double>::infinity();
  each([&](const Item& item, const auto& nearest) noexcept {
    if (item.index == k) found = nearest(p - t * item.velocity).distance;
    return item.index != k;
  });
  return found;
}

int ObstacleSet::nearer(const Vector3d& p, double t, double margin) const noexcept {
  int first = -1;
  each([&](const Item& item, const auto& nearest) noexcept {
    const bool keeps = nearest(p - t * item.velocity).distance >= margin;
    if (!keeps && (first < 0 || item.index < first)) first = item.index;
    return true;
  });
  return first;
}

bool ObstacleSet::line_free(const Vector3d& a, const Vector3d& b, double margin) const noexcept {
  hull::Piece line;
  line.points[0] = a, line.points[1] = b;
  return each([&](const Item& item, const auto& nearest) noexcept {
    const double slack = line.slack(1, item.extent);
    return item.speed > 0.0 || hull::keeps_away(line, 1, nearest, margin, slack, std::max(kTouch, 2.0 * slack));
  });
}

bool ObstacleSet::free(const BezierPath& path, double margin, int first, int last) const noexcept {
  for (int k = first; k < last; ++k)  // points of the curve: rejects most colliding paths
    if (const Vector3d p = point(path, k, 0); !each([&](const Item& item, const auto& nearest) noexcept {
          return beyond(nearest, p - path.breaks[k] * item.velocity, margin);
        }))
      return false;
  for (int k = first; k < last; ++k) {
    const Bubble bubble(path, k);
    const double half = 0.5 * (path.breaks[k + 1] - path.breaks[k]), middle = path.breaks[k] + half;
    const auto away = [&](const Item& item, const auto& nearest) noexcept {
      const Vector3d at = bubble.center - middle * item.velocity;
      const double reach = bubble.radius + half * item.speed;
      if (!(at.lpNorm<1>() + reach < kLargest)) return false;  // nothing is proved after an overflow
      const double reach_slack = reach * (1.0 + 1e-5);  // gradients of distances have unit length to 1e-6
      const double round = 64.0 * kEpsilon * (at.lpNorm<1>() + reach + item.extent);
      if (beyond(nearest, at, margin + reach_slack + round)) return true;
      const hull::Piece piece(path, k, item.velocity);
      const double slack = piece.slack(path.degree, item.extent);
      return hull::keeps_away(piece, path.degree, nearest, margin, slack, std::max(kTouch, 2.0 * slack));
    };
    if (!each(away)) return false;
  }
  return true;
}

Clearance ObstacleSet::clearance(const BezierPath& path, double tolerance) const noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double speed = 0.0;
  each([&](const Item& item, const auto&) noexcept { return speed = std::max(speed, item.speed), true; });
  if (!measurable(path, speed)) return {std::numeric_limits<double>::quiet_NaN(), -infinity, path.start(), -1};
  if (size() == 0) return {infinity, infinity, path.start(), -1};
  hull::Least least;
  const auto ends = [&](int k, int j, double t, double s) noexcept {
    const Vector3d p = point(path, k, j);
    each([&](const Item& item, const auto& nearest) noexcept {
      least.offer(nearest(p - t * item.velocity).distance, s, k, item.index);
      return true;
    });
  };
  for (int k = 0; k < path.pieces(); ++k) ends(k, 0, path.breaks[k], 0.0);
  ends(path.pieces() - 1, path.degree, path.end(), 1.0);
  for (int k = 0; k < path.pieces(); ++k)
    each([&](const Item& item, const auto& nearest) noexcept {
      const hull::Piece piece(path, k, item.velocity);
      const double slack = piece.slack(path.degree, item.extent);
      hull::lower(piece, path.degree, nearest, slack, std::max(tolerance, 4.0 * slack), k, item.index, least);
      return true;
    });
  each([&](const Item& item, const auto& nearest) noexcept {
    if (item.index == least.item)
      least.at = hull::settle(hull::Piece(path, least.piece, item.velocity), path.degree, nearest, least.at,
                              least.distance);
    return item.index != least.item;
  });
  const double from = path.breaks[least.piece], to = path.breaks[least.piece + 1];
  return {least.distance, std::min(least.bound, least.distance), from + least.at * (to - from), least.item};
}

}  // namespace thunder
