// Coriolis matrix of Christoffel form, quantities derived from it, and the Christoffel symbols.
#pragma once

#include "mass_coriolis.hpp"

namespace thunder {

/// C(q, dq), n x n row by row.
template <class S, class P>
void coriolis_matrix(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* C) {
  const PerJoint<S> M(work, chain.n * chain.n);
  mass_coriolis(chain, work, q, dq, M.data, C);
}

/// dM/dt = C + C'
template <class S, class P>
void mass_matrix_dot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* Md) {
  const int n = chain.n;
  const PerJoint<S> C(work, n * n);
  coriolis_matrix(chain, work, q, dq, C.data);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) Md[i * n + j] = C[i * n + j] + C[j * n + i];
}

/// M, C and M_dot in one array, 3 x n x n: one pass gives all.
template <class S, class P>
void mass_and_coriolis(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* out) {
  const int n = chain.n;
  S *M = out, *C = M + n * n, *M_dot = C + n * n;
  mass_coriolis(chain, work, q, dq, M, C);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) M_dot[i * n + j] = C[i * n + j] + C[j * n + i];
}

/// Gamma_ijk with C_ij = sum_k Gamma_ijk dq_k; n x n x n.
template <class S, class P>
void christoffel_symbols(const ChainView<P>& chain, Workspace work, const S* q, S* Gamma) {
  const int n = chain.n;
  const PerJoint<S> M(work, n * n), C(work, n * n), unit = zeros<S>(work, n);
  for (int k = 0; k < n; ++k) {
    unit[k] = S(1.0);
    mass_coriolis(chain, work, q, unit.data, M.data, C.data);
    unit[k] = S(0.0);
    for (int ij = 0; ij < n * n; ++ij) Gamma[ij * n + k] = C[ij];
  }
}

}  // namespace thunder
