// Cholesky factorization A = L D L' of small dense symmetric matrices, for any scalar, in place and branch-free.
// A pivot that is not positive shows in D: the caller decides what that means.
#pragma once

#include "lanes.hpp"
#include "linear.hpp"

namespace thunder {

/// x / d; recorded, all quotients by d share one division.
template <class S>
THUNDER_INLINE S quotient(const S& x, const S& d) {
  if constexpr (kPrefersLinkFrames<S>) return x * (S(1.0) / d);
  return x / d;
}

/// Lower triangle of A (n x n row by row) becomes L below the diagonal and D on it.
template <class S>
void cholesky(int n, S* A) {
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) {
      S scaled = A[j * n + k];  // still L_jk D_k
      const S l = quotient(scaled, A[k * n + k]);
      A[j * n + j] -= l * scaled;
      for (int i = j + 1; i < n; ++i) A[i * n + j] -= A[i * n + k] * l;
      A[j * n + k] = l;
    }
  }
}

/// x := A^-1 x after `cholesky`.
template <class S>
void cholesky_solve(int n, const S* A, S* x) {
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) x[i] -= A[i * n + k] * x[k];
  for (int i = 0; i < n; ++i) x[i] = quotient(x[i], A[i * n + i]);
  for (int i = n - 2; i >= 0; --i)
    for (int k = i + 1; k < n; ++k) x[i] -= A[k * n + i] * x[k];
}

/// row i -= k row j, of rows of whole lanes.
template <class S>
THUNDER_INLINE void subtract_row(int columns, const S* from, const S& k, S* row) {
  using L = Lane<S>;
  const L factor(k);
  for (int c = 0; c < columns; c += kLanes<S>)
    store_lanes(load_lanes<L>(row + c) - load_lanes<L>(from + c) * factor, row + c);
}

/// X := A^-1 X after `cholesky`, for n rows of `columns` entries, a multiple of the lanes.
template <class S>
void cholesky_solve(int n, const S* A, int columns, S* X) {
  using L = Lane<S>;
  for (int k = 0; k < n; ++k) {
    S* const row = X + k * columns;
    for (int i = k + 1; i < n; ++i) subtract_row(columns, row, A[i * n + k], X + i * columns);
    const L inverse(S(1.0) / A[k * n + k]);
    for (int c = 0; c < columns; c += kLanes<S>) store_lanes(load_lanes<L>(row + c) * inverse, row + c);
  }
  for (int k = n - 1; k > 0; --k)
    for (int i = 0; i < k; ++i) subtract_row(columns, X + k * columns, A[k * n + i], X + i * columns);
}

}  // namespace thunder
