// Task-space inertia and manipulability of chosen rows of the Jacobian.
#pragma once

#include "../math/cholesky.hpp"
#include "kinematics.hpp"
#include "mass_coriolis.hpp"

namespace thunder {

/// Chosen rows of a 6 x n Jacobian: bit r keeps row r.
struct TaskRows {
  int mask = 0x3f;
  THUNDER_INLINE int count() const { return __builtin_popcount(static_cast<unsigned>(mask)); }
};

template <class S, class P>
int task_jacobian(const ChainView<P>& chain, const S* q, const Frame<P>& frame, TaskRows rows, S* J) {
  S full[6 * kMaxJoints];
  jacobian(chain, q, frame, full);
  int m = 0;
  for (int r = 0; r < 6; ++r) {
    if (!(rows.mask >> r & 1)) continue;
    for (int j = 0; j < chain.n; ++j) J[m * chain.n + j] = full[r * chain.n + j];
    ++m;
  }
  return m;
}

/// Lambda = (J M^-1 J')^-1, m x m row by row; not finite where the task is singular.
template <class S, class P>
void operational_space_inertia(const ChainView<P>& chain, const S* q, const Frame<P>& frame, TaskRows rows, S* Lambda) {
  const int n = chain.n;
  S M[kMaxJoints * kMaxJoints], J[6 * kMaxJoints], x[kMaxJoints], A[36];
  mass_matrix(chain, q, M);
  cholesky(n, M);
  const int m = task_jacobian(chain, q, frame, rows, J);
  for (int r = 0; r < m; ++r) {
    for (int j = 0; j < n; ++j) x[j] = J[r * n + j];
    cholesky_solve(n, M, x);
    for (int k = 0; k < m; ++k) {
      S sum(0.0);
      for (int j = 0; j < n; ++j) sum += J[k * n + j] * x[j];
      A[k * m + r] = sum;
    }
  }
  cholesky(m, A);
  for (int r = 0; r < m; ++r) {
    S e[6];
    for (int k = 0; k < m; ++k) e[k] = S(k == r ? 1.0 : 0.0);
    cholesky_solve(m, A, e);
    for (int k = 0; k < m; ++k) Lambda[k * m + r] = e[k];
  }
}

/// sqrt(det(J J')), Yoshikawa's measure: the product of the rows' lengths once each is cleared of those before.
template <class S, class P>
void manipulability(const ChainView<P>& chain, const S* q, const Frame<P>& frame, TaskRows rows, S* w) {
  using std::sqrt;
  const int n = chain.n;
  S J[6 * kMaxJoints], squares[6];
  const int m = task_jacobian(chain, q, frame, rows, J);
  S product(1.0);
  for (int r = 0; r < m; ++r) {
    S* row = J + r * n;
    for (int k = 0; k < r; ++k) {
      S overlap(0.0);
      for (int j = 0; j < n; ++j) overlap += row[j] * J[k * n + j];
      overlap = overlap / squares[k];
      for (int j = 0; j < n; ++j) row[j] -= J[k * n + j] * overlap;
    }
    S square(0.0);
    for (int j = 0; j < n; ++j) square += row[j] * row[j];
    product = product * sqrt(square);
    squares[r] = square + 1e-300;  // a row of zeros has no overlap with any other
  }
  *w = product;
}

}  // namespace thunder
