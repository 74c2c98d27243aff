// Forward dynamics: the articulated-body algorithm at the base origin; with rotors, whose inertia couples distant
// joints, the mass matrix and a Cholesky factorisation instead.
#pragma once

#include "../math/cholesky.hpp"
#include "composite.hpp"
#include "inverse_dynamics.hpp"
#include "mass_coriolis.hpp"

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

/// a - u u' k
template <class S>
THUNDER_INLINE Sym3<S> minus_outer(const Sym3<S>& a, const Vec3<S>& u, const Vec3<S>& ku) {
  return {a.xx - u.x * ku.x, a.xy - u.x * ku.y, a.xz - u.x * ku.z, a.yy - u.y * ku.y, a.yz - u.y * ku.z, a.zz - u.z * ku.z};
}

template <class S>
THUNDER_INLINE void add_reduced(const ArticulatedInertia<S>& A, const Momentum<S>& U, const S& inverse_D,
                                ArticulatedInertia<S>& parent) {
  const Vec3<S> kn = U.n * inverse_D, kf = U.f * inverse_D;
  parent.I = parent.I + minus_outer(A.I, U.n, kn);
  parent.M = parent.M + minus_outer(A.M, U.f, kf);
  Mat3<S>& H = parent.H;
  const Vec3<S>& n = U.n;
  H = {H.xx + (A.H.xx - n.x * kf.x), H.xy + (A.H.xy - n.x * kf.y), H.xz + (A.H.xz - n.x * kf.z),
       H.yx + (A.H.yx - n.y * kf.x), H.yy + (A.H.yy - n.y * kf.y), H.yz + (A.H.yz - n.y * kf.z),
       H.zx + (A.H.zx - n.z * kf.x), H.zy + (A.H.zy - n.z * kf.y), H.zz + (A.H.zz - n.z * kf.z)};
}

template <class S, class P>
void articulated_body(const ChainView<P>& chain, const S* q, const S* dq, const S* tau, S* ddq) {
  const int n = chain.n;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<Pose<S>> pose;
  PerJoint<Screw<S>> s, c;
  PerJoint<ArticulatedInertia<S>> A;
  PerJoint<Momentum<S>> p, U;
  PerJoint<S> inverse_D, u;
  joint_frames(chain, q, n, pose.data);
  Screw<S> v{zero, zero};
  for (int i = 0; i < n; ++i) {
    const Link<P>& link = chain.links[i];
    s[i] = joint_screw(link, pose[i]);
    const Screw<S> drift = cross(v, s[i]);
    c[i] = {drift.w * dq[i], drift.u * dq[i]};
    v.w += s[i].w * dq[i];
    v.u += s[i].u * dq[i];
    const BodyInertia<S> body = body_inertia(link, pose[i]);
    const Momentum<S> h = momentum(body, v);
    A[i] = articulated(body);
    p[i] = {cross(v.w, h.n) + cross(v.u, h.f), cross(v.w, h.f)};
  }
  for (int i = n - 1; i >= 0; --i) {
    U[i] = A[i] * s[i];
    S D = dot(s[i], U[i].n, U[i].f);
    if (chain.has_armature) D += chain.links[i].armature;
    inverse_D[i] = S(1.0) / D;
    u[i] = tau[i] - friction_of_joint(chain, i, dq[i]) - dot(s[i], p[i].n, p[i].f);
    if (i == 0) break;
    const Momentum<S> Ac = A[i] * c[i];
    const S gain = (u[i] - dot(c[i], U[i].n, U[i].f)) * inverse_D[i];
    p[i - 1].n += p[i].n + Ac.n + U[i].n * gain;
    p[i - 1].f += p[i].f + Ac.f + U[i].f * gain;
    add_reduced(A[i], U[i], inverse_D[i], A[i - 1]);
  }
  Screw<S> a{zero, {S(-chain.gravity.x), S(-chain.gravity.y), S(-chain.gravity.z)}};
  for (int i = 0; i < n; ++i) {
    a.w += c[i].w;
    a.u += c[i].u;
    ddq[i] = (u[i] - dot(a, U[i].n, U[i].f)) * inverse_D[i];
    a.w += s[i].w * ddq[i];
    a.u += s[i].u * ddq[i];
  }
}

/// ddq = M^-1 (tau - C dq - G - friction).
template <class S, class P>
void forward_dynamics(const ChainView<P>& chain, const S* q, const S* dq, const S* tau, S* ddq) {
  if (chain.rotor_count == 0) return articulated_body(chain, q, dq, tau, ddq);
  const int n = chain.n;
  S M[kMaxJoints * kMaxJoints];
  PerJoint<S> rest, bias;
  for (int i = 0; i < n; ++i) rest[i] = S(0.0);
  mass_matrix(chain, q, M);
  inverse_dynamics(chain, q, dq, rest.data, bias.data);
  for (int i = 0; i < n; ++i) ddq[i] = tau[i] - bias[i];
  cholesky(n, M);
  cholesky_solve(n, M, ddq);
}

}  // namespace thunder
