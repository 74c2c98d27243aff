// Torque of a model along a reference motion, without its regressor.
#pragma once

#include "inverse_dynamics.hpp"
#include "reference_motion.hpp"

namespace thunder {

/// Wrench of a reference motion of a body, about the joint frame's origin.
template <class L, class P>
THUNDER_INLINE Momentum<L> body_wrench(const BodyInertia<P>& body, const ReferenceMotion<L>& m) {
  const Mat3<L> A = ReferenceProducts<L>(m).A;
  const Sym3<L> J = second_moments<L>(body).J;
  const Vec3<L> h = as<L>(body.h);
  const Vec3<L> turning{(A.zx * J.xy - A.yx * J.xz) + (A.zy * J.yy - A.yz * J.zz) + (A.zz - A.yy) * J.yz,
                        (A.xy * J.yz - A.zy * J.xy) + (A.xz * J.zz - A.zx * J.xx) + (A.xx - A.zz) * J.xz,
                        (A.yz * J.xz - A.xz * J.yz) + (A.yx * J.xx - A.xy * J.yy) + (A.yy - A.xx) * J.xy};
  return {turning + cross(h, m.a), m.a * body.m + A * h};
}

/// tau = M ddq_r + C(q, dq) dq_r + G + friction(dq).
template <class S, class P>
void slotine_li_torque(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* dq_r, const S* ddq_r, S* tau) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  joint_torques(chain, dq, ddq_r, tau);
  newton_euler(
      chain, work, q, ReferenceMotion<S>{zero, zero, zero, root_acceleration<S>(chain.root, chain.gravity)},
      [&](const ReferenceMotion<S>& m, const JointStep<S, P>& step, bool revolute, int i) {
        return next_motion<false>(m, ReferenceProducts<S>(m).A, step, revolute, dq[i], dq_r[i], ddq_r[i]);
      },
      [](int, const auto& body, const auto& m) { return body_wrench(body, m); },
      [&](const Rotor<P>& rotor, const ReferenceMotion<S>& m) {
        const RotorColumn<S> column = rotor_column(rotor, m, dq, dq_r, ddq_r);
        tau[rotor.joint] += column.torque * rotor.inertia;
        return column.moment * rotor.inertia;
      },
      tau);
}

}  // namespace thunder
