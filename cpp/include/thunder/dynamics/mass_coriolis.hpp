// Mass matrix, and with it the Coriolis matrix of Christoffel symbols, from composite bodies at the base origin.
//
// With the body velocity (w, v), momentum (n, f) and Sigma = sym([w] I) - sym(v h') + (v.h) 1, the factor
// B = [Sigma - [n]/2, 0; -[f], 0] gives C_jk = S_j' (I Sdot_k + B S_k) of Christoffel form; B adds up over the
// composite body like the inertia does.
#pragma once

#include "composite.hpp"
#include "link_frames.hpp"

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

/// a a' scaled
template <class S>
THUNDER_INLINE Sym3<S> outer(const Vec3<S>& a, const S& k) {
  const Vec3<S> b = a * k;
  return {a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z};
}
/// sym(a b'), times two
template <class S>
THUNDER_INLINE Sym3<S> twice_symmetric(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x * b.x * 2.0, a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x,
          a.y * b.y * 2.0, a.y * b.z + a.z * b.y, a.z * b.z * 2.0};
}

/// Composite bodies and the joint screws: the state of a mass matrix computation.
template <class S>
struct MassPass {
  Joints<Pose, S> poses;
  Joints<Screw, S> screws;
  Joints<BodyInertia, S> bodies;  // of single links, then of all from a joint on
};

/// What a rotor adds to M of its driven joint; its part as a body of the carrier goes into `pass.bodies`.
template <class S, class P>
THUNDER_INLINE void add_rotor_mass(const Rotor<P>& rotor, int n, MassPass<S>& pass, S* M) {
  const S k(rotor.ratio * rotor.inertia);
  M[rotor.joint * n + rotor.joint] += k * rotor.ratio;
  if (rotor.carrier == 0) return;
  const Vec3<S> a = pass.poses.get(rotor.carrier - 1).R * rotor.axis;
  BodyInertia<S> body = pass.bodies.get(rotor.carrier - 1);
  body.I = body.I + outer(a, S(rotor.inertia));
  pass.bodies.set(rotor.carrier - 1, body);
  for (int j = 0; j < rotor.carrier; ++j) {
    const S value = dot(pass.screws.get(j).w, a) * k;
    M[j * n + rotor.joint] += value;
    M[rotor.joint * n + j] += value;
  }
}

/// Is there anything besides the links?
template <class P>
THUNDER_INLINE bool has_drives(const ChainView<P>& chain) {
  return chain.rotor_count > 0 || chain.has_armature;
}

/// The part of M that is no sum over composite bodies: rotors and armature.
template <class S, class P>
THUNDER_INLINE void drive_mass(const ChainView<P>& chain, MassPass<S>& pass, S* M) {
  const int n = chain.n;
  for (int i = 0; i < n * n; ++i) M[i] = S(0.0);
  for (int k = 0; k < chain.rotor_count; ++k) add_rotor_mass(chain.rotors[k], n, pass, M);
  if (chain.has_armature)
    for (int i = 0; i < n; ++i) M[i * n + i] += S(chain.links[i].armature);
}

/// Entries j < count of row k from packs: idle lanes may run into what later rows write, not past the end of A.
template <class S, class L>
THUNDER_INLINE void store_row(const L& lane, int n, int k, int j, S* A) {
  store_lanes(lane, A + k * n + j, n * n - (k * n + j));
}

/// M[k][j] for j <= k from the momentum F of composite k at unit speed of joint k. Rows in ascending order.
template <class S>
THUNDER_INLINE void write_mass_row(int n, int k, const Momentum<S>& F, const Joints<Screw, S>& screws, S* M) {
  using L = Lane<S>;
  const Vec3<L> moment = as<L>(F.n), force = as<L>(F.f);
  for (int j = 0; j <= k; j += kLanes<S>) store_row(dot(screws.load(j), moment, force), n, k, j, M);
}

template <class S>
THUNDER_INLINE void mirror(int n, S* M) {
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) M[i * n + j] = M[j * n + i];
}

template <class S, class P>
THUNDER_INLINE void screws_and_bodies(const ChainView<P>& chain, const S* q, MassPass<S>& pass) {
  // moments about the root, not the world origin: a base far away would cost digits
  joint_frames_from(Vec3<P>{P(0.0), P(0.0), P(0.0)}, chain, q, chain.n, pass.poses);
  for (int i = 0; i < chain.n; i += kLanes<S>) {
    const Pose<Lane<S>> pose = pass.poses.load(i);
    pass.screws.store(i, joint_screw<S>(chain, i, pose));
    pass.bodies.store(i, moved(link_inertia<S>(chain, i), pose));
  }
}

template <class S>
THUNDER_INLINE void add(int n, const S* A, S* B) {
  for (int i = 0; i < n * n; ++i) B[i] += A[i];
}

/// M, n x n row by row.
template <class S, class P>
void mass_matrix(const ChainView<P>& chain, const S* q, S* M) {
  if constexpr (kPrefersLinkFrames<S>) return mass_matrix_link_frames(chain, q, M);
  const int n = chain.n;
  MassPass<S> pass;
  Joints<Momentum, S> momenta;
  S drives[kMaxJoints * kMaxJoints];
  screws_and_bodies(chain, q, pass);
  if (has_drives(chain)) drive_mass(chain, pass, drives);
  sum_from_tip(n, pass.bodies);
  for (int i = 0; i < n; i += kLanes<S>) momenta.store(i, momentum(pass.bodies.load(i), pass.screws.load(i)));
  for (int k = 0; k < n; ++k) write_mass_row(n, k, momenta.get(k), pass.screws, M);
  mirror(n, M);
  if (has_drives(chain)) add(n, drives, M);
}

/// What the Coriolis matrix needs beyond the mass matrix.
template <class S>
struct CoriolisPass {
  Joints<Screw, S> velocities, screw_dots;
  Joints<CoriolisFactor, S> factors;
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

/// What screw k brings to its row and column of C: F1 = I Sdot + B S for the column, N3 = B' S (angular) for the row.
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
void mass_coriolis(const ChainView<P>& chain, const S* q, const S* dq, S* M, S* C) {
  if constexpr (kPrefersLinkFrames<S>) return mass_coriolis_link_frames(chain, q, dq, M, C);
  const int n = chain.n;
  MassPass<S> mass;
  CoriolisPass<S> pass;
  Joints<CoriolisMomenta, S> momenta;
  S drives_M[kMaxJoints * kMaxJoints], drives_C[kMaxJoints * kMaxJoints];
  screws_and_bodies(chain, q, mass);
  velocities_and_factors(chain, dq, mass, pass);
  if (has_drives(chain)) {
    drive_mass(chain, mass, drives_M);
    for (int i = 0; i < n * n; ++i) drives_C[i] = S(0.0);
    for (int k = 0; k < chain.rotor_count; ++k) add_rotor_coriolis(chain.rotors[k], dq, n, mass, pass, drives_C);
  }
  sum_from_tip(n, mass.bodies);
  sum_from_tip(n, pass.factors);
  for (int i = 0; i < n; i += kLanes<S>)
    momenta.store(i, coriolis_momenta(mass.bodies.load(i), pass.factors.load(i), mass.screws.load(i),
                                      pass.screw_dots.load(i)));
  for (int k = 0; k < n; ++k) {
    const CoriolisMomenta<S> own = momenta.get(k);
    write_mass_row(n, k, own.F2, mass.screws, M);
    write_coriolis(n, k, own, mass.screws, pass.screw_dots, C);
  }
  mirror(n, M);
  if (!has_drives(chain)) return;
  add(n, drives_M, M);
  add(n, drives_C, C);
}

}  // namespace thunder
