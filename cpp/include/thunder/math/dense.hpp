// Dense algebra of gains and mass matrices. Compiled once: every source that instantiated Eigen's products and decompositions
// would spend seconds on them.
#pragma once

#include <cstddef>
#include <string>

#include "matrices.hpp"

namespace thunder {

// for constructors
double smallest_eigenvalue(const Eigen::MatrixXd& symmetric);
double largest_eigenvalue(const Eigen::MatrixXd& symmetric);
Eigen::MatrixXd product(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);
/// A^-1 of a symmetric positive definite matrix. Throws std::invalid_argument, with the matrix's name, where its Cholesky
/// factorization fails: rounding makes it fail for a matrix that is nearly singular, even if its eigenvalues are computed
/// as positive.
Eigen::MatrixXd positive_definite_inverse(const Eigen::MatrixXd& A, const std::string& name);

// for steps: nothing is allocated

/// y += factor A x
void add_product(const Eigen::MatrixXd& A, const double* x, double* y, double factor = 1.0) noexcept;
/// Factors the symmetric n x n matrix A in place, see `cholesky`; false where a pivot is not positive.
bool factor_positive_definite(int n, double* A) noexcept;
/// x := A^-1 x after that.
void solve_positive_definite(int n, const double* A, double* x) noexcept;

// for inputs

/// True if all of `count` numbers are finite; as fast as memory is read.
bool all_finite(const double* x, std::size_t count) noexcept;

}  // namespace thunder
