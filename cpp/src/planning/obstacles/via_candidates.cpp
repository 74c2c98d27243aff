#include "thunder/planning/obstacles/via_candidates.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/planning/trajectory/path_frame.hpp"
#include "thunder/math/matrices.hpp"
#include "thunder/math/random.hpp"

namespace thunder {

using Eigen::Vector3d;

namespace {

/// Points k alpha mod 1 with the powers of the root of x^4 = x + 1, 1/x, 1/x^2, 1/x^3: the golden ratio's generalization
/// to three dimensions, of low discrepancy; the seed shifts them.
std::vector<Vector3d> low_discrepancy(int count, std::uint64_t seed) {
  constexpr double ratio = 1.2207440846057596;
  const Vector3d step(1.0 / ratio, 1.0 / (ratio * ratio), 1.0 / (ratio * ratio * ratio));
  Random random(seed);
  Vector3d point;
  for (double& x : point) x = random.uniform();
  std::vector<Vector3d> points(static_cast<std::size_t>(count));
  for (Vector3d& p : points) {
    p = point;
    point += step;
    for (double& x : point) x -= std::floor(x);
  }
  return points;
}

std::vector<Vector3d> uniform(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vector3d> points(static_cast<std::size_t>(count));
  for (Vector3d& p : points)
    for (double& x : p) x = 2.0 * random.uniform() - 1.0;
  return points;
}

constexpr double kAlong = 0.9;  // not quite to the ends of the ellipsoids: either part keeps 5 % of the time

}  // namespace

ViaCandidates::ViaCandidates(Method method, int count, std::uint64_t seed, double half_width)
    : method_(method), half_width_(half_width) {
  if (method == Method::uniform) {
    table_ = uniform(count, seed);
    heap_.resize(table_.size());
    return;
  }
  table_ = low_discrepancy(count, seed);
  for (Vector3d& p : table_) p = Vector3d(std::sqrt(p[0]), kAlong * (2.0 * p[1] - 1.0), 2.0 * kPi * p[2]);
  std::sort(table_.begin(), table_.end(), [](const Vector3d& a, const Vector3d& b) { return a[0] < b[0]; });
  for (const Vector3d& p : table_) turns_.emplace_back(std::cos(p[2]), std::sin(p[2]));
}

void ViaCandidates::begin(const Vector3d& start, const Vector3d& goal) noexcept {
  middle_ = 0.5 * (start + goal);
  left_ = count();
  if (method_ == Method::ellipsoid) {
    focal_ = 0.5 * (goal - start).norm();
    frame_ = path_frame(start, goal).R;
    return;
  }
  for (int k = 0; k < count(); ++k) {
    const Vector3d via = at(k);
    heap_[static_cast<std::size_t>(k)] = {(via - start).norm() + (goal - via).norm(), k};
  }
  std::make_heap(heap_.begin(), heap_.end());
}

bool ViaCandidates::next(Vector3d& via) noexcept {
  if (left_ == 0) return false;
  if (method_ == Method::ellipsoid) {
    via = at(count() - left_--);
    return true;
  }
  std::pop_heap(heap_.begin(), heap_.begin() + left_);
  via = at(heap_[static_cast<std::size_t>(--left_)].k);
  return true;
}

Vector3d ViaCandidates::at(int k) const noexcept {
  const Vector3d& p = table_[static_cast<std::size_t>(k)];
  if (method_ == Method::uniform) return middle_ + half_width_ * p;
  // the polyline has length 2 sqrt(focal^2 + across^2) for every point on the ellipsoid
  const double across = half_width_ * p[0], along = std::sqrt(focal_ * focal_ + across * across);
  const double ring = across * std::sqrt(1.0 - p[1] * p[1]);
  const Eigen::Vector2d& turn = turns_[static_cast<std::size_t>(k)];
  return middle_ + frame_ * Vector3d(along * p[1], ring * turn[0], ring * turn[1]);
}

}  // namespace thunder
