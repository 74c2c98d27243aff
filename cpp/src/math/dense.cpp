#include "thunder/math/dense.hpp"

#include <stdexcept>

#include "thunder/math/cholesky.hpp"

namespace thunder {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

VectorXd eigenvalues(const MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace

double smallest_eigenvalue(const MatrixXd& symmetric) { return eigenvalues(symmetric)[0]; }

double largest_eigenvalue(const MatrixXd& symmetric) { return eigenvalues(symmetric)[symmetric.rows() - 1]; }

MatrixXd product(const MatrixXd& A, const MatrixXd& B) { return A * B; }

MatrixXd positive_definite_inverse(const MatrixXd& A, const std::string& name) {
  const int n = static_cast<int>(A.rows());
  MatrixXd factors = A, inverse = MatrixXd::Identity(n, n);
  if (!factor_positive_definite(n, factors.data()))
    throw std::invalid_argument(name + " must be positive definite, its Cholesky factorization fails");
  for (int j = 0; j < n; ++j) solve_positive_definite(n, factors.data(), inverse.col(j).data());
  return inverse;
}

void add_product(const MatrixXd& A, const double* x, double* y, double factor) noexcept {
  const Eigen::Index rows = A.rows(), columns = A.cols();
  const double* column = A.data();
  for (Eigen::Index j = 0; j < columns; ++j, column += rows) {
    const double weight = factor * x[j];
    for (Eigen::Index i = 0; i < rows; ++i) y[i] += column[i] * weight;
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
