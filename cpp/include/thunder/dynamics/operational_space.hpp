// Operational-space inertia of chosen rows of the Jacobian.
#pragma once

#include "../math/cholesky.hpp"
#include "manipulability.hpp"
#include "mass_matrix.hpp"

namespace thunder {

/// Lambda = (J M^-1 J')^-1, m x m row by row; not finite where the task is singular.
template <class S, class P>
void operational_space_inertia(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, TaskRows rows,
                               S* Lambda) {
  const int n = chain.n;
  const PerJoint<S> M(work, n * n), J(work, 6 * n), x(work, n);
  S A[36];
  mass_matrix(chain, work, q, M.data);
  cholesky(n, M.data);
  const int m = task_jacobian(chain, work, q, frame, rows, J.data);
  for (int r = 0; r < m; ++r) {
    for (int j = 0; j < n; ++j) x[j] = J[r * n + j];
    cholesky_solve(n, M.data, x.data);
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

}  // namespace thunder
