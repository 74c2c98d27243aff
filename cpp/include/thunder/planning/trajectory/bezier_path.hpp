// Piecewise polynomials of time in Bernstein form: output of the planner of human-like motion, input of clearance proofs.
#pragma once

#include <vector>

#include "../../math/state_archive.hpp"
#include "piecewise_polynomial.hpp"

namespace thunder {

/// Piece k is x(t) = sum_j B_j(s) points[k][j], s = (t - breaks[k]) / (breaks[k + 1] - breaks[k]), with the Bernstein
/// polynomials B_j of one degree; it lies in the convex hull of its control points. Before its first and after its last
/// break the path rests at its start and at its end.
struct BezierPath {
  static constexpr int kMaxDegree = 9;

  BezierPath() = default;
  /// Breaks 0, 1, ..., pieces; control points zero. Throws std::invalid_argument on no piece, no dimension or a degree
  /// beyond 0 to kMaxDegree.
  BezierPath(int dimension_, int degree_, int pieces);
  /// The same path: powers to Bernstein polynomials.
  explicit BezierPath(const PiecewisePolynomial& path);

  /// Bernstein polynomials to powers.
  PiecewisePolynomial polynomial() const;

  /// Reads a path of this dimension; throws std::invalid_argument on invalid data.
  void archive(StateArchive& state);

  int pieces() const noexcept { return static_cast<int>(breaks.size()) - 1; }
  double start() const noexcept { return breaks.front(); }
  double end() const noexcept { return breaks.back(); }
  /// Control points of piece k: (degree + 1) x dimension, row by row.
  double* piece(int k) noexcept { return points.data() + k * (degree + 1) * dimension; }
  const double* piece(int k) const noexcept { return points.data() + k * (degree + 1) * dimension; }

  /// The piece that holds time t; at a break the one that begins there.
  int piece_at(double t) const noexcept;
  /// The derivative of this order (0: the value) at time t, `dimension` numbers; at a break that of the piece that begins.
  void at(double t, int derivative, double* out) const noexcept;

  int dimension = 0, degree = 0;
  std::vector<double> breaks;  // pieces + 1, increasing [s]
  std::vector<double> points;  // pieces x (degree + 1) x dimension
};

}  // namespace thunder
