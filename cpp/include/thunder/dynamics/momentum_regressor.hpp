// Regressors of the generalized momentum p = M dq, of its drift C' dq and of gravity, which need no accelerations:
// p' = tau + C' dq - G - friction.
//
// The momentum of a body is to its twist what the wrench is to an acceleration, so the columns of a link are those of
// the classical regressor for an arm at rest that is accelerated by its velocity. Row j of P is their power on the
// screw of joint j, row j of the drift that on the rate of the screw, v_j x S_j.
#pragma once

#include "momentum.hpp"
#include "regressor.hpp"

namespace thunder {

/// Screws of the joints before joint i, moved into its frame.
template <class S, class P>
THUNDER_INLINE void move_rates(int i, const JointStep<S, P>& step, Joints<Screw, S>& rates) {
  using L = Lane<S>;
  const JointStep<L, P> wide = widened<L>(step);
  for (int j = 0; j < i; j += kLanes<S>) {
    const Screw<L> s = rates.load(j);
    rates.store(j, Screw<L>{wide.down(s.w), wide.down(s.u + cross(s.w, wide.p))});
  }
}

/// Columns of link i of the drift.
template <class S, class P>
THUNDER_INLINE void write_drift(const ChainView<P>& chain, int i, const ReferenceMotion<S>& m,
                                const ReferenceProducts<S>& products, const Joints<Screw, S>& rates, int p, S* Y) {
  using Columns = RowWriter<S>;
  const Link<P>& link = chain.links[i];
  const ReferenceMotion<S> at_link = link.has_offset ? seen_from(m, link.offset) : m;
  const Columns columns(link.has_offset ? LinkColumns<S>(at_link, ReferenceProducts<S>(at_link))
                                        : LinkColumns<S>(m, products));
  S* row = Y + kLinkParameters * i;
  for (int j = 0; j <= i; ++j, row += p)
    columns.write(link.has_offset ? seen_from(rates.get(j), link.offset) : rates.get(j), row);
  for (int j = i + 1; j < chain.n; ++j, row += p)
    for (int k = 0; k < kLinkParameters; ++k) row[k] = S(0.0);
}

template <class S, class P>
THUNDER_INLINE void write_rotor_drift(const ChainView<P>& chain, int k, const ReferenceMotion<S>& m,
                                      const Joints<Screw, S>& rates, const S* dq, int p, S* Y) {
  const Rotor<P>& rotor = chain.rotors[k];
  const Vec3<S> axis = as<S>(rotor.axis);
  const S spin = spin_of(rotor, m.e, dq);
  for (int j = 0; j < chain.n; ++j)
    Y[j * p + chain.rotor_column(k)] = j < rotor.carrier ? dot(rates.get(j).w, axis) * spin : S(0.0);
}

/// P pi = M(q) dq, D pi = C(q, dq)' dq and G pi = G(q), n x p each, row by row.
template <class S, class Q>
void momentum_regressors(const ChainView<Q>& chain, Workspace work, const S* q, const S* dq, S* P, S* D, S* G) {
  const int p = chain.parameters();
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<Turn, S> turns(work, chain.n);
  Joints<Screw, S> screws(work, chain.n), rates(work, chain.n);
  const PerJoint<S> rest = zeros<S>(work, chain.n);
  for (int i = 0; i < chain.n; ++i) rates.clear(i);
  rates.pad(chain.n);
  joint_turns(chain, q, chain.n, turns);
  ReferenceMotion<S> m{zero, zero, zero, zero};  // the twist, in place of accelerations
  ReferenceMotion<S> weight{zero, zero, zero, root_acceleration<S>(chain.root, chain.gravity)};
  const ReferenceProducts<S> still(m);
  const auto rotors_of = [&](int carrier) {
    for (int k = 0; k < chain.rotor_count; ++k) {
      if (chain.rotors[k].carrier != carrier) continue;
      write_rotor_column(chain, k, m, screws, rest.data, rest.data, dq, p, P);
      write_rotor_drift(chain, k, m, rates, dq, p, D);
      for (int j = 0; j < chain.n; ++j) G[j * p + chain.rotor_column(k)] = S(0.0);
    }
  };
  rotors_of(0);
  ReferenceProducts<S> products(m);
  for (int i = 0; i < chain.n; ++i) {
    const Link<Q>& link = chain.links[i];
    const bool revolute = link.type == JointType::revolute;
    const JointStep<S, Q> step(link, turns.get(i), q[i]);
    m = next_motion<true>(m, products.A, step, revolute, rest[i], rest[i], dq[i]);
    products = ReferenceProducts<S>(m);
    weight.a = step.down(weight.a);
    move_screws(i, revolute, step, screws);
    move_rates(i, step, rates);
    rates.set(i, rate_of_axis<S>(revolute, {m.e, m.a}));
    write_link(chain, i, m, products, screws, p, P);
    write_drift(chain, i, m, products, rates, p, D);
    write_link(chain, i, weight, still, screws, p, G);
    rotors_of(i + 1);
  }
  write_armature_columns(chain, dq, P);
  for (S* Y : {D, G}) write_armature_columns(chain, rest.data, Y);
  for (S* Y : {P, D, G}) clear_friction_columns(chain, Y);
}

}  // namespace thunder
