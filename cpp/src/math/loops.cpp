#include "thunder/math/loops.hpp"

#include "thunder/math/cholesky.hpp"

namespace thunder {

void add_product(std::ptrdiff_t rows, std::ptrdiff_t columns, const double* A, const double* x, double* y,
                 double factor) noexcept {
  for (std::ptrdiff_t j = 0; j < columns; ++j, A += rows) {
    const double weight = factor * x[j];
    for (std::ptrdiff_t i = 0; i < rows; ++i) y[i] += A[i] * weight;
  }
}

bool factor_positive_definite(int n, double* A) noexcept {
  cholesky(n, A);
  bool positive = true;
  for (int i = 0; i < n; ++i) positive &= A[i * (n + 1)] > 0.0;
  return positive;
}

void solve_positive_definite(int n, const double* A, double* x) noexcept { cholesky_solve(n, A, x); }

bool all_finite(const double* x, std::size_t count) noexcept {
  // 0 x is NaN unless x is finite, and NaN stays in a sum; separate sums, so that they are vectorized
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += 0.0 * x[i + k];
  double sum = 0.0;
  for (; i < count; ++i) sum += 0.0 * x[i];
  for (const double s : sums) sum += s;
  return sum == 0.0;
}

}  // namespace thunder
