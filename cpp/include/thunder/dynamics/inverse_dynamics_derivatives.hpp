// Partial derivatives of the inverse dynamics, analytic, from composite bodies at the root (Singh, Russell and Wensing, 2022).
//
// A screw S_j fixed in link j has the rates S_j' = v_j x S_j and S_j'' = a_j x S_j + v_j x S_j'. With the inertia I, the Coriolis
// factor B (see mass_coriolis.hpp) and the wrench F of the composite body that joint k carries, for j <= k
//   d tau_k / d q_j  = 2 (B' S_k) . S_j' + (I S_k) . S_j''      d tau_j / d q_k  = S_j . (2 B S_k' + I S_k'' + S_k x* F)
//   d tau_k / d dq_j = 2 (B' S_k) . S_j + 2 (I S_k) . S_j'      d tau_j / d dq_k = S_j . 2 (B S_k + I S_k').
#pragma once

#include "../math/dual.hpp"
#include "inverse_dynamics.hpp"
#include "mass_coriolis.hpp"

namespace thunder {

/// v x* (n, f)
template <class S>
THUNDER_INLINE Momentum<S> cross(const Screw<S>& v, const Momentum<S>& h) {
  return {cross(v.w, h.n) + cross(v.u, h.f), cross(v.w, h.f)};
}

/// B s
template <class S>
THUNDER_INLINE Momentum<S> operator*(const CoriolisFactor<S>& B, const Screw<S>& s) {
  return {B.Sigma * s.w - cross(B.n, s.w) * 0.5, cross(s.w, B.f)};
}

/// Quantities of the derivatives in addition to those of M and C.
template <class S>
struct DerivativePass {
  Joints<Screw, S> accelerations, screw_ddots;
  Joints<Momentum, S> wrenches;

  THUNDER_INLINE DerivativePass(Workspace& work, int n) : accelerations(work, n), screw_ddots(work, n), wrenches(work, n) {}
};

/// Contribution of screw k to its row and its columns: the column by dq is 2 `speed.F1`.
template <class S>
struct DerivativeMomenta {
  CoriolisMomenta<S> speed;
  Momentum<S> position;
};
template <class S, class F>
THUNDER_INLINE void each(DerivativeMomenta<S>& t, F&& f) {
  each(t.speed, f), each(t.position, f);
}

/// The momentum of a rotor by its own spin belongs to its carrier as if constant in its axes.
template <class S, class P>
THUNDER_INLINE void add_spin(const Rotor<P>& rotor, const S* dq, const S* ddq, const MassPass<S>& mass, CoriolisPass<S>& coriolis,
                             DerivativePass<S>& pass) {
  if (rotor.carrier == 0) return;
  const int carrier = rotor.carrier - 1;
  const Vec3<S> a = mass.poses.get(carrier).R * rotor.axis;
  const S k(rotor.ratio * rotor.inertia);
  CoriolisFactor<S> B = coriolis.factors.get(carrier);
  Momentum<S> wrench = pass.wrenches.get(carrier);
  const Vec3<S> spin = a * (dq[rotor.joint] * k);
  B.n += spin;
  wrench.n += a * (ddq[rotor.joint] * k) + cross(coriolis.velocities.get(carrier).w, spin);
  coriolis.factors.set(carrier, B);
  pass.wrenches.set(carrier, wrench);
}

/// Torque on the joint that a rotor drives, by the motion of its carrier, and the one on the carrier by the speed of that joint.
template <class S, class P>
THUNDER_INLINE void add_rotor_derivatives(const Rotor<P>& rotor, int n, const MassPass<S>& mass, const CoriolisPass<S>& coriolis,
                                          const DerivativePass<S>& pass, S* by_q, S* by_dq) {
  if (rotor.carrier == 0) return;
  const int carrier = rotor.carrier - 1, m = rotor.joint;
  const Vec3<S> a = (mass.poses.get(carrier).R * rotor.axis) * S(rotor.ratio * rotor.inertia);
  const Vec3<S> turn = cross(coriolis.velocities.get(carrier).w, a);
  for (int j = 0; j < rotor.carrier; ++j) {
    const Vec3<S> rate = coriolis.screw_dots.get(j).w;
    const S moment = dot(mass.screws.get(j).w, turn);
    by_q[m * n + j] += dot(pass.screw_ddots.get(j).w, a) + dot(rate, turn);
    by_dq[m * n + j] += dot(rate, a) * 2.0 + moment;
    by_dq[j * n + m] += moment;
  }
}

template <class S, class P>
THUNDER_INLINE void accelerations_and_wrenches(const ChainView<P>& chain, const S* dq, const S* ddq, const MassPass<S>& mass,
                                               const CoriolisPass<S>& coriolis, DerivativePass<S>& pass) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Screw<S> a{zero, as<S>(Vec3<P>{-chain.gravity.x, -chain.gravity.y, -chain.gravity.z})};
  for (int i = 0; i < chain.n; ++i) {
    add_scaled(a, coriolis.screw_dots.get(i), dq[i]);
    pass.accelerations.set(i, add_scaled(a, mass.screws.get(i), ddq[i]));
  }
  pass.accelerations.pad(chain.n);
  for (int i = 0; i < chain.n; i += kLanes<S>) {
    using L = Lane<S>;
    const Screw<L> v = coriolis.velocities.load(i), acceleration = pass.accelerations.load(i);
    const Screw<L> turning = cross(acceleration, mass.screws.load(i)), rate = cross(v, coriolis.screw_dots.load(i));
    pass.screw_ddots.store(i, {turning.w + rate.w, turning.u + rate.u});
    const CoriolisFactor<L> B = coriolis.factors.load(i);
    const Momentum<L> inertial = momentum(mass.bodies.load(i), acceleration), gyroscopic = cross(v, Momentum<L>{B.n, B.f});
    pass.wrenches.store(i, {inertial.n + gyroscopic.n, inertial.f + gyroscopic.f});
  }
}

template <class S>
THUNDER_INLINE DerivativeMomenta<S> derivative_momenta(const BodyInertia<S>& body, const CoriolisFactor<S>& B,
                                                       const Momentum<S>& wrench, const Screw<S>& s, const Screw<S>& s_dot,
                                                       const Screw<S>& s_ddot) {
  const Momentum<S> inertial = momentum(body, s_ddot), factor = B * s_dot, turning = cross(s, wrench);
  return {coriolis_momenta(body, B, s, s_dot),
          {inertial.n + factor.n * 2.0 + turning.n, inertial.f + factor.f * 2.0 + turning.f}};
}

/// Row k up to the diagonal and column k before it, of both derivatives. In ascending order of k.
template <class S>
THUNDER_INLINE void write_derivatives(int n, int k, const DerivativeMomenta<S>& own, const MassPass<S>& mass,
                                      const CoriolisPass<S>& coriolis, const DerivativePass<S>& pass, S* by_q, S* by_dq) {
  using L = Lane<S>;
  const CoriolisMomenta<S>& speed = own.speed;
  const Vec3<L> n1 = as<L>(speed.F1.n * 2.0), f1 = as<L>(speed.F1.f * 2.0), n2 = as<L>(speed.F2.n), f2 = as<L>(speed.F2.f),
                n3 = as<L>(speed.N3 * 2.0), n4 = as<L>(own.position.n), f4 = as<L>(own.position.f);
  for (int j = 0; j <= k; j += kLanes<S>) {
    const Screw<L> s = mass.screws.load(j), s_dot = coriolis.screw_dots.load(j);
    store_row(dot(pass.screw_ddots.load(j), n2, f2) + dot(s_dot.w, n3), n, k, j, by_q);
    store_row(dot(s_dot, n2, f2) * 2.0 + dot(s.w, n3), n, k, j, by_dq);
    const L column_q = dot(s, n4, f4), column_dq = dot(s, n1, f1);
    for (int l = 0; l < kLanes<S> && j + l < k; ++l) {
      by_q[(j + l) * n + k] = lane_value<S>(column_q, l);
      by_dq[(j + l) * n + k] = lane_value<S>(column_dq, l);
    }
  }
}

/// d friction / d dq of each joint.
template <class S, class P>
THUNDER_INLINE void add_friction_slopes(const ChainView<P>& chain, const S* dq, S* by_dq) {
  if (chain.friction_count == 0) return;
  for (int i = 0; i < chain.n; ++i) by_dq[i * chain.n + i] += friction_of_joint(chain, i, Dual<S>(dq[i], S(1.0))).b;
}

/// d tau / d q, d tau / d dq and d tau / d ddq = M, each n x n row by row.
template <class S, class P>
void inverse_dynamics_derivatives(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* out) {
  const int n = chain.n;
  S *by_q = out, *by_dq = by_q + n * n, *M = by_dq + n * n;
  MassPass<S> mass(work, n);
  CoriolisPass<S> coriolis(work, n);
  DerivativePass<S> pass(work, n);
  Joints<DerivativeMomenta, S> momenta(work, n);
  const PerJoint<S> rotors(work, n * n);
  screws_and_bodies(chain, work, q, mass);
  if (has_rotors(chain)) rotor_mass(chain, mass, rotors.data);
  velocities_and_factors(chain, dq, mass, coriolis);
  accelerations_and_wrenches(chain, dq, ddq, mass, coriolis, pass);
  for (int k = 0; k < chain.rotor_count; ++k) add_spin(chain.rotors[k], dq, ddq, mass, coriolis, pass);
  mass.bodies.sum_from_tip(n);
  coriolis.factors.sum_from_tip(n);
  pass.wrenches.sum_from_tip(n);
  for (int i = 0; i < n; i += kLanes<S>)
    momenta.store(i, derivative_momenta(mass.bodies.load(i), coriolis.factors.load(i), pass.wrenches.load(i),
                                        mass.screws.load(i), coriolis.screw_dots.load(i), pass.screw_ddots.load(i)));
  for (int k = 0; k < n; ++k) {
    const DerivativeMomenta<S> own = momenta.get(k);
    write_mass_row(n, k, own.speed.F2, mass.screws, M);
    write_derivatives(n, k, own, mass, coriolis, pass, by_q, by_dq);
  }
  mirror(n, M);
  add_friction_slopes(chain, dq, by_dq);
  if (!has_rotors(chain)) return;
  add(n, rotors.data, M);
  for (int k = 0; k < chain.rotor_count; ++k)
    add_rotor_derivatives(chain.rotors[k], n, mass, coriolis, pass, by_q, by_dq);
}

}  // namespace thunder
