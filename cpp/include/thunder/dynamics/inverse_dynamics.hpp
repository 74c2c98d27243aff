// Inverse dynamics by the recursive Newton-Euler algorithm in joint frames.
#pragma once

#include "../math/outline.hpp"
#include "../model/friction.hpp"
#include "composite.hpp"
#include "second_moments.hpp"

namespace thunder {

/// Motion of a joint frame, in its own axes: angular velocity and acceleration, acceleration of the origin (gravity as -g).
template <class S>
struct Motion {
  Vec3<S> w, dw, a;
};
template <class S, class F>
THUNDER_INLINE void each(Motion<S>& t, F&& f) {
  each(t.w, f), each(t.dw, f), each(t.a, f);
}

template <class S, class P>
THUNDER_INLINE Motion<S> next_motion(const Motion<S>& m, const JointStep<S, P>& step, bool revolute, const S& dq,
                                     const S& ddq) {
  Motion<S> r{step.down(m.w), step.down(m.dw), step.down(m.a + skew_plus(m.dw, centripetal(m.w)) * step.p)};
  if (revolute) {
    r.dw.x += r.w.y * dq;
    r.dw.y -= r.w.x * dq;
    r.dw.z += ddq;
    r.w.z += dq;
  } else {
    const S twice = dq * 2.0;
    r.a.x += r.w.y * twice;
    r.a.y -= r.w.x * twice;
    r.a.z += ddq;
  }
  return r;
}

/// sum r x A r over particles with second moments J, where A = [dw] + w w' - (w.w) 1: fewer operations than the Euler
/// equation with an inertia tensor, once A is there.
template <class S>
THUNDER_INLINE Vec3<S> rotation_moment(const Mat3<S>& A, const Vec3<S>& w, const Sym3<S>& J) {
  const S xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;  // their differences are those of A's diagonal
  return {(A.zx * J.xy - A.yx * J.xz) + (A.zy * J.yy - A.yz * J.zz) + (zz - yy) * J.yz,
          (A.xy * J.yz - A.zy * J.xy) + (A.xz * J.zz - A.zx * J.xx) + (xx - zz) * J.xz,
          (A.yz * J.xz - A.xz * J.yz) + (A.yx * J.xx - A.xy * J.yy) + (yy - xx) * J.xy};
}

/// Wrench of this motion of a body, about the joint frame's origin.
template <class L, class P>
THUNDER_INLINE Momentum<L> body_wrench(const BodyInertia<P>& body, const Motion<L>& m) {
  const Vec3<L> h = as<L>(body.h);
  if constexpr (kPrefersLinkFrames<L>) {
    const Mat3<L> A = skew_plus(m.dw, centripetal(m.w));
    return {rotation_moment(A, m.w, second_moments<L>(body).J) + cross(h, m.a), m.a * body.m + A * h};
  }
  return {body.I * m.dw + cross(m.w, body.I * m.w) + cross(h, m.a),
          m.a * body.m + skew_plus(m.dw, centripetal(m.w)) * h};
}

/// The same; recorded with uniform pieces, one for all links with symbolic bodies. The first link needs few operations.
template <class B, class L>
THUNDER_INLINE Momentum<L> wrench_piece([[maybe_unused]] int i, const B& body, const Motion<L>& m) {
  if constexpr (Outliner<L>::records)
    if (i > 0 && Outliner<L>::symbolic(body))
      return uniform<L>("body_wrench", [](const B& b, const Motion<L>& of_body) { return body_wrench(b, of_body); }, body, m);
  return body_wrench(body, m);
}

/// Moment of a rotor on its carrier, in the carrier's joint frame; its torque on the driven joint goes to `tau`.
template <class S, class P>
THUNDER_INLINE Vec3<S> rotor_moment(const Rotor<P>& rotor, const Motion<S>& carrier, const S* dq, const S* ddq,
                                    S* tau) {
  const Vec3<S> a = as<S>(rotor.axis);
  const S spin = spin_of(rotor, carrier.w, dq), spin_dot = spin_of(rotor, carrier.dw, ddq);
  tau[rotor.joint] += spin_dot * rotor.inertia * rotor.ratio;
  return (a * spin_dot + cross(carrier.w, a) * spin) * rotor.inertia;
}

/// Newton-Euler recursion: adds to tau_i the power of the wrench of the bodies from joint i on, along its axis. `motion` is that of
/// the root; next(motion, step, revolute, i) that of joint i; wrench_of(i, body, motion) that of the bodies of lane i;
/// moment_of(rotor, motion) the moment of a rotor on its carrier, and its torque on the driven joint goes to tau.
template <template <class> class M, class S, class P, class Next, class WrenchOf, class MomentOf>
THUNDER_INLINE void newton_euler(const ChainView<P>& chain, Workspace work, const S* q, M<S> motion, const Next& next,
                                 const WrenchOf& wrench_of, const MomentOf& moment_of, S* tau) {
  const int n = chain.n;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<Turn, S> turns(work, n);
  Joints<M, S> motions(work, n);
  Joints<Momentum, S> wrenches(work, n);
  joint_turns(chain, q, n, turns);
  for (int k = 0; k < chain.rotor_count; ++k)
    if (chain.rotors[k].carrier == 0) moment_of(chain.rotors[k], motion);
  for (int i = 0; i < n; ++i) {
    const Link<P>& link = chain.links[i];
    motion = next(motion, JointStep<S, P>(link, turns.get(i), q[i]), link.type == JointType::revolute, i);
    motions.set(i, motion);
  }
  motions.pad(n);
  for (int i = 0; i < n; i += kLanes<S>) wrenches.store(i, wrench_of(i, link_inertia<S>(chain, i), motions.load(i)));
  for (int k = 0; k < chain.rotor_count; ++k) {
    const int carrier = chain.rotors[k].carrier - 1;
    if (carrier < 0) continue;
    Momentum<S> wrench = wrenches.get(carrier);
    wrench.n += moment_of(chain.rotors[k], motions.get(carrier));
    wrenches.set(carrier, wrench);
  }
  Momentum<S> wrench{zero, zero};  // of the bodies from joint i on, in its frame
  for (int i = n - 1; i >= 0; --i) {
    const Momentum<S> own = wrenches.get(i);
    wrench.n += own.n;
    wrench.f += own.f;
    tau[i] += chain.links[i].type == JointType::revolute ? wrench.n.z : wrench.f.z;
    const JointStep<S, P> step(chain.links[i], turns.get(i), q[i]);
    wrench.f = step.up(wrench.f);
    wrench.n = step.up(wrench.n) + cross(step.p, wrench.f);
  }
}

/// Friction of the joints at dq, and the torques that accelerate the armatures.
template <class S, class P>
THUNDER_INLINE void joint_torques(const ChainView<P>& chain, const S* dq, const S* ddq, S* tau) {
  for (int i = 0; i < chain.n; ++i) {
    tau[i] = friction_of_joint(chain, i, dq[i]);
    if (chain.has_armature) tau[i] += ddq[i] * chain.links[i].armature;
  }
}

/// tau = M ddq + C dq + G + friction.
template <class S, class P>
void inverse_dynamics(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* tau) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  joint_torques(chain, dq, ddq, tau);
  newton_euler(
      chain, work, q, Motion<S>{zero, zero, root_acceleration<S>(chain.root, chain.gravity)},
      [&](const Motion<S>& m, const JointStep<S, P>& step, bool revolute, int i) {
        return next_motion(m, step, revolute, dq[i], ddq[i]);
      },
      [](int i, const auto& body, const auto& m) { return wrench_piece(i, body, m); },
      [&](const Rotor<P>& rotor, const Motion<S>& carrier) { return rotor_moment(rotor, carrier, dq, ddq, tau); }, tau);
}

}  // namespace thunder
