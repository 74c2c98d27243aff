#include "thunder/planning/primitives/dmp_basis.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "thunder/math/matrices.hpp"

namespace thunder {

DmpBasis::DmpBasis(BasisKind kind, int count, double alpha, double overlap) : kind_(kind), alpha_(alpha) {
  if (count < 2 || count > kMostFunctions)
    throw std::invalid_argument("count must be 2 to " + std::to_string(kMostFunctions) + ", got " + std::to_string(count));
  if (!(alpha > 0.0) || !(overlap > 0.0)) throw std::invalid_argument("alpha and overlap must be positive");
  const auto n = static_cast<std::size_t>(count);
  if (periodic()) {
    const double step = 2.0 * kPi / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) centers_.push_back(step * static_cast<double>(i));
    const double half = std::sin(0.5 * step);
    widths_.assign(n, 1.0 / (overlap * overlap * 2.0 * half * half));
    return;
  }
  for (std::size_t i = 0; i < n; ++i)
    centers_.push_back(std::exp(-alpha * static_cast<double>(i) / static_cast<double>(n - 1)));
  for (std::size_t i = 0; i + 1 < n; ++i) widths_.push_back(1.0 / (overlap * (centers_[i] - centers_[i + 1])));
  widths_.push_back(widths_.back());
}

}  // namespace thunder
