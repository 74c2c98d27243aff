// Shared by the mass, Coriolis and gravity kernels: joint screws and body inertias in world axes at the root, the
// origin of joint frame 0, where composite bodies are plain sums (algorithms of the O(n d) Coriolis factorization of Echeandia
// and Wensing 2021, in the compact 22-number form).
#pragma once

#include "../model/inertia.hpp"
#include "jacobian.hpp"

namespace thunder {

/// Spatial motion (angular, linear velocity of the point at the root).
template <class S>
struct Screw {
  Vec3<S> w, u;
};
template <class S, class F>
THUNDER_INLINE void each(Screw<S>& t, F&& f) {
  each(t.w, f), each(t.u, f);
}

/// Screws of the joints of lane i.
template <class S, class P>
THUNDER_INLINE Screw<Lane<S>> joint_screw(const ChainView<P>& chain, int i, const Pose<Lane<S>>& pose) {
  using L = Lane<S>;
  const Vec3<L> z = z_axis(pose.R);
  return {by_type<S>(chain, i, z, Vec3<L>{L(0.0), L(0.0), L(0.0)}), by_type<S>(chain, i, cross(pose.p, z), z)};
}

/// v x s
template <class S>
THUNDER_INLINE Screw<S> cross(const Screw<S>& v, const Screw<S>& s) {
  return {cross(v.w, s.w), cross(v.w, s.u) + cross(v.u, s.w)};
}

/// The screw in a frame at constant pose.
template <class S, class P>
THUNDER_INLINE Screw<S> seen_from(const Screw<S>& s, const Pose<P>& pose) {
  return {transposed_times(pose.R, s.w), transposed_times(pose.R, s.u + cross(s.w, pose.p))};
}

template <class S>
THUNDER_INLINE Screw<S>& add_scaled(Screw<S>& v, const Screw<S>& s, const S& k) {
  v.w += s.w * k;
  v.u += s.u * k;
  return v;
}

template <class S, class T>
THUNDER_INLINE S dot(const Screw<S>& s, const Vec3<T>& n, const Vec3<T>& f) {
  return dot(s.w, n) + dot(s.u, f);
}

/// Momentum of a body moving with screw s: (angular n about the root, linear f).
template <class S>
struct Momentum {
  Vec3<S> n, f;
};
template <class S, class F>
THUNDER_INLINE void each(Momentum<S>& t, F&& f) {
  each(t.n, f), each(t.f, f);
}
template <class S, class P>
THUNDER_INLINE Momentum<S> momentum(const BodyInertia<P>& body, const Screw<S>& s) {
  const Vec3<S> h = as<S>(body.h);
  return {body.I * s.w + cross(h, s.u), s.u * body.m + cross(s.w, h)};
}

}  // namespace thunder
