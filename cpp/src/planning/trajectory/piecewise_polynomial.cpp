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

void PiecewisePolynomial::at(double t, double* x, double* dx, double* ddx) const noexcept {
  const double inside = std::min(std::max(t, start()), end());
  const auto next = std::upper_bound(breaks_.begin() + 1, breaks_.end() - 1, inside);
  const auto piece = static_cast<std::size_t>(next - breaks_.begin()) - 1;
  const double h = inside - breaks_[piece], moves = t == inside ? 1.0 : 0.0;
  const double* const c = coefficients_.data() + piece * static_cast<std::size_t>(order_ * dimension_);
  for (int i = 0; i < dimension_; ++i) {  // Horner's scheme for the value and both derivatives at once
    double value = 0.0, first = 0.0, half_second = 0.0;
    for (int j = order_ - 1; j >= 0; --j) {
      half_second = half_second * h + first;
      first = first * h + value;
      value = value * h + c[j * dimension_ + i];
    }
    x[i] = value;
    dx[i] = moves * first;
    ddx[i] = moves * 2.0 * half_second;
  }
}

}  // namespace thunder
