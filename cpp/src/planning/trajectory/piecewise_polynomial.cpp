#include "thunder/planning/trajectory/piecewise_polynomial.hpp"

#include <algorithm>
#include <stdexcept>

namespace thunder {

PiecewisePolynomial::PiecewisePolynomial(std::vector<double> breaks, std::vector<double> coefficients, int dimension)
    : breaks_(std::move(breaks)), coefficients_(std::move(coefficients)), dimension_(dimension), order_(0) {
  if (breaks_.size() < 2) throw std::invalid_argument("breaks must be at least two");
  for (std::size_t k = 1; k < breaks_.size(); ++k)
    if (!(breaks_[k] > breaks_[k - 1]))
      throw std::invalid_argument("breaks must increase, got " + std::to_string(breaks_[k - 1]) + " and then " +
                                  std::to_string(breaks_[k]));
  const std::size_t rows = (breaks_.size() - 1) * static_cast<std::size_t>(std::max(dimension_, 0));
  if (rows == 0 || coefficients_.empty() || coefficients_.size() % rows != 0)
    throw std::invalid_argument("coefficients must be as many as pieces x order x dimension");
  order_ = static_cast<int>(coefficients_.size() / rows);
}

void PiecewisePolynomial::at(double t, double* x, double* dx, double* ddx, double* d3x, double* d4x) const noexcept {
  const double inside = std::min(std::max(t, start()), end());
  const auto next = std::upper_bound(breaks_.begin() + 1, breaks_.end() - 1, inside);
  const auto piece = static_cast<std::size_t>(next - breaks_.begin()) - 1;
  const double h = inside - breaks_[piece], moves = t == inside ? 1.0 : 0.0;
  const double* const c = coefficients_.data() + piece * static_cast<std::size_t>(order_ * dimension_);
  constexpr double kFactorials[] = {1.0, 1.0, 2.0, 6.0, 24.0};
  double* const out[] = {x, dx, ddx, d3x, d4x};
  const int derivatives = d4x != nullptr ? 4 : 2;
  for (int i = 0; i < dimension_; ++i) {  // Horner's scheme for the value and all derivatives, over their factorials
    double value[5] = {};
    for (int j = order_ - 1; j >= 0; --j) {
      for (int k = derivatives; k > 0; --k) value[k] = value[k] * h + value[k - 1];
      value[0] = value[0] * h + c[j * dimension_ + i];
    }
    x[i] = value[0];
    for (int k = 1; k <= derivatives; ++k) out[k][i] = moves * kFactorials[k] * value[k];
  }
}

}  // namespace thunder
