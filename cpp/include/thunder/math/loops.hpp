// Loops over plain arrays, in a source of their own that is compiled for speed and reads no Eigen. Nothing is allocated.
#pragma once

#include <cstddef>

namespace thunder {

/// y += factor A x for a matrix A by columns.
void add_product(std::ptrdiff_t rows, std::ptrdiff_t columns, const double* A, const double* x, double* y,
                 double factor) noexcept;
/// Factors the symmetric n x n matrix A in place, see `cholesky`; false where a pivot is not positive.
bool factor_positive_definite(int n, double* A) noexcept;
/// x := A^-1 x after that.
void solve_positive_definite(int n, const double* A, double* x) noexcept;

/// True if all of `count` numbers are finite; as fast as memory is read.
bool all_finite(const double* x, std::size_t count) noexcept;

}  // namespace thunder
