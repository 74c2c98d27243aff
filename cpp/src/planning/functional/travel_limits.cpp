#include "thunder/planning/functional/travel_limits.hpp"

#include <algorithm>
#include <cmath>

namespace thunder {

namespace {

/// Displacement below which start and goal count as one [m or rad], as for the mean of the planner.
constexpr double kSamePlace = 1e-3;
/// Samples of a motion whose polygon of control points is beyond the limits.
constexpr int kSamples = 64;
/// Length of the quintic between two states at most: |dx| + 0.4 T (|v0| + |v1|) + 0.04 T^2 (|a0| + |a1|), the total
/// variation of its basis functions; and its speed.
constexpr double kVelocityLength = 0.4, kAccelerationLength = 0.04;
constexpr double kPeak = 1.875, kAccelerationSpeed = 0.1;

}  // namespace

void TravelLimits::norms(const double* values, int dimension, double* norm) const noexcept {
  std::fill_n(norm, groups, 0.0);
  for (int d = 0; d < dimension; ++d) norm[group_of[d]] += values[d] * values[d];
  for (int g = 0; g < groups; ++g) norm[g] = std::sqrt(norm[g]);
}

TravelLimits::Travel TravelLimits::limits(const BezierPath& path, double detour) const noexcept {
  const double T = path.end() - path.start();
  const int n = path.degree, dimension = path.dimension;
  double values[kMaxDofs], norm[kMaxDofs], way[kMaxDofs], velocity[kMaxDofs] = {}, acceleration[kMaxDofs] = {};
  const double* const starts = path.piece(0);
  const double* const ends = path.piece(path.pieces() - 1) + n * dimension;
  for (int d = 0; d < dimension; ++d) values[d] = ends[d] - starts[d];
  norms(values, dimension, way);
  // derivatives at the ends are differences of control points
  const auto add = [&](const double* c, int step, double h) {
    for (int d = 0; order > 1 && d < dimension; ++d) values[d] = n / h * (c[step + d] - c[d]);
    if (order > 1) norms(values, dimension, norm);
    for (int g = 0; order > 1 && g < groups; ++g) velocity[g] += norm[g];
    if (order < 3 || n < 2) return;
    for (int d = 0; d < dimension; ++d) values[d] = n * (n - 1) / (h * h) * (c[2 * step + d] - 2.0 * c[step + d] + c[d]);
    norms(values, dimension, norm);
    for (int g = 0; g < groups; ++g) acceleration[g] += norm[g];
  };
  add(starts, dimension, path.breaks[1] - path.breaks[0]);
  add(ends, -dimension, path.breaks[path.pieces()] - path.breaks[path.pieces() - 1]);
  Travel most;
  for (int g = 0; g < groups; ++g) {
    const Group& training = group[g];
    const double straight = way[g] + kSamePlace + (g == 0 ? detour : 0.0);
    const double length = straight + kVelocityLength * T * velocity[g] + kAccelerationLength * T * T * acceleration[g];
    const double speed = kPeak * straight / T + velocity[g] + kAccelerationSpeed * T * acceleration[g];
    const bool usual = way[g] <= training.displacement;
    const double training_length = std::max(usual ? training.length : 0.0, training.length_factor * length);
    const double training_speed = std::max(usual ? training.speed : 0.0, training.speed_factor * length) / T;
    most.length[g] = std::max(minimum_jerk_ratio * length, training_ratio * training_length);
    most.speed[g] = std::max(minimum_jerk_ratio * speed, training_ratio * training_speed);
  }
  return most;
}

TravelLimits::Travel TravelLimits::polygon(const BezierPath& path) const noexcept {
  Travel bound;
  const int n = path.degree, d = path.dimension;
  for (int k = 0; k < path.pieces(); ++k) {
    const double* const c = path.piece(k);
    const double rate = n / (path.breaks[k + 1] - path.breaks[k]);
    for (int g = 0; g < groups; ++g) {
      double sum = 0.0, most = 0.0;
      for (int j = 0; j < n; ++j) {
        double square = 0.0;
        for (int i = first[g]; i <= last[g]; ++i) {
          const double step = c[(j + 1) * d + i] - c[j * d + i];
          square += group_of[i] == g ? step * step : 0.0;
        }
        sum += square;
        most = std::max(most, square);
      }
      bound.length[g] += std::sqrt(n * sum);  // the sum of n roots is at most that
      bound.speed[g] = std::max(bound.speed[g], rate * std::sqrt(most));
    }
  }
  return bound;
}

TravelLimits::Travel TravelLimits::sampled(const BezierPath& path) const noexcept {
  Travel travel;
  const double step = (path.end() - path.start()) / kSamples;
  double v[kMaxDofs], norm[kMaxDofs];
  for (int k = 0; k < kSamples; ++k) {
    path.at(path.start() + (k + 0.5) * step, 1, v);
    norms(v, path.dimension, norm);
    for (int g = 0; g < groups; ++g) {
      travel.length[g] += step * norm[g];
      travel.speed[g] = std::max(travel.speed[g], norm[g]);
    }
  }
  return travel;
}

bool TravelLimits::exceeded(const BezierPath& path, double detour) const noexcept {
  if (groups == 0 || path.degree == 0) return false;
  const Travel most = limits(path, detour);
  const auto within = [&](const Travel& travel) {
    for (int g = 0; g < groups; ++g)
      if (!(travel.length[g] <= most.length[g] && travel.speed[g] <= most.speed[g])) return false;
    return true;
  };
  // the polygon of control points is at least as long and fast as the path
  return !within(polygon(path)) && !within(sampled(path));
}

}  // namespace thunder
