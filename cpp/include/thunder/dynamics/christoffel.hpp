// Christoffel symbols of the first kind, from the linearity of C in the velocity.
#pragma once

#include "mass_coriolis.hpp"

namespace thunder {

/// Gamma_ijk with C_ij = sum_k Gamma_ijk dq_k; n x n x n.
template <class S, class P>
void christoffel_symbols(const ChainView<P>& chain, const S* q, S* Gamma) {
  const int n = chain.n;
  S M[kMaxJoints * kMaxJoints], C[kMaxJoints * kMaxJoints];
  PerJoint<S> unit;
  for (int i = 0; i < n; ++i) unit[i] = S(0.0);
  for (int k = 0; k < n; ++k) {
    unit[k] = S(1.0);
    mass_coriolis(chain, q, unit.data, M, C);
    unit[k] = S(0.0);
    for (int ij = 0; ij < n * n; ++ij) Gamma[ij * n + k] = C[ij];
  }
}

}  // namespace thunder
