#include "thunder/planning/primitives/damped_step.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace thunder {

namespace {

using Matrix5 = Eigen::Matrix<double, 5, 5>;

/// Taylor series of a fraction of the matrix, squared.
Matrix5 damped_exponential(const Matrix5& A) noexcept {
  const double norm = A.cwiseAbs().rowwise().sum().maxCoeff();
  const int squarings = std::min(60, std::max(0, static_cast<int>(std::ceil(std::log2(norm / 0.5)))));
  const Matrix5 part = std::ldexp(1.0, -squarings) * A;
  Matrix5 sum = Matrix5::Identity() + part, term = part;
  for (int k = 2; k <= 14; ++k) {
    term = (term.lazyProduct(part) / k).eval();
    sum += term;
  }
  for (int k = 0; k < squarings; ++k) sum = sum.lazyProduct(sum).eval();
  return sum;
}

/// Of y, z / w with w = sqrt(K), which balances the matrix, and of 1, u, u^2 / 2 with u the part of the step (Van Loan, 1978).
Matrix5 augmented(double K, double D, double h) noexcept {
  const double w = std::sqrt(K);
  Matrix5 A = Matrix5::Zero();
  A(0, 1) = h * w;
  A(1, 0) = -h * w;
  A(1, 1) = -h * D;
  A(1, 2) = h / w;
  A(2, 3) = A(3, 4) = 1.0;
  Matrix5 E = damped_exponential(A);
  E.row(1) *= w;
  E.col(1) /= w;
  return E;
}

}  // namespace

void DampedStep::prepare(double K, double D, double step) noexcept {
  if (step == h) return;
  h = step;
  const Matrix5 whole = augmented(K, D, h), part = augmented(K, D, 0.5 * h);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) full[i][j] = whole(i, j), half[i][j] = part(i, j);
    half_forcing[i] = part(i, 2);
    const double one = whole(i, 2), u = whole(i, 3), uu = 2.0 * whole(i, 4);
    push[0][i] = one - 3.0 * u + 2.0 * uu;
    push[1][i] = 4.0 * (u - uu);
    push[2][i] = 2.0 * uu - u;
  }
}

}  // namespace thunder
