#include "thunder/planning/functional/travel_limits.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/planning/functional/functional_planner.hpp"

namespace thunder {

namespace {

/// Samples of a motion whose control points alone do not tell.
constexpr int kSamples = 64;
/// Peak speed and acceleration of minimum jerk from rest to rest, for unit distance and duration.
const double kPeaks[3] = {1.0, 1.875, 10.0 / std::sqrt(3.0)};
/// Part of the way that velocity or acceleration at a resting end may add.
constexpr double kRest = 1e-9;

}  // namespace

TravelLimits::Norms TravelLimits::norms(const double* x, int dimension) const noexcept {
  Norms norm;
  for (int d = 0; d < dimension; ++d) norm.of[group_of[d]] += x[d] * x[d];
  for (int g = 0; g < groups; ++g) norm.of[g] = std::sqrt(norm.of[g]);
  return norm;
}

void TravelLimits::add_floor(double duration, Travel& size) const noexcept {
  for (int q = 0; q < 3; ++q)
    for (int g = 0; g < groups; ++g) size.of[q][g] += kPeaks[q] * floor[g] / std::pow(duration, q);
}

Travel TravelLimits::travel(const BezierPath& path) const noexcept {
  Travel size;
  const double step = (path.end() - path.start()) / kSamples;
  double values[kMaxDofs];
  for (int k = 0; k <= kSamples; ++k) {
    const double t = k < kSamples ? path.start() + k * step : path.end();
    for (int q = 1; q < 3; ++q) {
      path.at(t, q, values);
      const Norms norm = norms(values, path.dimension);
      for (int g = 0; g < groups; ++g) {
        size.of[q][g] = std::max(size.of[q][g], norm.of[g]);
        if (q == 1) size.of[0][g] += (k % kSamples == 0 ? 0.5 : 1.0) * step * norm.of[g];
      }
    }
  }
  return size;
}

Travel TravelLimits::minimum_jerk(const BezierPath& path) const {
  BoundaryState ends[] = {BoundaryState(path.dimension), BoundaryState(path.dimension)};
  for (int k = 0; k < 2; ++k) {
    DofVector* const rows[] = {&ends[k].x, &ends[k].v, &ends[k].a};
    for (int q = 0; q < order; ++q) path.at(k == 0 ? path.start() : path.end(), q, rows[q]->data());
  }
  BezierPath quintic;
  hermite(ends[0], ends[1], 3, path.start(), path.end() - path.start(), quintic);
  Travel size = travel(quintic);
  add_floor(path.end() - path.start(), size);
  return size;
}

Travel TravelLimits::least(const BezierPath& path) const noexcept {
  const int d = path.dimension;
  const double T = path.end() - path.start();
  double x[2][3][kMaxDofs] = {}, values[kMaxDofs];
  Norms at_end[2][3];
  for (int k = 0; k < 2; ++k)
    for (int q = 0; q < order; ++q) {
      path.at(k == 0 ? path.start() : path.end(), q, x[k][q]);
      at_end[k][q] = norms(x[k][q], d);
    }
  const auto combined = [&](auto entry) {
    for (int i = 0; i < d; ++i) values[i] = entry(i);
    return norms(values, d);
  };
  const Norms way = combined([&](int i) { return x[1][0][i] - x[0][0][i]; });
  const Norms change = combined([&](int i) { return x[1][1][i] - x[0][1][i]; });
  const Norms ahead = combined([&](int i) { return x[1][0][i] - x[0][0][i] - T * x[0][1][i]; });
  Travel size;
  for (int g = 0; g < groups; ++g) {
    const auto largest = [&](int q) { return std::max(at_end[0][q].of[g], at_end[1][q].of[g]); };
    const double w = way.of[g], v = largest(1), a = largest(2);
    const bool rest = T * v + T * T * a <= kRest * (w + floor[g]);
    size.of[0][g] = w;
    size.of[1][g] = rest ? kPeaks[1] * w / T : std::max(w / T, v);
    size.of[2][g] = rest ? kPeaks[2] * w / (T * T) : std::max({a, change.of[g] / T, 2.0 * ahead.of[g] / (T * T)});
  }
  add_floor(T, size);
  return size;
}

Travel TravelLimits::polygon(const BezierPath& path) const noexcept {
  Travel bound;
  const int n = path.degree, d = path.dimension;
  double values[kMaxDofs];
  for (int k = 0; k < path.pieces(); ++k) {
    const double* const c = path.piece(k);
    const double rate = n / (path.breaks[k + 1] - path.breaks[k]);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < d; ++i) values[i] = c[(j + 1) * d + i] - c[j * d + i];
      const Norms step = norms(values, d);
      for (int i = 0; i < d && j + 1 < n; ++i) values[i] = c[(j + 2) * d + i] - c[(j + 1) * d + i] - values[i];
      const Norms turn = j + 1 < n ? norms(values, d) : Norms{};
      for (int g = 0; g < groups; ++g) {
        bound.of[0][g] += step.of[g];
        bound.of[1][g] = std::max(bound.of[1][g], rate * step.of[g]);
        bound.of[2][g] = std::max(bound.of[2][g], rate * rate * (n - 1.0) / n * turn.of[g]);
      }
    }
  }
  return bound;
}

bool TravelLimits::exceeded(const BezierPath& path, const BezierPath* other, double detour) const {
  if (groups == 0 || path.degree == 0) return false;
  const auto within = [&](const Travel& size, const Travel& reference) {
    for (int q = 0; q < 3; ++q)
      for (int g = 0; g < groups; ++g)
        if (!(size.of[q][g] <= std::min(ratio[q] * detour * reference.of[q][g], most.of[q][g]))) return false;
    return true;
  };
  // the polygon of control points is at least as long and fast as the path
  if (other == nullptr && within(polygon(path), least(path))) return false;
  Travel reference = other == nullptr ? minimum_jerk(path) : travel(*other);
  if (other != nullptr) add_floor(path.end() - path.start(), reference);
  return !within(travel(path), reference);
}

}  // namespace thunder
