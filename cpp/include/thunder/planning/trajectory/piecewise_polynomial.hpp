// Piecewise polynomials of a vector: the common form of timing laws, splines and blends.
#pragma once

#include <vector>

namespace thunder {

/// Piece k, from breaks[k] to breaks[k + 1], is sum_j coefficients[k][j] (t - breaks[k])^j in every dimension. Before its
/// first and after its last break it rests at its start and at its end.
class PiecewisePolynomial {
 public:
  /// coefficients: pieces x order x dimension, row by row, powers ascending. Throws std::invalid_argument where breaks do
  /// not increase or sizes do not agree.
  PiecewisePolynomial(std::vector<double> breaks, std::vector<double> coefficients, int dimension);

  int dimension() const noexcept { return dimension_; }
  int order() const noexcept { return order_; }
  int pieces() const noexcept { return static_cast<int>(breaks_.size()) - 1; }
  double start() const noexcept { return breaks_.front(); }
  double end() const noexcept { return breaks_.back(); }
  const std::vector<double>& breaks() const noexcept { return breaks_; }
  const std::vector<double>& coefficients() const noexcept { return coefficients_; }

  /// Value and its first two derivatives; the next two where they have a place.
  void at(double t, double* x, double* dx, double* ddx, double* d3x = nullptr, double* d4x = nullptr) const noexcept;

 private:
  std::vector<double> breaks_, coefficients_;
  int dimension_, order_;
};

}  // namespace thunder
