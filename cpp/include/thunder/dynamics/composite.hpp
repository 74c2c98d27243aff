// World-frame quantities that the mass, Coriolis and gravity kernels share: joint screws and body inertias at the
// base origin, where composite bodies are plain sums (algorithms of the O(n d) Coriolis factorisation of Echeandia
// and Wensing 2021, in the compact 22-number form).
#pragma once

#include "kinematics.hpp"

namespace thunder {

/// Spatial motion (angular, linear velocity of the point at the base origin).
template <class S>
struct Screw {
  Vec3<S> w, u;
};

template <class S, class P>
THUNDER_INLINE Screw<S> joint_screw(const Link<P>& link, const Pose<S>& pose) {
  const Vec3<S> z = z_axis(pose.R);
  if (link.type == JointType::revolute) return {z, cross(pose.p, z)};
  return {{S(0.0), S(0.0), S(0.0)}, z};
}

/// v x s
template <class S>
THUNDER_INLINE Screw<S> cross(const Screw<S>& v, const Screw<S>& s) {
  return {cross(v.w, s.w), cross(v.w, s.u) + cross(v.u, s.w)};
}

template <class S>
THUNDER_INLINE S dot(const Screw<S>& s, const Vec3<S>& n, const Vec3<S>& f) {
  return dot(s.w, n) + dot(s.u, f);
}

/// Mass, first moment and inertia about the base origin, world axes.
template <class S>
struct BodyInertia {
  S m;
  Vec3<S> h;
  Sym3<S> I;
};

template <class S, class P>
THUNDER_INLINE BodyInertia<S> body_inertia(const Link<P>& link, const Pose<S>& pose) {
  const Vec3<S> hr = pose.R * link.h;  // first moment about the joint frame origin
  const Vec3<S>& p = pose.p;
  const Vec3<S> mp = p * link.m;
  const Vec3<S> b = hr + mp;
  const Sym3<S> I = rotated(pose.R, link.I);
  // I + (p.hr 1 - hr p') + (p.b 1 - p b'), symmetric because b - hr is along p
  const S xx = p.x * (hr.x + b.x), yy = p.y * (hr.y + b.y), zz = p.z * (hr.z + b.z);
  return {S(link.m), b,
          {I.xx + yy + zz, I.xy - (hr.x * p.y + p.x * b.y), I.xz - (hr.x * p.z + p.x * b.z), I.yy + xx + zz,
           I.yz - (hr.y * p.z + p.y * b.z), I.zz + xx + yy}};
}

template <class S>
THUNDER_INLINE BodyInertia<S>& operator+=(BodyInertia<S>& a, const BodyInertia<S>& b) {
  a.m += b.m;
  a.h += b.h;
  a.I = a.I + b.I;
  return a;
}

/// Momentum of a body moving with screw s: (angular n about the base origin, linear f).
template <class S>
struct Momentum {
  Vec3<S> n, f;
};
template <class S>
THUNDER_INLINE Momentum<S> momentum(const BodyInertia<S>& body, const Screw<S>& s) {
  return {body.I * s.w + cross(body.h, s.u), s.u * body.m + cross(s.w, body.h)};
}

}  // namespace thunder
