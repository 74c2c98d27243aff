// First and second time derivatives along the motion, by running the kernels on dual numbers.
#pragma once

#include "../math/dual.hpp"
#include "coriolis.hpp"
#include "gravity.hpp"
#include "inverse_dynamics.hpp"

namespace thunder {

template <class S>
THUNDER_INLINE void seed(int n, const S* value, const S* derivative, Dual<S>* out) {
  for (int i = 0; i < n; ++i) out[i] = Dual<S>(value[i], derivative[i]);
}

/// dC/dt along (dq, ddq)
template <class S, class P>
void coriolis_matrix_dot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* Cd) {
  const int n = chain.n;
  const PerJoint<Dual<S>> x(work, n), v(work, n), C(work, n * n);
  seed(n, q, dq, x.data);
  seed(n, dq, ddq, v.data);
  coriolis_matrix(chain, work, x.data, v.data, C.data);
  for (int i = 0; i < n * n; ++i) Cd[i] = C[i].b;
}

/// dG/dt along dq
template <class S, class P>
void gravity_vector_dot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* Gd) {
  const PerJoint<Dual<S>> x(work, chain.n), G(work, chain.n);
  seed(chain.n, q, dq, x.data);
  gravity_vector(chain, work, x.data, G.data);
  for (int i = 0; i < chain.n; ++i) Gd[i] = G[i].b;
}

/// d/dt of the inverse dynamics along (dq, ddq, d3q)
template <class S, class P>
void inverse_dynamics_dot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, const S* d3q,
                          S* out) {
  const int n = chain.n;
  const PerJoint<Dual<S>> x(work, n), v(work, n), a(work, n), tau(work, n);
  seed(n, q, dq, x.data);
  seed(n, dq, ddq, v.data);
  seed(n, ddq, d3q, a.data);
  inverse_dynamics(chain, work, x.data, v.data, a.data, tau.data);
  for (int i = 0; i < n; ++i) out[i] = tau[i].b;
}

/// d2M/dt2 = C_dot + C_dot'
template <class S, class P>
void mass_matrix_ddot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* Mdd) {
  const int n = chain.n;
  const PerJoint<S> Cd(work, n * n);
  coriolis_matrix_dot(chain, work, q, dq, ddq, Cd.data);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) Mdd[i * n + j] = Cd[i * n + j] + Cd[j * n + i];
}

/// A quantity along its path, to second order: in [f + e1 f', f' + e1 f''] the last part is the second derivative.
template <class S>
THUNDER_INLINE void seed(int n, const S* value, const S* first, const S* second, Dual<Dual<S>>* out) {
  for (int i = 0; i < n; ++i) out[i] = {{value[i], first[i]}, {first[i], second[i]}};
}

/// d2/dt2 of the inverse dynamics along (dq, ddq, d3q, d4q)
template <class S, class P>
void inverse_dynamics_ddot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, const S* d3q,
                           const S* d4q, S* out) {
  const int n = chain.n;
  const PerJoint<Dual<Dual<S>>> x(work, n), v(work, n), a(work, n), tau(work, n);
  seed(n, q, dq, ddq, x.data);
  seed(n, dq, ddq, d3q, v.data);
  seed(n, ddq, d3q, d4q, a.data);
  inverse_dynamics(chain, work, x.data, v.data, a.data, tau.data);
  for (int i = 0; i < n; ++i) out[i] = tau[i].b.b;
}

/// d2C/dt2 along (dq, ddq, d3q)
template <class S, class P>
void coriolis_matrix_ddot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, const S* d3q, S* Cdd) {
  const int n = chain.n;
  const PerJoint<Dual<Dual<S>>> x(work, n), v(work, n), C(work, n * n);
  seed(n, q, dq, ddq, x.data);
  seed(n, dq, ddq, d3q, v.data);
  coriolis_matrix(chain, work, x.data, v.data, C.data);
  for (int i = 0; i < n * n; ++i) Cdd[i] = C[i].b.b;
}

/// d2G/dt2 along (dq, ddq)
template <class S, class P>
void gravity_vector_ddot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* Gdd) {
  const PerJoint<Dual<Dual<S>>> x(work, chain.n), G(work, chain.n);
  seed(chain.n, q, dq, ddq, x.data);
  gravity_vector(chain, work, x.data, G.data);
  for (int i = 0; i < chain.n; ++i) Gdd[i] = G[i].b.b;
}

/// d2J/dt2 along (dq, ddq)
template <class S, class P>
void jacobian_ddot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, const Frame<P>& frame, S* Jdd) {
  const PerJoint<Dual<S>> x(work, chain.n), v(work, chain.n), Jd(work, 6 * chain.n);
  seed(chain.n, q, dq, x.data);
  seed(chain.n, dq, ddq, v.data);
  jacobian_dot(chain, work, x.data, v.data, frame, Jd.data);
  for (int i = 0; i < 6 * chain.n; ++i) Jdd[i] = Jd[i].b;
}

}  // namespace thunder
