#include "thunder/planning/functional/travel_limits.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/planning/functional/functional_planner.hpp"

namespace thunder {

namespace {

/// Samples of a motion whose control points alone do not tell.
constexpr int kSamples = 32;
/// Peak speed and acceleration of minimum jerk from rest to rest, for unit distance and duration.
const double kPeaks[3] = {1.0, 1.875, 10.0 / std::sqrt(3.0)};
/// Part of the way that velocity or acceleration at a resting end may add.
constexpr double kRest = 1e-9;

}  // namespace

void TravelLimits::norms(const double* x, int dimension, double* norm) const noexcept {
  std::fill_n(norm, groups, 0.0);
  for (int d = 0; d < dimension; ++d) norm[group_of[d]] += x[d] * x[d];
  for (int g = 0; g < groups; ++g) norm[g] = std::sqrt(norm[g]);
}

void TravelLimits::add_reach(const double* way, double duration, Travel& size) const noexcept {
  double scale = 1.0;
  for (int q = 0; q < 3; ++q, scale /= duration)
    for (int g = 0; g < groups; ++g) size.of[q][g] += kPeaks[q] * way[g] * scale;
}

Travel TravelLimits::travel(const BezierPath& path) const noexcept {
  Travel size;
  const int n = path.degree, d = path.dimension, per = std::max(4, (kSamples - 1) / path.pieces() + 1);
  double weights[kSamples + 1][2][BezierPath::kMaxDegree + 1] = {};  // Bernstein polynomials of degrees n - 1 and n - 2
  for (int k = 0; k <= per; ++k)
    for (int q = 0; q < 2; ++q) {
      double* const w = weights[k][q];
      const double s = static_cast<double>(k) / per;
      w[0] = n > q ? 1.0 : 0.0;
      for (int r = 1; r < n - q; ++r)
        for (int j = r; j >= 0; --j) w[j] = (1.0 - s) * w[j] + (j > 0 ? s * w[j - 1] : 0.0);
    }
  for (int p = 0; p < path.pieces(); ++p) {
    const double* const c = path.piece(p);
    const double h = path.breaks[p + 1] - path.breaks[p], scale[] = {n / h, n * (n - 1) / (h * h)};
    for (int k = 0; k <= per; ++k) {
      double squares[2][kMaxDofs] = {};
      for (int i = 0; i < d; ++i)
        for (int q = 0; q < 2; ++q) {
          double value = 0.0;
          for (int j = 0; j < n - q; ++j) {
            const double* const x = c + j * d + i;
            value += weights[k][q][j] * (q == 0 ? x[d] - x[0] : x[2 * d] - 2.0 * x[d] + x[0]);
          }
          squares[q][group_of[i]] += value * value;
        }
      for (int g = 0; g < groups; ++g) {
        const double v = scale[0] * std::sqrt(squares[0][g]);
        size.of[0][g] += (k % per == 0 ? 0.5 : 1.0) * h / per * v;
        size.of[1][g] = std::max(size.of[1][g], v);
        size.of[2][g] = std::max(size.of[2][g], scale[1] * std::sqrt(squares[1][g]));
      }
    }
  }
  return size;
}

Travel TravelLimits::least(const BezierPath& path) const noexcept {
  const int d = path.dimension;
  const double T = path.end() - path.start();
  double x[2][3][kMaxDofs] = {}, at_end[2][3][kMaxDofs], way[kMaxDofs], change[kMaxDofs], ahead[kMaxDofs], values[kMaxDofs];
  const int n = path.degree, last = path.pieces() - 1;
  for (int k = 0; k < 2; ++k) {  // derivatives at the ends are differences of control points
    const double* const c = k == 0 ? path.piece(0) : path.piece(last) + n * d;
    const int step = k == 0 ? d : -d, piece = k == 0 ? 0 : last;
    const double rate = n / (path.breaks[piece + 1] - path.breaks[piece]), turn = n > 1 ? rate * rate * (n - 1) / n : 0.0;
    for (int i = 0; i < d; ++i) {
      x[k][0][i] = c[i];
      if (order > 1 && n > 0) x[k][1][i] = (k == 0 ? rate : -rate) * (c[step + i] - c[i]);
      if (order > 2 && n > 1) x[k][2][i] = turn * (c[2 * step + i] - 2.0 * c[step + i] + c[i]);
    }
    for (int q = 1; q < 3; ++q) norms(x[k][q], d, at_end[k][q]);
  }
  for (int i = 0; i < d; ++i) values[i] = x[1][0][i] - x[0][0][i];
  norms(values, d, way);
  for (int i = 0; i < d; ++i) values[i] -= T * x[0][1][i];
  norms(values, d, ahead);
  for (int i = 0; i < d; ++i) values[i] = x[1][1][i] - x[0][1][i];
  norms(values, d, change);
  Travel size, still;
  add_reach(way, T, size);
  add_reach(floor, T, still);
  for (int g = 0; g < groups; ++g) {
    const double v = std::max(at_end[0][1][g], at_end[1][1][g]), a = std::max(at_end[0][2][g], at_end[1][2][g]);
    if (T * v + T * T * a > kRest * (way[g] + floor[g])) {
      size.of[1][g] = std::max(way[g] / T, v);
      size.of[2][g] = std::max({a, change[g] / T, 2.0 * ahead[g] / (T * T)});
    }
    for (int q = 0; q < 3; ++q) size.of[q][g] += still.of[q][g];
  }
  return size;
}

Travel TravelLimits::bound(const BezierPath& path) const noexcept {
  Travel size;
  const int n = path.degree, d = path.dimension, pieces = path.pieces();
  for (int g = 0; g < groups && n > 0; ++g) {
    double length = 0.0, speed = 0.0, acceleration = 0.0;
    for (int k = 0; k < pieces; ++k) {
      const double* x = path.piece(k);
      const double rate = n / (path.breaks[k + 1] - path.breaks[k]);
      double sum = 0.0, step = 0.0, turn = 0.0, before[kMaxDofs];  // squares; last differences
      for (int i = 0; i < d; ++i) before[i] = x[d + i] - x[i];
      for (int j = 0; j < n; ++j, x += d) {
        double dx2 = 0.0, ddx2 = 0.0;
        for (int i = 0; i < d; ++i) {
          const double dx = x[d + i] - x[i], ddx = dx - before[i];
          before[i] = dx;
          dx2 += group_of[i] == g ? dx * dx : 0.0;
          ddx2 += group_of[i] == g ? ddx * ddx : 0.0;
        }
        sum += dx2;
        step = std::max(step, dx2);
        turn = std::max(turn, ddx2);
      }
      length += std::sqrt(n * sum);  // the sum of n roots is at most that
      speed = std::max(speed, rate * rate * step);
      acceleration = std::max(acceleration, rate * rate * rate * rate * turn);
    }
    size.of[0][g] = length;
    size.of[1][g] = std::sqrt(speed);
    size.of[2][g] = (n - 1.0) / n * std::sqrt(acceleration);
  }
  return size;
}

bool TravelLimits::within(const Travel& size, const Travel& reference) const noexcept {
  for (int q = 0; q < 3; ++q)
    for (int g = 0; g < groups; ++g)
      if (!(size.of[q][g] <= std::min(ratio[q] * reference.of[q][g], most.of[q][g]))) return false;
  return true;
}

TravelLimits::Comparison TravelLimits::compare(const BezierPath& path, const BezierPath* other) const {
  BezierPath quintic;
  if (other == nullptr) {
    BoundaryState ends[] = {BoundaryState(path.dimension), BoundaryState(path.dimension)};
    for (int k = 0; k < 2; ++k) {
      DofVector* const rows[] = {&ends[k].x, &ends[k].v, &ends[k].a};
      for (int q = 0; q < order; ++q) path.at(k == 0 ? path.start() : path.end(), q, rows[q]->data());
    }
    hermite(ends[0], ends[1], 3, path.start(), path.end() - path.start(), quintic);
    other = &quintic;
  }
  Comparison found{travel(path), travel(*other), false, false};
  Travel& reference = found.reference;
  add_reach(floor, path.end() - path.start(), reference);
  found.within = within(found.size, reference);
  double longer = 0.0;
  for (int g = 0; g < groups; ++g) longer = std::max(longer, found.size.of[0][g] / reference.of[0][g]);
  Travel same = reference;
  for (int g = 0; g < groups; ++g)
    same.of[0][g] = found.size.of[0][g], same.of[1][g] *= longer, same.of[2][g] *= longer * longer;
  found.explained = within(found.size, same);
  return found;
}

}  // namespace thunder
