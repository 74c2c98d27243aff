// A body by its second moments, and those of its motion, for mass and Coriolis matrices in joint frames.
//
// With r the place of a particle in a frame and u its velocity relative to that frame,
//   m = sum dm,  h = sum r dm,  J = sum r r' dm,  f = sum u dm,  E = sum u r' dm.
// The inertia is tr(J) 1 - J. J and E move to another origin by one outer product each, and no other form needs fewer
// operations for a turn about an axis: this is for generated code, where operations count.
#pragma once

#include "joint_steps.hpp"

namespace thunder {

template <class S>
struct SecondMoments {
  S m;
  Vec3<S> h;
  Sym3<S> J;
};

template <class S, class F>
THUNDER_INLINE void each(SecondMoments<S>& t, F&& f) {
  f(t.m), each(t.h, f), each(t.J, f);
}

/// Moments of the particles' velocities relative to a frame.
template <class S>
struct FlowMoments {
  Vec3<S> f;
  Mat3<S> E;
};
template <class S, class F>
THUNDER_INLINE void each(FlowMoments<S>& t, F&& f) {
  each(t.f, f), each(t.E, f);
}

template <class S>
THUNDER_INLINE SecondMoments<S>& operator+=(SecondMoments<S>& a, const SecondMoments<S>& b) {
  a.m += b.m;
  a.h += b.h;
  a.J = a.J + b.J;
  return a;
}

/// Entry J_zz first: where a regrouped body has none, the other two are entries of I as they stand.
template <class S, class P>
THUNDER_INLINE SecondMoments<S> second_moments(const BodyInertia<P>& body) {
  const Sym3<P>& I = body.I;
  const P zz = (I.xx + I.yy - I.zz) * 0.5;
  return {S(body.m), as<S>(body.h), {S(I.yy - zz), S(-I.xy), S(-I.xz), S(I.xx - zz), S(-I.yz), S(zz)}};
}

/// In axes turned by the joint's angle, and a vector in axes turned back by it.
template <class S>
THUNDER_INLINE Vec3<S> turned(const Turn<S>& t, const Vec3<S>& v) {
  return {v.x * t.c + v.y * t.s, v.y * t.c - v.x * t.s, v.z};
}
template <class S>
THUNDER_INLINE Vec3<S> rotated_back(const Turn<S>& t, const Vec3<S>& v) {
  return {v.x * t.c - v.y * t.s, v.x * t.s + v.y * t.c, v.z};
}
/// Moments in axes turned back. With u = s (J_xx - J_yy) + 2 c J_xy the turned entries are
/// J_xx - s u, J_yy + s u and c u - J_xy: fewer products than with the double angle.
template <class S>
THUNDER_INLINE Sym3<S> rotated_back(const Turn<S>& t, const Sym3<S>& J) {
  const S u = t.s * (J.xx - J.yy) + t.c * (J.xy * 2.0), su = t.s * u;
  return {J.xx - su, t.c * u - J.xy, t.c * J.xz - t.s * J.yz, J.yy + su, t.s * J.xz + t.c * J.yz, J.zz};
}
template <class S>
THUNDER_INLINE Mat3<S> rotated_back(const Turn<S>& t, const Mat3<S>& E) {
  const S u = t.s * (E.xx - E.yy) + t.c * (E.xy + E.yx), su = t.s * u, cu = t.c * u;
  return {E.xx - su, cu - E.yx, t.c * E.xz - t.s * E.yz,
          cu - E.xy, E.yy + su, t.s * E.xz + t.c * E.yz,
          t.c * E.zx - t.s * E.zy, t.s * E.zx + t.c * E.zy, E.zz};
}

/// A constant turn about x, arranged so that quarter turns leave no operation in a recording.
template <class P>
struct Tilt {
  P c, s, cc, ss, cs;
  Tilt() = default;
  THUNDER_INLINE Tilt(const P& cosine, const P& sine) : c(cosine), s(sine), cc(c * c), ss(s * s), cs(c * s) {}
};
template <class P, class F>
THUNDER_INLINE void each(Tilt<P>& t, F&& f) {
  f(t.c), f(t.s), f(t.cc), f(t.ss), f(t.cs);
}
template <class S, class P>
THUNDER_INLINE Vec3<S> tilted(const Tilt<P>& t, const Vec3<S>& v) {
  return {v.x, v.y * t.c - v.z * t.s, v.y * t.s + v.z * t.c};
}
template <class S, class P>
THUNDER_INLINE Vec3<S> rotated_back(const Tilt<P>& t, const Vec3<S>& v) {
  return {v.x, v.y * t.c + v.z * t.s, v.z * t.c - v.y * t.s};
}
template <class S, class P>
THUNDER_INLINE Sym3<S> tilted(const Tilt<P>& t, const Sym3<S>& J) {
  const S d = J.yy - J.zz, change = d * t.ss + J.yz * (t.cs * 2.0);
  return {J.xx, J.xy * t.c - J.xz * t.s, J.xy * t.s + J.xz * t.c,
          J.yy - change, d * t.cs + J.yz * (t.cc - t.ss), J.zz + change};
}
template <class S, class P>
THUNDER_INLINE Mat3<S> tilted(const Tilt<P>& t, const Mat3<S>& E) {
  const S d = E.yy - E.zz, change = d * t.ss + (E.yz + E.zy) * t.cs, mixed = d * t.cs;
  return {E.xx, E.xy * t.c - E.xz * t.s, E.xy * t.s + E.xz * t.c,
          E.yx * t.c - E.zx * t.s, E.yy - change, mixed + E.yz * t.cc - E.zy * t.ss,
          E.yx * t.s + E.zx * t.c, mixed + E.zy * t.cc - E.yz * t.ss, E.zz + change};
}

/// About an origin from which the old one is at p.
template <class S>
THUNDER_INLINE SecondMoments<S> shifted(const Vec3<S>& p, const SecondMoments<S>& b) {
  const Vec3<S> h = b.h + p * b.m;
  const Sym3<S>& J = b.J;
  return {b.m, h,
          {J.xx + (b.h.x + h.x) * p.x, J.xy + b.h.x * p.y + h.y * p.x, J.xz + b.h.x * p.z + h.z * p.x,
           J.yy + (b.h.y + h.y) * p.y, J.yz + b.h.y * p.z + h.z * p.y, J.zz + (b.h.z + h.z) * p.z}};
}
template <class S>
THUNDER_INLINE FlowMoments<S> shifted(const Vec3<S>& p, const FlowMoments<S>& u) {
  const Mat3<S>& E = u.E;
  const Vec3<S>& f = u.f;
  return {f, {E.xx + f.x * p.x, E.xy + f.x * p.y, E.xz + f.x * p.z,
              E.yx + f.y * p.x, E.yy + f.y * p.y, E.yz + f.y * p.z,
              E.zx + f.z * p.x, E.zy + f.z * p.y, E.zz + f.z * p.z}};
}

/// Adds the motion of a joint along or about z.
template <class S>
THUNDER_INLINE void add_joint_motion(bool revolute, const S& dq, const SecondMoments<S>& b, FlowMoments<S>& u) {
  Mat3<S>& E = u.E;
  if (revolute) {  // z x r
    const Sym3<S>& J = b.J;
    const S xy = dq * J.xy;
    u.f.x -= dq * b.h.y, u.f.y += dq * b.h.x;
    E.xx -= xy, E.xy -= dq * J.yy, E.xz -= dq * J.yz;
    E.yx += dq * J.xx, E.yy += xy, E.yz += dq * J.xz;
  } else {
    u.f.z += dq * b.m;
    E.zx += dq * b.h.x, E.zy += dq * b.h.y, E.zz += dq * b.h.z;
  }
}

}  // namespace thunder
