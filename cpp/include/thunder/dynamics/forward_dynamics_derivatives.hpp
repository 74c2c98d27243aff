// Partial derivatives of the forward dynamics. M ddq + h(q, dq) = tau holds along the solution ddq(q, dq, tau), so
//   d ddq / d q = -M^-1 (d ID / d q),  d ddq / d dq = -M^-1 (d ID / d dq),  d ddq / d tau = M^-1,
// with the derivatives of the inverse dynamics ID at that ddq.
#pragma once

#include "forward_dynamics.hpp"
#include "inverse_dynamics_derivatives.hpp"

namespace thunder {

/// d ddq / d q, d ddq / d dq and d ddq / d tau = M^-1, each n x n row by row.
template <class S, class P>
void forward_dynamics_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* tau, S* out) {
  const int n = chain.n, columns = kLanes<S> == 1 ? 3 * n : padded_joints(3 * n);
  const PerJoint<S> ddq(work, n), torque(work, 3 * n * n), X(work, n * columns);
  S* const M = torque.data + 2 * n * n;
  forward_dynamics(chain, work, q, dq, tau, ddq.data);
  inverse_dynamics_derivatives(chain, work, q, dq, ddq.data, torque.data);
  for (int i = 0; i < n; ++i) {
    S* const row = X.data + i * columns;
    for (int j = 0; j < n; ++j) {
      row[j] = -torque[i * n + j];
      row[n + j] = -torque[(n + i) * n + j];
    }
    for (int j = 2 * n; j < columns; ++j) row[j] = S(j == 2 * n + i ? 1.0 : 0.0);
  }
  cholesky(n, M);
  cholesky_solve(n, M, columns, X.data);
  for (int block = 0; block < 3; ++block)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) out[(block * n + i) * n + j] = X[i * columns + block * n + j];
  mirror(n, out + 2 * n * n);
}

}  // namespace thunder
