#include "thunder/math/dense.hpp"

#include <stdexcept>

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

MatrixXd least_squares_inverse(const MatrixXd& A) {
  return A.colPivHouseholderQr().solve(MatrixXd::Identity(A.rows(), A.rows()));
}

MatrixXd positive_definite_inverse(const MatrixXd& A, const std::string& name) {
  const int n = static_cast<int>(A.rows());
  MatrixXd factors = A, inverse = MatrixXd::Identity(n, n);
  if (!factor_positive_definite(n, factors.data()))
    throw std::invalid_argument(name + " must be positive definite, its Cholesky factorization fails");
  for (int j = 0; j < n; ++j) solve_positive_definite(n, factors.data(), inverse.col(j).data());
  return inverse;
}

}  // namespace thunder
