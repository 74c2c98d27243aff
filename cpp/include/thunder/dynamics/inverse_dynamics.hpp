// Inverse dynamics by the recursive Newton-Euler algorithm in joint frames.
#pragma once

#include "../model/friction.hpp"
#include "kinematics.hpp"

namespace thunder {

template <class S>
struct Motion {  // of a joint frame, in its own axes
  Vec3<S> w, dw, a;
};

/// Motion of the next joint frame; `a` is the acceleration of its origin, gravity included as -g.
template <class S>
THUNDER_INLINE Motion<S> next_motion(const Motion<S>& m, const Pose<S>& T, bool revolute, const S& dq, const S& ddq) {
  Motion<S> r;
  r.w = transposed_times(T.R, m.w);
  r.dw = transposed_times(T.R, m.dw);
  r.a = transposed_times(T.R, m.a + cross(m.dw, T.p) + cross(m.w, cross(m.w, T.p)));
  if (revolute) {
    r.dw += Vec3<S>{r.w.y * dq, -(r.w.x * dq), ddq};
    r.w.z += dq;
  } else {
    const S twice = dq * 2.0;
    r.a += Vec3<S>{r.w.y * twice, -(r.w.x * twice), ddq};
  }
  return r;
}

template <class S>
struct Wrench {
  Vec3<S> n, f;
};

template <class S, class P>
THUNDER_INLINE Wrench<S> body_wrench(const Link<P>& link, const Motion<S>& m) {
  const Vec3<S> h{S(link.h.x), S(link.h.y), S(link.h.z)};
  return {link.I * m.dw + cross(m.w, link.I * m.w) + cross(h, m.a),
          m.a * link.m + cross(m.dw, h) + cross(m.w, cross(m.w, h))};
}

/// Moment of a rotor on its carrier, in the carrier's joint frame; its torque on the driven joint goes to `tau`.
template <class S, class P>
THUNDER_INLINE Vec3<S> rotor_moment(const Rotor<P>& rotor, const Motion<S>& carrier, const S* dq, const S* ddq, S* tau) {
  const Vec3<S> a{S(rotor.axis.x), S(rotor.axis.y), S(rotor.axis.z)};
  const S spin = dot(carrier.w, a) + dq[rotor.joint] * rotor.ratio;
  const S spin_dot = dot(carrier.dw, a) + ddq[rotor.joint] * rotor.ratio;
  tau[rotor.joint] += spin_dot * rotor.inertia * rotor.ratio;
  return (a * spin_dot + cross(carrier.w, a) * spin) * rotor.inertia;
}

/// tau = M ddq + C dq + G + friction.
template <class S, class P>
void inverse_dynamics(const ChainView<P>& chain, const S* q, const S* dq, const S* ddq, S* tau) {
  const int n = chain.n;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<Pose<S>> T;
  PerJoint<Wrench<S>> wrench;
  const Motion<S> base{zero, zero, {S(-chain.gravity.x), S(-chain.gravity.y), S(-chain.gravity.z)}};
  Motion<S> motion = base;
  for (int i = 0; i < n; ++i) tau[i] = friction_of_joint(chain, i, dq[i]);
  for (int k = 0; k < chain.rotor_count; ++k)
    if (chain.rotors[k].carrier == 0) rotor_moment(chain.rotors[k], base, dq, ddq, tau);
  for (int i = 0; i < n; ++i) {
    const Link<P>& link = chain.links[i];
    T[i] = joint_pose(link, q[i]);
    motion = next_motion(motion, T[i], link.type == JointType::revolute, dq[i], ddq[i]);
    wrench[i] = body_wrench(link, motion);
    for (int k = 0; k < chain.rotor_count; ++k)
      if (chain.rotors[k].carrier == i + 1) wrench[i].n += rotor_moment(chain.rotors[k], motion, dq, ddq, tau);
    if (chain.has_armature) tau[i] += ddq[i] * link.armature;
  }
  for (int i = n - 1; i >= 0; --i) {
    tau[i] += chain.links[i].type == JointType::revolute ? wrench[i].n.z : wrench[i].f.z;
    if (i == 0) break;
    const Vec3<S> f = T[i].R * wrench[i].f;
    wrench[i - 1].f += f;
    wrench[i - 1].n += T[i].R * wrench[i].n + cross(T[i].p, f);
  }
}

}  // namespace thunder
