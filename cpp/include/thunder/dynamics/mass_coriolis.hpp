// Mass matrix, and with it the Coriolis matrix of Christoffel symbols, from composite bodies at the base origin.
//
// With the body velocity (w, v), momentum (n, f) and Sigma = sym([w] I) - sym(v h') + (v.h) 1, the factor
// B = [Sigma - [n]/2, 0; -[f], 0] gives C_jk = S_j' (I Sdot_k + B S_k) of Christoffel form; B adds up over the
// composite body like the inertia does.
#pragma once

#include "composite.hpp"

namespace thunder {

template <class S>
struct CoriolisFactor {
  Vec3<S> n, f;
  Sym3<S> Sigma;
};

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

/// What a rotor adds to M of its driven joint; its part as a body of the carrier goes into `bodies`.
template <class S, class P>
THUNDER_INLINE void add_rotor_mass(const Rotor<P>& rotor, const Pose<S>* pose, const Screw<S>* s, int n, BodyInertia<S>* bodies,
                    S* M) {
  const S k(rotor.ratio * rotor.inertia);
  M[rotor.joint * n + rotor.joint] += k * rotor.ratio;
  if (rotor.carrier == 0) return;
  const Vec3<S> a = pose[rotor.carrier - 1].R * rotor.axis;
  Sym3<S>& I = bodies[rotor.carrier - 1].I;
  I = I + outer(a, S(rotor.inertia));
  for (int j = 0; j < rotor.carrier; ++j) {
    const S value = dot(s[j].w, a) * k;
    M[j * n + rotor.joint] += value;
    M[rotor.joint * n + j] += value;
  }
}

/// M, n x n row by row.
template <class S, class P>
void mass_matrix(const ChainView<P>& chain, const S* q, S* M) {
  const int n = chain.n;
  PerJoint<Pose<S>> pose;
  PerJoint<Screw<S>> s;
  PerJoint<BodyInertia<S>> body;
  joint_frames(chain, q, n, pose.data);
  for (int i = 0; i < n; ++i) {
    s[i] = joint_screw(chain.links[i], pose[i]);
    body[i] = body_inertia(chain.links[i], pose[i]);
  }
  if (chain.rotor_count > 0) {  // they add to bodies, so they come before the sums
    for (int i = 0; i < n * n; ++i) M[i] = S(0.0);
    for (int k = 0; k < chain.rotor_count; ++k)
      add_rotor_mass(chain.rotors[k], pose.data, s.data, n, body.data, M);
  }
  for (int k = n - 1; k >= 0; --k) {
    const Momentum<S> F = momentum(body[k], s[k]);
    for (int j = 0; j <= k; ++j) {
      S value = dot(s[j], F.n, F.f);
      if (chain.rotor_count > 0) value += M[j * n + k];
      M[j * n + k] = value;
      M[k * n + j] = value;
    }
    if (chain.has_armature) M[k * n + k] += S(chain.links[k].armature);
    if (k > 0) body[k - 1] += body[k];
  }
}

template <class S, class P>
THUNDER_INLINE void add_rotor_coriolis(const Rotor<P>& rotor, const Pose<S>* pose, const Screw<S>* s, const Screw<S>* ds,
                        const Screw<S>* v, const S* dq, int n, CoriolisFactor<S>* factors, S* C) {
  if (rotor.carrier == 0) return;  // its spin axis does not move
  const Vec3<S> a = pose[rotor.carrier - 1].R * rotor.axis;
  const Vec3<S>& w = v[rotor.carrier - 1].w;
  const Vec3<S> turn = cross(w, a);
  const S spin = dot(w, a) + dq[rotor.joint] * rotor.ratio;
  CoriolisFactor<S>& B = factors[rotor.carrier - 1];
  B.n += a * (spin * rotor.inertia);
  const S half(rotor.inertia * 0.5);
  B.Sigma = B.Sigma + twice_symmetric(turn * half, a);
  const Vec3<S> axis = a * S(rotor.ratio * rotor.inertia), half_turn = turn * (half * rotor.ratio);
  for (int j = 0; j < rotor.carrier; ++j) {
    const S moment = dot(s[j].w, half_turn);
    C[j * n + rotor.joint] += moment;
    C[rotor.joint * n + j] += dot(ds[j].w, axis) + moment;
  }
}

/// M and C, each n x n row by row; M_dot = C + C'.
template <class S, class P>
void mass_coriolis(const ChainView<P>& chain, const S* q, const S* dq, S* M, S* C) {
  const int n = chain.n;
  PerJoint<Pose<S>> pose;
  PerJoint<Screw<S>> s, ds, v;
  PerJoint<BodyInertia<S>> body;
  PerJoint<CoriolisFactor<S>> B;
  joint_frames(chain, q, n, pose.data);
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Screw<S> vi{zero, zero};
  for (int i = 0; i < n; ++i) {
    s[i] = joint_screw(chain.links[i], pose[i]);
    ds[i] = cross(vi, s[i]);
    vi.w += s[i].w * dq[i];
    vi.u += s[i].u * dq[i];
    v[i] = vi;
    body[i] = body_inertia(chain.links[i], pose[i]);
    B[i] = coriolis_factor(body[i], vi);
  }
  if (chain.rotor_count > 0) {
    for (int i = 0; i < n * n; ++i) M[i] = C[i] = S(0.0);
    for (int k = 0; k < chain.rotor_count; ++k) {
      add_rotor_mass(chain.rotors[k], pose.data, s.data, n, body.data, M);
      add_rotor_coriolis(chain.rotors[k], pose.data, s.data, ds.data, v.data, dq, n, B.data, C);
    }
  }
  const bool add = chain.rotor_count > 0;
  for (int k = n - 1; k >= 0; --k) {
    const Momentum<S> F2 = momentum(body[k], s[k]);
    Momentum<S> F1 = momentum(body[k], ds[k]);
    const Vec3<S> Sw = B[k].Sigma * s[k].w, half = cross(B[k].n, s[k].w) * 0.5;
    F1.n += Sw - half;
    F1.f += cross(s[k].w, B[k].f);
    const Vec3<S> N3 = Sw + half + cross(B[k].f, s[k].u);
    for (int j = 0; j <= k; ++j) {
      S m = dot(s[j], F2.n, F2.f), upper = dot(s[j], F1.n, F1.f);
      if (add) {
        m += M[j * n + k];
        upper += C[j * n + k];
      }
      M[j * n + k] = M[k * n + j] = m;
      C[j * n + k] = upper;
      if (j == k) continue;
      S lower = dot(ds[j], F2.n, F2.f) + dot(s[j].w, N3);
      if (add) lower += C[k * n + j];
      C[k * n + j] = lower;
    }
    if (chain.has_armature) M[k * n + k] += S(chain.links[k].armature);
    if (k > 0) {
      body[k - 1] += body[k];
      B[k - 1] += B[k];
    }
  }
}

}  // namespace thunder
