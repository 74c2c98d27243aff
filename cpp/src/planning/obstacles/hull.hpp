// A piece of a path relative to an obstacle, and bounds of its distance by halving.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/planning/trajectory/bernstein.hpp"
#include "thunder/planning/trajectory/bezier_path.hpp"
#include "thunder/planning/obstacles/obstacle.hpp"

namespace thunder::hull {

using Eigen::Vector3d;

struct BallDistance {
  Vector3d center;
  double radius;

  Proximity operator()(const Vector3d& p) const noexcept {
    const Vector3d way = p - center;
    const double length = way.norm();
    if (!(length > 0.0)) return {-radius, Vector3d::UnitX()};
    return {length - radius, way / length};
  }
};

struct ShapeDistance {
  const Obstacle* shape;

  Proximity operator()(const Vector3d& p) const noexcept { return shape->nearest(p); }
};

/// Control points, in the frame that moves with the obstacle, over [start, start + width] of its piece.
struct Piece {
  Vector3d points[BezierPath::kMaxDegree + 1];
  double start = 0.0, width = 1.0;

  /// The motion v t is linear, with control points evenly between its ends.
  Piece() = default;
  Piece(const BezierPath& path, int k, const Vector3d& velocity) noexcept {
    const double* p = path.piece(k);
    const double step = (path.breaks[k + 1] - path.breaks[k]) / std::max(path.degree, 1);
    for (int j = 0; j <= path.degree; ++j, p += path.dimension)
      points[j] = Vector3d(p[0], p[1], p[2]) - (path.breaks[k] + j * step) * velocity;
  }

  /// Minimum over the hull of a tangent plane of the distance.
  double bound(const Proximity& near, const Vector3d& at, int degree) const noexcept {
    double lowest = std::numeric_limits<double>::infinity();
    for (int j = 0; j <= degree; ++j) lowest = std::min(lowest, near.normal.dot(points[j] - at));
    return near.distance + lowest;
  }

  /// Rounding error of a bound: sizes times a few units in the last place.
  double slack(int degree, double extent) const noexcept {
    double size = extent;
    for (int j = 0; j <= degree; ++j) size = std::max(size, points[j].cwiseAbs().maxCoeff());
    return 64.0 * std::numeric_limits<double>::epsilon() * size;
  }

  /// Keeps the left half and returns the right one, which begins at the middle of the curve.
  Piece halve(int degree) noexcept {
    Piece right;
    bernstein_split(points, right.points, degree, 0.5);
    right.width = width *= 0.5;
    right.start = start + width;
    return right;
  }
};

constexpr int kDepth = 48;  // halvings: more bring no improvement
constexpr double kNarrowest = 0x1p-48;

/// True if the piece is nowhere nearer than `margin`. False too where the bound is within `touch` of the distance.
template <class Distance>
bool keeps_away(const Piece& whole, int degree, const Distance& nearest, double margin, double slack,
                double touch) noexcept {
  Piece stack[kDepth + 1];
  stack[0] = whole;
  for (int top = 0; top >= 0;) {
    Piece& left = stack[top];
    const Piece right = left.halve(degree);
    const Proximity near = nearest(right.points[0]);
    if (!(near.distance >= margin)) return false;
    const double bounds[] = {left.bound(near, right.points[0], degree) - slack,
                             right.bound(near, right.points[0], degree) - slack};
    const bool open[] = {!(bounds[0] >= margin), !(bounds[1] >= margin)};
    const double gap = near.distance - std::min(bounds[0], bounds[1]);
    if ((open[0] || open[1]) && (left.width <= kNarrowest || !(gap > touch))) return false;
    if (open[1] && open[0]) stack[++top] = right;
    else if (open[1]) stack[top] = right;
    else if (!open[0]) --top;
  }
  return true;
}

/// The least distance so far, its position, and the proved bound of the rest.
struct Least {
  double distance = std::numeric_limits<double>::infinity(), bound = std::numeric_limits<double>::infinity();
  double at = 0.0;  // of the piece, 0 to 1
  int piece = -1, item = -1;

  bool offer(double found, double s, int k, int index) noexcept {
    if (!(found < distance)) return false;
    distance = found, at = s, piece = k, item = index;
    return true;
  }
};

/// Updates `least` with the minimum over the piece, to the tolerance.
template <class Distance>
void lower(const Piece& whole, int degree, const Distance& nearest, double slack, double tolerance, int k, int index,
           Least& least) noexcept {
  Piece stack[kDepth + 1];
  stack[0] = whole;
  for (int top = 0; top >= 0;) {
    Piece& left = stack[top];
    const Piece right = left.halve(degree);
    const Proximity near = nearest(right.points[0]);
    least.offer(near.distance, right.start, k, index);
    const double bounds[] = {left.bound(near, right.points[0], degree) - slack,
                             right.bound(near, right.points[0], degree) - slack};
    bool open[2];
    for (int side = 0; side < 2; ++side) {
      open[side] = left.width > kNarrowest && bounds[side] < least.distance - tolerance;
      if (!open[side]) least.bound = std::min(least.bound, bounds[side]);
    }
    if (open[1] && open[0]) {
      stack[top + 1] = right;
      if (bounds[0] < bounds[1]) std::swap(stack[top], stack[top + 1]);  // the nearer half first
      ++top;
    } else if (open[1]) {
      stack[top] = right;
    } else if (!open[0]) {
      --top;
    }
  }
}

/// Secant steps towards the root of n.x', where the distance is stationary; a step counts if it leads no farther away.
template <class Distance>
double settle(const Piece& whole, int degree, const Distance& nearest, double s, double& distance) noexcept {
  const auto slope = [&](double at, double& value) noexcept {
    Vector3d c[BezierPath::kMaxDegree + 1], rate[BezierPath::kMaxDegree + 1];
    std::copy_n(whole.points, degree + 1, c);
    std::copy_n(whole.points, degree + 1, rate);
    bernstein_derivative(rate, degree);
    const Proximity near = nearest(bernstein_value(c, degree, at));
    value = near.distance;
    return near.normal.dot(degree > 0 ? bernstein_value(rate, degree - 1, at) : Vector3d::Zero());
  };
  double value, before = s < 0.5 ? s + 1e-4 : s - 1e-4;
  double slope_before = slope(before, value), slope_here = slope(s, value);
  for (int step = 0; step < 12; ++step) {
    const double next = std::clamp(s - slope_here * (s - before) / (slope_here - slope_before), 0.0, 1.0);
    if (!(std::abs(next - s) > 1e-15)) break;
    const double slope_next = slope(next, value);
    if (!(value <= distance + 1e-15)) break;
    before = s, slope_before = slope_here;
    s = next, slope_here = slope_next;
    distance = value;
  }
  return s;
}

}  // namespace thunder::hull
