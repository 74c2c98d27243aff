// Generalized momentum p = M dq and its drift C' dq, the part of its derivative that velocities make:
// p' = tau + C' dq - G - friction.
#pragma once

#include "composite.hpp"
#include "joint_steps.hpp"

namespace thunder {

/// v x S, the rate of a joint's own axis in its frame, which moves with the twist v.
template <class S>
THUNDER_INLINE Screw<S> rate_of_axis(bool revolute, const Screw<S>& v) {
  const S zero(0.0);
  const Vec3<S> turned{v.w.y, -v.w.x, zero};
  if (revolute) return {turned, {v.u.y, -v.u.x, zero}};
  return {{zero, zero, zero}, turned};
}

/// The twist of the next joint frame, in its axes.
template <class S, class P>
THUNDER_INLINE Screw<S> next_twist(const Screw<S>& v, const JointStep<S, P>& step, bool revolute, const S& dq) {
  Screw<S> r{step.down(v.w), step.down(v.u + cross(v.w, step.p))};
  (revolute ? r.w.z : r.u.z) += dq;
  return r;
}

/// p = M dq and C' dq by a pass of twists outwards and of momenta inwards: the drift of joint j is the power of the momentum of the
/// bodies behind it on the rate of its axis.
template <class S, class P>
void momentum_and_drift(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* p, S* drift) {
  const int n = chain.n;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<Turn, S> turns(work, n);
  Joints<Screw, S> twists(work, n);
  Joints<Momentum, S> momenta(work, n);
  joint_turns(chain, q, n, turns);
  Screw<S> v{zero, zero};
  for (int i = 0; i < n; ++i) {
    const Link<P>& link = chain.links[i];
    v = next_twist(v, JointStep<S, P>(link, turns.get(i), q[i]), link.type == JointType::revolute, dq[i]);
    twists.set(i, v);
    p[i] = chain.has_armature ? S(dq[i] * link.armature) : S(0.0);
  }
  twists.pad(n);
  for (int i = 0; i < n; i += kLanes<S>) momenta.store(i, momentum(link_inertia<S>(chain, i), twists.load(i)));
  for (int k = 0; k < chain.rotor_count; ++k) {
    const Rotor<P>& rotor = chain.rotors[k];
    const int carrier = rotor.carrier - 1;
    const S momentum = spin_of(rotor, carrier < 0 ? zero : twists.get(carrier).w, dq) * rotor.inertia;
    p[rotor.joint] += momentum * rotor.ratio;
    if (carrier < 0) continue;
    Momentum<S> of_carrier = momenta.get(carrier);
    of_carrier.n += as<S>(rotor.axis) * momentum;
    momenta.set(carrier, of_carrier);
  }
  Momentum<S> behind{zero, zero};  // of the bodies from joint i on, in its frame
  for (int i = n - 1; i >= 0; --i) {
    const bool revolute = chain.links[i].type == JointType::revolute;
    const Momentum<S> own = momenta.get(i);
    behind.n += own.n;
    behind.f += own.f;
    p[i] += revolute ? behind.n.z : behind.f.z;
    drift[i] = dot(rate_of_axis(revolute, twists.get(i)), behind.n, behind.f);
    const JointStep<S, P> step(chain.links[i], turns.get(i), q[i]);
    behind.f = step.up(behind.f);
    behind.n = step.up(behind.n) + cross(step.p, behind.f);
  }
}

template <class S, class P>
void generalized_momentum(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* p) {
  const PerJoint<S> drift(work, chain.n);
  momentum_and_drift(chain, work, q, dq, p, drift.data);
}

template <class S, class P>
void momentum_drift(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* drift) {
  const PerJoint<S> p(work, chain.n);
  momentum_and_drift(chain, work, q, dq, p.data, drift);
}

}  // namespace thunder
