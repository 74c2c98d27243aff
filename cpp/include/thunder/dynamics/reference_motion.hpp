// Motion of a frame along a reference: bilinear in the velocity and a reference velocity, so that the wrench it takes is the one of the
// Christoffel form of C.
#pragma once

#include "composite.hpp"
#include "joint_steps.hpp"

namespace thunder {

/// Motion of a frame in its own axes: w, reference w_r, acceleration-like e (angular) and a (linear, gravity as -g).
template <class S>
struct ReferenceMotion {
  Vec3<S> w, w_r, e, a;
};
template <class S, class F>
THUNDER_INLINE void each(ReferenceMotion<S>& t, F&& f) {
  each(t.w, f), each(t.w_r, f), each(t.e, f), each(t.a, f);
}

/// Products of the two velocities, K = sym(w w_r') - (w.w_r) 1, and [e] + K, which takes p to its part of the
/// acceleration.
template <class S>
struct ReferenceProducts {
  Sym3<S> K;
  Mat3<S> A;

  THUNDER_INLINE explicit ReferenceProducts(const ReferenceMotion<S>& m) {
    const Vec3<S>&w = m.w, &r = m.w_r;
    const S xx = w.x * r.x, yy = w.y * r.y, zz = w.z * r.z;
    K = {-(yy + zz), (w.x * r.y + w.y * r.x) * 0.5, (w.x * r.z + w.z * r.x) * 0.5, -(xx + zz),
         (w.y * r.z + w.z * r.y) * 0.5, -(xx + yy)};
    A = skew_plus(m.e, K);
  }
};

/// The motion seen from a frame at constant pose.
template <class S, class P>
THUNDER_INLINE ReferenceMotion<S> seen_from(const ReferenceMotion<S>& m, const Pose<P>& pose) {
  const ReferenceProducts<S> products(m);
  return {transposed_times(pose.R, m.w), transposed_times(pose.R, m.w_r), transposed_times(pose.R, m.e),
          transposed_times(pose.R, m.a + products.A * pose.p)};
}

/// `classical`: the reference velocity is the velocity.
template <bool classical, class S, class P>
THUNDER_INLINE ReferenceMotion<S> next_motion(const ReferenceMotion<S>& parent, const Mat3<S>& parent_A,
                                              const JointStep<S, P>& step, bool revolute, const S& v, const S& v_r,
                                              const S& a_r) {
  ReferenceMotion<S> m{step.down(parent.w), {}, step.down(parent.e), step.down(parent.a + parent_A * step.p)};
  m.w_r = classical ? m.w : step.down(parent.w_r);
  if (revolute) {
    const S half = v * 0.5, half_r = v_r * 0.5;
    m.e.x += m.w.y * half_r + m.w_r.y * half;
    m.e.y -= m.w.x * half_r + m.w_r.x * half;
    m.e.z += a_r;
    m.w.z += v;
    m.w_r.z += v_r;
  } else {
    m.a.x += m.w.y * v_r + m.w_r.y * v;
    m.a.y -= m.w.x * v_r + m.w_r.x * v;
    m.a.z += a_r;
  }
  return m;
}

/// Wrench of a unit of a rotor's inertia: its moment on the carrier, and the torque on the joint that it drives.
template <class S>
struct RotorColumn {
  Vec3<S> moment;
  S torque;
};
template <class S, class P>
THUNDER_INLINE RotorColumn<S> rotor_column(const Rotor<P>& rotor, const ReferenceMotion<S>& m, const S* v, const S* v_r, const S* a_r) {
  const Vec3<S> a = as<S>(rotor.axis);
  const S spin = spin_of(rotor, m.w, v), spin_r = spin_of(rotor, m.w_r, v_r), spin_dot = spin_of(rotor, m.e, a_r);
  return {a * spin_dot + (cross(m.w, a) * spin_r + cross(m.w_r, a) * spin) * 0.5, spin_dot * rotor.ratio};
}

}  // namespace thunder
