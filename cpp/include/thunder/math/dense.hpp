// Dense algebra of gains and mass matrices. Compiled once: every source that instantiated Eigen's products and decompositions
// would spend seconds on them.
#pragma once

#include <string>

#include "loops.hpp"
#include "matrices.hpp"

namespace thunder {

// for constructors
double smallest_eigenvalue(const Eigen::MatrixXd& symmetric);
double largest_eigenvalue(const Eigen::MatrixXd& symmetric);
Eigen::MatrixXd product(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// The X of smallest |A X - 1|.
Eigen::MatrixXd least_squares_inverse(const Eigen::MatrixXd& A);
/// A^-1 of a symmetric positive definite matrix. Throws std::invalid_argument, with the matrix's name, where its Cholesky
/// factorization fails: rounding makes it fail for a matrix that is nearly singular, even if its eigenvalues are computed
/// as positive.
Eigen::MatrixXd positive_definite_inverse(const Eigen::MatrixXd& A, const std::string& name);

// for steps: nothing is allocated

/// y += factor A x
inline void add_product(const Eigen::MatrixXd& A, const double* x, double* y, double factor = 1.0) noexcept {
  add_product(A.rows(), A.cols(), A.data(), x, y, factor);
}

}  // namespace thunder
