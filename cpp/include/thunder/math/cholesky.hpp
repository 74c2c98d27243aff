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

}  // namespace thunder
