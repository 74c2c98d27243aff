// Partial derivatives by dual numbers, for everything that has no analytic recursion of its own: a kernel runs along the unit
// directions of its argument, of which a single state takes as many at once as a register holds joints.
#pragma once

#include "../math/dual.hpp"
#include "coriolis.hpp"
#include "forward_dynamics_derivatives.hpp"
#include "operational_space.hpp"

namespace thunder {

/// A value with its derivatives in some directions, one in each lane.
template <class S>
using Directional = Dual<Lane<S>>;

/// Arguments that stay constant, until some are seeded.
template <class S>
THUNDER_INLINE PerJoint<Directional<S>> lifted(Workspace& work, int n, const S* x) {
  const PerJoint<Directional<S>> values(work, n);
  for (int i = 0; i < n; ++i) values[i] = Directional<S>(Lane<S>(x[i]));
  return values;
}

/// out[e n + k] = d f_e / d x_k of the `size` values that kernel(work, f) computes from x.
template <class S, class F>
void partial_derivatives(Workspace work, int n, const PerJoint<Directional<S>>& x, int size, F&& kernel, S* out) {
  using L = Lane<S>;
  const PerJoint<Directional<S>> f(work, size);
  for (int k = 0; k < n; k += kLanes<S>) {
    const int count = n - k < kLanes<S> ? n - k : kLanes<S>;
    for (int l = 0; l < count; ++l) x[k + l].b = one_hot<S>(l);
    kernel(work, f.data);
    for (int l = 0; l < count; ++l) x[k + l].b = L(0.0);
    for (int e = 0; e < size; ++e) store_lanes(f[e].b, out + e * n + k, count);
  }
}

/// From the derivatives [f_q, f_dq, f_u] of f(q, dq, u), n x n each: d f_q / d q, d f_dq / d q, d f_u / d q, d f_dq / d dq, each
/// n x n x n with the second variable last.
template <class S, class F>
void second_derivatives(int n, Workspace work, const S* q, const S* dq, const S* u, F&& derivatives, S* out) {
  const int nn = n * n;
  const PerJoint<Directional<S>> x = lifted(work, n, q), v = lifted(work, n, dq), last = lifted(work, n, u);
  partial_derivatives<S>(work, n, x, 3 * nn,
                         [&](Workspace w, Directional<S>* first) { derivatives(w, x.data, v.data, last.data, first); }, out);
  const PerJoint<Directional<S>> all(work, 3 * nn);
  partial_derivatives<S>(
      work, n, v, nn,
      [&](Workspace w, Directional<S>* by_dq) {
        derivatives(w, x.data, v.data, last.data, all.data);
        for (int e = 0; e < nn; ++e) by_dq[e] = all[nn + e];
      },
      out + 3 * nn * n);
}

/// Of tau(q, dq, ddq): by q q, by dq q, dM / dq, by dq dq; n x n x n each.
template <class S, class P>
void inverse_dynamics_second_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* out) {
  const auto first = [&](Workspace w, const auto* x, const auto* v, const auto* a, auto* derivatives) {
    inverse_dynamics_derivatives(chain, w, x, v, a, derivatives);
  };
  second_derivatives(chain.n, work, q, dq, ddq, first, out);
}

/// Of ddq(q, dq, tau): by q q, by dq q, d M^-1 / dq, by dq dq; n x n x n each.
template <class S, class P>
void forward_dynamics_second_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* tau, S* out) {
  const auto first = [&](Workspace w, const auto* x, const auto* v, const auto* t, auto* derivatives) {
    forward_dynamics_derivatives(chain, w, x, v, t, derivatives);
  };
  second_derivatives(chain.n, work, q, dq, tau, first, out);
}

/// dM_ij / dq_k at [i][j][k]; n x n x n.
template <class S, class P>
void mass_matrix_derivative(const ChainView<P>& chain, Workspace work, const S* q, S* dM) {
  const PerJoint<Directional<S>> x = lifted(work, chain.n, q);
  partial_derivatives<S>(work, chain.n, x, chain.n * chain.n,
                         [&](Workspace w, Directional<S>* M) { mass_matrix(chain, w, x.data, M); }, dM);
}

/// dC_ij / dq_k at [i][j][k]; n x n x n.
template <class S, class P>
void coriolis_matrix_derivative(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* dC) {
  const int n = chain.n;
  const PerJoint<Directional<S>> x = lifted(work, n, q), v = lifted(work, n, dq);
  partial_derivatives<S>(work, n, x, n * n,
                         [&](Workspace w, Directional<S>* C) { coriolis_matrix(chain, w, x.data, v.data, C); }, dC);
}

/// dLambda_ij / dq_k at [i][j][k]; m x m x n.
template <class S, class P>
void operational_space_inertia_derivative(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame,
                                          TaskRows rows, S* dLambda) {
  const PerJoint<Directional<S>> x = lifted(work, chain.n, q);
  partial_derivatives<S>(
      work, chain.n, x, rows.count() * rows.count(),
      [&](Workspace w, Directional<S>* Lambda) { operational_space_inertia(chain, w, x.data, frame, rows, Lambda); }, dLambda);
}

}  // namespace thunder
