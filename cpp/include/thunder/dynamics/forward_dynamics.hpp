// Forward dynamics: the articulated-body algorithm at the base origin; with rotors, whose inertia couples distant
// joints, and in recordings of short arms, the mass matrix and a Cholesky factorization instead.
#pragma once

#include "../math/cholesky.hpp"
#include "composite.hpp"
#include "inverse_dynamics.hpp"
#include "mass_matrix.hpp"

namespace thunder {

template <class S>
struct ArticulatedInertia {  // [I H; H' M] on (angular, linear)
  Sym3<S> I;
  Mat3<S> H;
  Sym3<S> M;
};

template <class S>
THUNDER_INLINE ArticulatedInertia<S> articulated(const BodyInertia<S>& b) {
  const S o(0.0);
  return {b.I, {o, -b.h.z, b.h.y, b.h.z, o, -b.h.x, -b.h.y, b.h.x, o}, {b.m, o, o, b.m, o, b.m}};
}

template <class S>
THUNDER_INLINE Momentum<S> operator*(const ArticulatedInertia<S>& A, const Screw<S>& s) {
  return {A.I * s.w + A.H * s.u, transposed_times(A.H, s.w) + A.M * s.u};
}

/// a - u v'
template <class S>
THUNDER_INLINE Sym3<S> minus_outer(const Sym3<S>& a, const Vec3<S>& u, const Vec3<S>& v) {
  return {a.xx - u.x * v.x, a.xy - u.x * v.y, a.xz - u.x * v.z, a.yy - u.y * v.y, a.yz - u.y * v.z, a.zz - u.z * v.z};
}

/// A - U U' / D
template <class S>
THUNDER_INLINE ArticulatedInertia<S> reduced(const ArticulatedInertia<S>& A, const Momentum<S>& U, const S& inverse_D) {
  const Vec3<S> n = U.n, kn = n * inverse_D, kf = U.f * inverse_D;
  const Mat3<S>& H = A.H;
  return {minus_outer(A.I, n, kn),
          {H.xx - n.x * kf.x, H.xy - n.x * kf.y, H.xz - n.x * kf.z, H.yx - n.y * kf.x, H.yy - n.y * kf.y,
           H.yz - n.y * kf.z, H.zx - n.z * kf.x, H.zy - n.z * kf.y, H.zz - n.z * kf.z},
          minus_outer(A.M, U.f, kf)};
}

template <class S>
THUNDER_INLINE ArticulatedInertia<S> operator+(const ArticulatedInertia<S>& A, const BodyInertia<S>& b) {
  const Mat3<S>& H = A.H;
  const Sym3<S>& M = A.M;
  return {A.I + b.I,
          {H.xx, H.xy - b.h.z, H.xz + b.h.y, H.yx + b.h.z, H.yy, H.yz - b.h.x, H.zx - b.h.y, H.zy + b.h.x, H.zz},
          {M.xx + b.m, M.xy, M.xz, M.yy + b.m, M.yz, M.zz + b.m}};
}

template <class S, class P>
void articulated_body(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* tau, S* ddq) {
  const int n = chain.n;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  MassPass<S> pass(work, n);
  Joints<Screw, S> velocities(work, n), drifts(work, n);  // drift: the acceleration that dq alone gives across a joint
  Joints<Momentum, S> biases(work, n), forces(work, n);
  const PerJoint<S> inverse_D(work, n), u(work, n);
  screws_and_bodies(chain, work, q, pass);
  Screw<S> v{zero, zero};
  for (int i = 0; i < n; ++i) {
    const Screw<S> s = pass.screws.get(i), drift = cross(v, s);
    drifts.set(i, {drift.w * dq[i], drift.u * dq[i]});
    velocities.set(i, add_scaled(v, s, dq[i]));
  }
  velocities.pad(n);
  for (int i = 0; i < n; i += kLanes<S>) {
    const Screw<Lane<S>> vi = velocities.load(i);
    const Momentum<Lane<S>> h = momentum(pass.bodies.load(i), vi);
    biases.store(i, {cross(vi.w, h.n) + cross(vi.u, h.f), cross(vi.w, h.f)});
  }
  ArticulatedInertia<S> A = articulated(pass.bodies.get(n - 1));
  Momentum<S> p = biases.get(n - 1);
  for (int i = n - 1; i >= 0; --i) {
    const Screw<S> s = pass.screws.get(i), c = drifts.get(i);
    const Momentum<S> U = A * s;
    S D = dot(s, U.n, U.f);
    if (chain.has_armature) D += chain.links[i].armature;
    forces.set(i, U);
    inverse_D[i] = S(1.0) / D;
    u[i] = tau[i] - friction_of_joint(chain, i, dq[i]) - dot(s, p.n, p.f);
    if (i == 0) break;
    const Momentum<S> Ac = A * c, own = biases.get(i - 1);
    const S gain = (u[i] - dot(c, U.n, U.f)) * inverse_D[i];
    p.n += Ac.n + U.n * gain + own.n;
    p.f += Ac.f + U.f * gain + own.f;
    A = reduced(A, U, inverse_D[i]) + pass.bodies.get(i - 1);
  }
  Screw<S> a{zero, as<S>(Vec3<P>{-chain.gravity.x, -chain.gravity.y, -chain.gravity.z})};
  for (int i = 0; i < n; ++i) {
    const Screw<S> c = drifts.get(i);
    const Momentum<S> U = forces.get(i);
    a.w += c.w;
    a.u += c.u;
    ddq[i] = (u[i] - dot(a, U.n, U.f)) * inverse_D[i];
    add_scaled(a, pass.screws.get(i), ddq[i]);
  }
}

/// More joints than this, and articulated bodies take fewer operations also in recordings.
inline constexpr int kLongArm = 12;

/// ddq = M^-1 (tau - C dq - G - friction).
template <class S, class P>
void forward_dynamics(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* tau, S* ddq) {
  const int n = chain.n;
  // recorded in link frames, M is so cheap that a short arm takes half the operations with its factorization
  const bool articulated = !kPrefersLinkFrames<S> || n > kLongArm;
  if (chain.rotor_count == 0 && articulated) return articulated_body(chain, work, q, dq, tau, ddq);
  const PerJoint<S> M(work, n * n), bias(work, n), rest = zeros<S>(work, n);
  mass_matrix(chain, work, q, M.data);
  inverse_dynamics(chain, work, q, dq, rest.data, bias.data);
  for (int i = 0; i < n; ++i) ddq[i] = tau[i] - bias[i];
  cholesky(n, M.data);
  cholesky_solve(n, M.data, ddq);
}

}  // namespace thunder
