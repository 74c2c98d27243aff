#include "thunder/planning/trajectory/bezier_path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "thunder/planning/trajectory/bernstein.hpp"

namespace thunder {

BezierPath::BezierPath(int dimension_, int degree_, int pieces) : dimension(dimension_), degree(degree_) {
  if (dimension < 1 || pieces < 1) throw std::invalid_argument("a path must have at least one piece and one dimension");
  if (degree < 0 || degree > kMaxDegree)
    throw std::invalid_argument("degree must be 0 to " + std::to_string(kMaxDegree) + ", got " + std::to_string(degree));
  breaks.resize(static_cast<std::size_t>(pieces) + 1);
  std::iota(breaks.begin(), breaks.end(), 0.0);
  points.assign(static_cast<std::size_t>(pieces * (degree + 1) * dimension), 0.0);
}

BezierPath::BezierPath(const PiecewisePolynomial& path)
    : BezierPath(path.dimension(), path.order() - 1, path.pieces()) {
  breaks = path.breaks();
  const double* powers = path.coefficients().data();
  for (int k = 0; k < pieces(); ++k, powers += (degree + 1) * dimension) {
    const double h = breaks[k + 1] - breaks[k];
    for (int j = 0; j <= degree; ++j) {  // s^i = sum_j C(j, i) / C(degree, i) B_j
      double* const point = piece(k) + j * dimension;
      double scale = 1.0;
      for (int i = 0; i <= j; ++i, scale *= h)
        for (int d = 0; d < dimension; ++d)
          point[d] += choose(j, i) / choose(degree, i) * scale * powers[i * dimension + d];
    }
  }
}

PiecewisePolynomial BezierPath::polynomial() const {
  std::vector<double> powers(points);  // differences of order i, times C(degree, i) / h^i
  for (int k = 0; k < pieces(); ++k) {
    double* const c = powers.data() + k * (degree + 1) * dimension;
    const double h = breaks[k + 1] - breaks[k];
    for (int i = 1; i <= degree; ++i)
      for (int j = degree; j >= i; --j)
        for (int d = 0; d < dimension; ++d) c[j * dimension + d] -= c[(j - 1) * dimension + d];
    double scale = 1.0;
    for (int i = 0; i <= degree; ++i, scale /= h)
      for (int d = 0; d < dimension; ++d) c[i * dimension + d] *= choose(degree, i) * scale;
  }
  return {breaks, std::move(powers), dimension};
}

void BezierPath::archive(StateArchive& state) {
  state.bounded(degree, 0.0, kMaxDegree);
  state(breaks, points);
  if (!state.reading()) return;
  bool valid = breaks.size() >= 2 && points.size() == (breaks.size() - 1) * static_cast<std::size_t>((degree + 1) * dimension);
  for (std::size_t k = 1; valid && k < breaks.size(); ++k) valid = breaks[k] > breaks[k - 1] && std::isfinite(breaks[k] - breaks[k - 1]);
  if (!valid) throw std::invalid_argument("state must hold paths with increasing breaks and a control point for each");
}

int BezierPath::piece_at(double t) const noexcept {
  const auto next = std::upper_bound(breaks.begin() + 1, breaks.end() - 1, t);
  return static_cast<int>(next - breaks.begin()) - 1;
}

void BezierPath::at(double t, int derivative, double* out) const noexcept {
  const double inside = std::min(std::max(t, start()), end());
  if (derivative > degree || (derivative > 0 && t != inside)) return std::fill_n(out, dimension, 0.0), void();
  const int k = piece_at(inside);
  const double h = breaks[k + 1] - breaks[k], s = (inside - breaks[k]) / h;
  const double* const c = piece(k);
  double column[kMaxDegree + 1], scale = 1.0;
  for (int i = 0; i < derivative; ++i) scale /= h;
  for (int d = 0; d < dimension; ++d) {
    for (int j = 0; j <= degree; ++j) column[j] = c[j * dimension + d];
    for (int i = 0; i < derivative; ++i) bernstein_derivative(column, degree - i);
    out[d] = scale * bernstein_value(column, degree - derivative, s);
  }
}

}  // namespace thunder
