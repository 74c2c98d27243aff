// From one joint frame to the next, for kernels that work in joint frames.
#pragma once

#include "../model/chain.hpp"

namespace thunder {

template <class S>
struct Turn {
  S s, c;
};
template <class S, class F>
THUNDER_INLINE void each(Turn<S>& t, F&& f) {
  f(t.s), f(t.c);
}

/// Sine and cosine of every joint's turn about z.
template <class S, class P>
THUNDER_INLINE void joint_turns(const ChainView<P>& chain, const S* q, int count, Joints<Turn, S>& turns) {
  if constexpr (kLanes<S> == 1) {
    for (int i = 0; i < count; ++i) {
      const Link<P>& link = chain.links[i];
      Turn<S> turn{S(link.sin_theta), S(link.cos_theta)};
      if (link.type == JointType::revolute) sincos(q[i] + link.theta, turn.s, turn.c);
      turns.set(i, turn);
    }
  } else {
    constexpr int W = kLanes<S>;
    for (int i = 0; i < count; i += W) {
      S angles[W] = {};  // q ends with the last joint
      for (int l = 0; l < W && i + l < count; ++l) angles[l] = q[i + l];
      Turn<Lane<S>> turn;
      sincos(load_lanes<Lane<S>>(angles) + load_lanes<Lane<S>>(chain.theta + i), turn.s, turn.c);
      turns.store(i, turn);
    }
    if (chain.all_revolute) return;
    for (int i = 0; i < count; ++i) {
      const Link<P>& link = chain.links[i];
      if (link.type == JointType::prismatic) turns.set(i, {S(link.sin_theta), S(link.cos_theta)});
    }
  }
}

/// Pose of a joint frame in the previous one.
template <class S, class P>
struct JointStep {
  P ca, sa;
  S s, c;
  Vec3<S> p;

  THUNDER_INLINE JointStep(const P& ca_, const P& sa_, const S& s_, const S& c_, const Vec3<S>& p_)
      : ca(ca_), sa(sa_), s(s_), c(c_), p(p_) {}
  THUNDER_INLINE JointStep(const Link<P>& link, const Turn<S>& turn, const S& q)
      : ca(link.cos_alpha), sa(link.sin_alpha), s(turn.s), c(turn.c), p(as<S>(link.p)) {
    if (link.type == JointType::prismatic) {
      p.y -= q * sa;
      p.z += q * ca;
    }
  }
  /// The same vector in the axes of this joint frame.
  THUNDER_INLINE Vec3<S> down(const Vec3<S>& v) const {
    const S y = v.y * ca + v.z * sa;
    return {v.x * c + y * s, y * c - v.x * s, v.z * ca - v.y * sa};
  }
  /// The same vector in the axes of the previous joint frame.
  THUNDER_INLINE Vec3<S> up(const Vec3<S>& v) const {
    const S y = v.x * s + v.y * c;
    return {v.x * c - v.y * s, y * ca - v.z * sa, y * sa + v.z * ca};
  }
};

template <class S, class P, class F>
THUNDER_INLINE void each(JointStep<S, P>& t, F&& f) {
  f(t.ca), f(t.sa), f(t.s), f(t.c), each(t.p, f);
}

/// The same step for a pack of vectors.
template <class L, class S, class P>
THUNDER_INLINE JointStep<L, P> widened(const JointStep<S, P>& step) {
  return {step.ca, step.sa, L(step.s), L(step.c), as<L>(step.p)};
}

/// Gravity as an upward acceleration of the root, in root axes.
template <class S, class P>
THUNDER_INLINE Vec3<S> root_acceleration(const Pose<P>& root, const Vec3<P>& gravity) {
  return as<S>(transposed_times(root.R, Vec3<P>{-gravity.x, -gravity.y, -gravity.z}));
}

}  // namespace thunder
