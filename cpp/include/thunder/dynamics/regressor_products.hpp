// Partial derivatives of products with the regressors, which need no regressor. Y pi and Y_r pi are torques of the arm with
// the parameters pi; Y' s holds the power of the wrenches of unit parameters on the motion that the joint velocities s give.
#pragma once

#include <type_traits>

#include "../model/parameters.hpp"
#include "momentum.hpp"
#include "partial_derivatives.hpp"
#include "regressor.hpp"

namespace thunder {

/// Values that come in as the scalar of states, as the scalar of parameters.
template <class P, class S>
THUNDER_INLINE const P* as_parameters(const S* values) {
  static_assert(sizeof(P) == sizeof(S));
  return reinterpret_cast<const P*>(values);
}

/// Of Y(q, dq, ddq) pi by q, dq and ddq, n x n each.
template <class S, class P>
void regressor_product_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, const S* pi,
                                   S* out) {
  const ParameterMemory<P> memory = parameter_memory(chain, work);
  inverse_dynamics_derivatives(with_parameters(chain, as_parameters<P>(pi), memory), work, q, dq, ddq, out);
}

/// Of Y_r(q, dq, dq_r, ddq_r) pi by q, dq, dq_r and ddq_r, n x n each. C is bilinear and symmetric, so that with
/// s = (dq + dq_r) / 2 and d = (dq - dq_r) / 2 the torque is ID(q, s, ddq_r) - ID(q, d, 0), the latter without gravity.
template <class S, class P>
void slotine_li_product_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* dq_r,
                                    const S* ddq_r, const S* pi, S* out) {
  const int n = chain.n, nn = n * n;
  const ParameterMemory<P> memory = parameter_memory(chain, work);
  ChainView<P> other = with_parameters(chain, as_parameters<P>(pi), memory);
  const ChainView<P> rubbing = other;
  other.friction_count = 0;
  const PerJoint<S> sum(work, n), difference(work, n), rest = zeros<S>(work, n), weightless(work, 3 * nn);
  for (int i = 0; i < n; ++i) {
    sum[i] = (dq[i] + dq_r[i]) * 0.5;
    difference[i] = (dq[i] - dq_r[i]) * 0.5;
  }
  S *by_dq = out + nn, *by_dq_r = by_dq + nn, *M = by_dq_r + nn;
  inverse_dynamics_derivatives(other, work, q, sum.data, ddq_r, out);
  other.gravity = {P(0.0), P(0.0), P(0.0)};
  inverse_dynamics_derivatives(other, work, q, difference.data, rest.data, weightless.data);
  for (int e = 0; e < nn; ++e) {
    const S of_sum = by_dq[e] * 0.5, of_difference = weightless[nn + e] * 0.5;
    out[e] -= weightless[e];
    M[e] = weightless[2 * nn + e];
    by_dq[e] = of_sum - of_difference;
    by_dq_r[e] = of_sum + of_difference;
  }
  add_friction_slopes(rubbing, dq, by_dq);
}

/// Y_r(q, v, v_r, a_r)' s, p values; `classical`: the reference velocity is the velocity.
template <bool classical, class S, class P>
void transposed_regressor_product(const ChainView<P>& chain, Workspace work, const S* q, const S* v, const S* v_r, const S* a_r,
                                  const S* s, S* out) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<Turn, S> turns(work, chain.n);
  joint_turns(chain, q, chain.n, turns);
  ReferenceMotion<S> m{zero, zero, zero, root_acceleration<S>(chain.root, chain.gravity)};
  Screw<S> t{zero, zero};  // of the link under the velocities s
  for (int i = 0; i <= chain.n; ++i) {
    for (int k = 0; k < chain.rotor_count; ++k) {
      const Rotor<P>& rotor = chain.rotors[k];
      if (rotor.carrier != i) continue;
      const RotorColumn<S> column = rotor_column(rotor, m, v, v_r, a_r);
      out[chain.rotor_column(k)] = dot(t.w, column.moment) + s[rotor.joint] * column.torque;
    }
    if (i == chain.n) break;
    const Link<P>& link = chain.links[i];
    const bool revolute = link.type == JointType::revolute;
    const JointStep<S, P> step(link, turns.get(i), q[i]);
    m = next_motion<classical>(m, ReferenceProducts<S>(m).A, step, revolute, v[i], v_r[i], a_r[i]);
    t = next_twist(t, step, revolute, s[i]);
    const ReferenceMotion<S> at_link = link.has_offset ? seen_from(m, link.offset) : m;
    const LinkColumns<S> columns(at_link, ReferenceProducts<S>(at_link));
    columns.write(link.has_offset ? seen_from(t, link.offset) : t, out + kLinkParameters * i);
    for (int k = 0; k < chain.friction_count; ++k)
      out[chain.friction_column(i, k)] = friction_basis(chain.friction_terms[k], v[i], chain.delta) * s[i];
    if (chain.has_armature) out[chain.armature_column(i)] = a_r[i] * s[i];
  }
}

/// Of Y(q, dq, ddq)' s by q, dq and ddq, p x n each.
template <class S, class P>
void transposed_regressor_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, const S* s,
                                      S* out) {
  const int n = chain.n, p = chain.parameters();
  const PerJoint<Directional<S>> x[] = {lifted(work, n, q), lifted(work, n, dq), lifted(work, n, ddq)}, u = lifted(work, n, s);
  for (int k = 0; k < 3; ++k)
    partial_derivatives<S>(
        work, n, x[k], p,
        [&](Workspace w, Directional<S>* y) {
          transposed_regressor_product<true>(chain, w, x[0].data, x[1].data, x[1].data, x[2].data, u.data, y);
        },
        out + k * p * n);
}

/// Of Y_r(q, dq, dq_r, ddq_r)' s by q, dq, dq_r and ddq_r, p x n each.
template <class S, class P>
void transposed_slotine_li_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* dq_r,
                                       const S* ddq_r, const S* s, S* out) {
  const int n = chain.n, p = chain.parameters();
  const PerJoint<Directional<S>> x[] = {lifted(work, n, q), lifted(work, n, dq), lifted(work, n, dq_r), lifted(work, n, ddq_r)};
  const PerJoint<Directional<S>> u = lifted(work, n, s);
  for (int k = 0; k < 4; ++k)
    partial_derivatives<S>(
        work, n, x[k], p,
        [&](Workspace w, Directional<S>* y) {
          transposed_regressor_product<false>(chain, w, x[0].data, x[1].data, x[2].data, x[3].data, u.data, y);
        },
        out + k * p * n);
}

}  // namespace thunder
