// Mass matrix, and with it the Coriolis matrix of Christoffel symbols, from composite bodies at the base origin.
//
// With the body velocity (w, v), momentum (n, f) and Sigma = sym([w] I) - sym(v h') + (v.h) 1, the factor
// B = [Sigma - [n]/2, 0; -[f], 0] gives C_jk = S_j' (I Sdot_k + B S_k) of Christoffel form; B adds up over the
// composite body like the inertia does.
#pragma once

#include "mass_matrix.hpp"

namespace thunder {

template <class S>
struct CoriolisFactor {
  Vec3<S> n, f;
  Sym3<S> Sigma;
};
template <class S, class F>
THUNDER_INLINE void each(CoriolisFactor<S>& t, F&& f) {
  each(t.n, f), each(t.f, f), each(t.Sigma, f);
}

template <class S>
THUNDER_INLINE CoriolisFactor<S> coriolis_factor(const BodyInertia<S>& body, const Screw<S>& v) {
  const Momentum<S> h = momentum(body, v);
  const Sym3<S>& I = body.I;
  const Vec3<S>&w = v.w, &u = v.u, &b = body.h;
  const S ux = u.x * b.x, uy = u.y * b.y, uz = u.z * b.z;
  return {h.n, h.f,
          {w.y * I.xz - w.z * I.xy + (uy + uz),
           (w.y * I.yz - w.x * I.xz + w.z * (I.xx - I.yy) - (u.x * b.y + u.y * b.x)) * 0.5,
           (w.x * I.xy - w.z * I.yz + w.y * (I.zz - I.xx) - (u.x * b.z + u.z * b.x)) * 0.5,
           w.z * I.xy - w.x * I.yz + (ux + uz),
           (w.z * I.xz - w.y * I.xy + w.x * (I.yy - I.zz) - (u.y * b.z + u.z * b.y)) * 0.5,
           w.x * I.yz - w.y * I.xz + (ux + uy)}};
}

template <class S>
THUNDER_INLINE CoriolisFactor<S>& operator+=(CoriolisFactor<S>& a, const CoriolisFactor<S>& b) {
  a.n += b.n;
  a.f += b.f;
  a.Sigma = a.Sigma + b.Sigma;
  return a;
}

/// sym(a b'), times two
template <class S>
THUNDER_INLINE Sym3<S> twice_symmetric(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x * b.x * 2.0, a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x,
          a.y * b.y * 2.0, a.y * b.z + a.z * b.y, a.z * b.z * 2.0};
}

/// Quantities of the Coriolis matrix in addition to the mass matrix.
template <class S>
struct CoriolisPass {
  Joints<Screw, S> velocities, screw_dots;
  Joints<CoriolisFactor, S> factors;

  THUNDER_INLINE CoriolisPass(Workspace& work, int n) : velocities(work, n), screw_dots(work, n), factors(work, n) {}
};

template <class S, class P>
THUNDER_INLINE void add_rotor_coriolis(const Rotor<P>& rotor, const S* dq, int n, const MassPass<S>& mass,
                                       CoriolisPass<S>& pass, S* C) {
  if (rotor.carrier == 0) return;  // its spin axis does not move
  const int carrier = rotor.carrier - 1;
  const Vec3<S> a = mass.poses.get(carrier).R * rotor.axis;
  const Vec3<S> w = pass.velocities.get(carrier).w;
  const Vec3<S> turn = cross(w, a);
  const S spin = dot(w, a) + dq[rotor.joint] * rotor.ratio;
  CoriolisFactor<S> B = pass.factors.get(carrier);
  const S half(rotor.inertia * 0.5);
  B.n += a * (spin * rotor.inertia);
  B.Sigma = B.Sigma + twice_symmetric(turn * half, a);
  pass.factors.set(carrier, B);
  const Vec3<S> axis = a * S(rotor.ratio * rotor.inertia), half_turn = turn * (half * rotor.ratio);
  for (int j = 0; j < rotor.carrier; ++j) {
    const S moment = dot(mass.screws.get(j).w, half_turn);
    C[j * n + rotor.joint] += moment;
    C[rotor.joint * n + j] += dot(pass.screw_dots.get(j).w, axis) + moment;
  }
}

template <class S, class P>
THUNDER_INLINE void velocities_and_factors(const ChainView<P>& chain, const S* dq, const MassPass<S>& mass,
                                           CoriolisPass<S>& pass) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Screw<S> v{zero, zero};
  for (int i = 0; i < chain.n; ++i) pass.velocities.set(i, add_scaled(v, mass.screws.get(i), dq[i]));
  pass.velocities.pad(chain.n);
  for (int i = 0; i < chain.n; i += kLanes<S>) {
    const Screw<Lane<S>> velocity = pass.velocities.load(i);
    pass.screw_dots.store(i, cross(velocity, mass.screws.load(i)));  // S x S = 0: own motion does not count
    pass.factors.store(i, coriolis_factor(mass.bodies.load(i), velocity));
  }
}

/// Contribution of screw k to its row and column of C: F1 = I Sdot + B S for the column, N3 = B' S (angular) for the row.
template <class S>
struct CoriolisMomenta {
  Momentum<S> F2, F1;
  Vec3<S> N3;
};
template <class S, class F>
THUNDER_INLINE void each(CoriolisMomenta<S>& t, F&& f) {
  each(t.F2, f), each(t.F1, f), each(t.N3, f);
}

template <class S>
THUNDER_INLINE CoriolisMomenta<S> coriolis_momenta(const BodyInertia<S>& body, const CoriolisFactor<S>& B,
                                                   const Screw<S>& s, const Screw<S>& s_dot) {
  CoriolisMomenta<S> r{momentum(body, s), momentum(body, s_dot), {}};
  const Vec3<S> Sw = B.Sigma * s.w, half = cross(B.n, s.w) * 0.5;
  r.F1.n += Sw - half;
  r.F1.f += cross(s.w, B.f);
  r.N3 = Sw + half + cross(B.f, s.u);
  return r;
}

/// Row k of C before the diagonal and column k down to it. In ascending order of k.
template <class S>
THUNDER_INLINE void write_coriolis(int n, int k, const CoriolisMomenta<S>& own, const Joints<Screw, S>& screws,
                                   const Joints<Screw, S>& screw_dots, S* C) {
  using L = Lane<S>;
  const Vec3<L> n1 = as<L>(own.F1.n), f1 = as<L>(own.F1.f), n2 = as<L>(own.F2.n), f2 = as<L>(own.F2.f),
                n3 = as<L>(own.N3);
  for (int j = 0; j <= k; j += kLanes<S>) {
    const Screw<L> s = screws.load(j);
    store_row(dot(screw_dots.load(j), n2, f2) + dot(s.w, n3), n, k, j, C);
    const L column = dot(s, n1, f1);
    for (int l = 0; l < kLanes<S> && j + l <= k; ++l) C[(j + l) * n + k] = lane_value<S>(column, l);
  }
}

/// M and C, each n x n row by row; M_dot = C + C'.
template <class S, class P>
void mass_coriolis(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* M, S* C) {
  if constexpr (kPrefersLinkFrames<S>) return mass_coriolis_link_frames(chain, work, q, dq, M, C);
  const int n = chain.n;
  MassPass<S> mass(work, n);
  CoriolisPass<S> pass(work, n);
  Joints<CoriolisMomenta, S> momenta(work, n);
  const PerJoint<S> rotors_M(work, n * n), rotors_C(work, n * n);
  screws_and_bodies(chain, work, q, mass);
  velocities_and_factors(chain, dq, mass, pass);
  if (has_rotors(chain)) {
    rotor_mass(chain, mass, rotors_M.data);
    for (int i = 0; i < n * n; ++i) rotors_C[i] = S(0.0);
    for (int k = 0; k < chain.rotor_count; ++k) add_rotor_coriolis(chain.rotors[k], dq, n, mass, pass, rotors_C.data);
  }
  mass.bodies.sum_from_tip(n);
  pass.factors.sum_from_tip(n);
  for (int i = 0; i < n; i += kLanes<S>)
    momenta.store(i, coriolis_momenta(mass.bodies.load(i), pass.factors.load(i), mass.screws.load(i),
                                      pass.screw_dots.load(i)));
  for (int k = 0; k < n; ++k) {
    const CoriolisMomenta<S> own = momenta.get(k);
    write_mass_row(n, k, own.F2, mass.screws, M);
    write_coriolis(n, k, own, mass.screws, pass.screw_dots, C);
  }
  mirror(n, M);
  if (!has_rotors(chain)) return;
  add(n, rotors_M.data, M);
  add(n, rotors_C.data, C);
}

}  // namespace thunder
