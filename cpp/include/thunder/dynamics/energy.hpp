// Potential and kinetic energy.
#pragma once

#include "mass_matrix.hpp"

namespace thunder {

/// U = -sum m g.c, zero for masses at the world origin.
template <class S, class P>
void potential_energy(const ChainView<P>& chain, Workspace work, const S* q, S* U) {
  Joints<Pose, S> poses(work, chain.n);
  joint_frames(chain, work, q, chain.n, poses);
  S sum(0.0);
  for (int i = 0; i < chain.n; ++i) {
    const Pose<S> pose = poses.get(i);
    const BodyInertia<P> body = chain.bodies.get(i);
    sum -= dot(pose.R * body.h + pose.p * body.m, chain.gravity);
  }
  *U = sum;
}

/// T = 1/2 dq' M dq, by bodies, rotors and armatures.
template <class S, class P>
void kinetic_energy(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* T) {
  MassPass<S> pass(work, chain.n);
  screws_and_bodies(chain, work, q, pass);
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  const PerJoint<Vec3<S>> w(work, chain.n);
  Screw<S> v{zero, zero};
  S sum(0.0);
  for (int i = 0; i < chain.n; ++i) {
    add_scaled(v, pass.screws.get(i), dq[i]);
    w[i] = v.w;
    const Momentum<S> h = momentum(pass.bodies.get(i), v);
    sum += dot(v, h.n, h.f);
    if (chain.has_armature) sum += dq[i] * dq[i] * chain.links[i].armature;
  }
  for (int k = 0; k < chain.rotor_count; ++k) {
    const Rotor<P>& rotor = chain.rotors[k];
    S spin = dq[rotor.joint] * rotor.ratio;
    if (rotor.carrier > 0) spin += dot(w[rotor.carrier - 1], pass.poses.get(rotor.carrier - 1).R * rotor.axis);
    sum += spin * spin * rotor.inertia;
  }
  *T = sum * 0.5;
}

}  // namespace thunder
