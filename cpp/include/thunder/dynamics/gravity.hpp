// Gravity vector and energies.
#pragma once

#include "composite.hpp"

namespace thunder {

/// G = dU/dq, n values.
template <class S, class P>
void gravity_vector(const ChainView<P>& chain, const S* q, S* G) {
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, chain.n, pose.data);
  S m(0.0);
  Vec3<S> h{S(0.0), S(0.0), S(0.0)};  // composite mass and first moment, from the tip down
  for (int i = chain.n - 1; i >= 0; --i) {
    const Link<P>& link = chain.links[i];
    h += pose[i].R * link.h + pose[i].p * link.m;
    m += S(link.m);
    const Vec3<S> f = Vec3<S>{S(chain.gravity.x), S(chain.gravity.y), S(chain.gravity.z)} * m;
    G[i] = -dot(joint_screw(link, pose[i]), cross(h, chain.gravity), f);
  }
}

/// U = -sum m g.c, zero for masses at the world origin.
template <class S, class P>
void potential_energy(const ChainView<P>& chain, const S* q, S* U) {
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, chain.n, pose.data);
  S sum(0.0);
  for (int i = 0; i < chain.n; ++i) {
    const Link<P>& link = chain.links[i];
    sum -= dot(pose[i].R * link.h + pose[i].p * link.m, chain.gravity);
  }
  *U = sum;
}

/// T = 1/2 dq' M dq, by bodies, rotors and armatures.
template <class S, class P>
void kinetic_energy(const ChainView<P>& chain, const S* q, const S* dq, S* T) {
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, chain.n, pose.data);
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<Vec3<S>> w;
  Screw<S> v{zero, zero};
  S sum(0.0);
  for (int i = 0; i < chain.n; ++i) {
    const Link<P>& link = chain.links[i];
    const Screw<S> s = joint_screw(link, pose[i]);
    v.w += s.w * dq[i];
    v.u += s.u * dq[i];
    w[i] = v.w;
    const Momentum<S> h = momentum(body_inertia(link, pose[i]), v);
    sum += dot(v, h.n, h.f);
    if (chain.has_armature) sum += dq[i] * dq[i] * link.armature;
  }
  for (int k = 0; k < chain.rotor_count; ++k) {
    const Rotor<P>& rotor = chain.rotors[k];
    S spin = dq[rotor.joint] * rotor.ratio;
    if (rotor.carrier > 0) spin += dot(w[rotor.carrier - 1], pose[rotor.carrier - 1].R * rotor.axis);
    sum += spin * spin * rotor.inertia;
  }
  *T = sum * 0.5;
}

}  // namespace thunder
