// Gravity vector and energies.
#pragma once

#include "mass_coriolis.hpp"

namespace thunder {

/// As `gravity_vector`, in axes before the turn of each joint; for recordings.
template <class S, class P>
void gravity_vector_link_frames(const ChainView<P>& chain, const S* q, S* G) {
  Joints<Turn, S> turns;
  joint_turns(chain, q, chain.n, turns);
  PerJoint<Vec3<S>> gravity;
  Vec3<S> g = as<S>(transposed_times(chain.root.R, chain.gravity));
  for (int i = 0; i < chain.n; ++i) {
    gravity[i] = untilted(Tilt<P>(chain.links[i].cos_alpha, chain.links[i].sin_alpha), g);
    g = turned(turns.get(i), gravity[i]);
  }
  P m(0.0);
  Vec3<S> h{S(0.0), S(0.0), S(0.0)};  // composite mass and first moment
  for (int i = chain.n - 1; i >= 0; --i) {
    const JointTransfer<S, P> joint(chain.links[i], turns.get(i), q[i]);
    const BodyInertia<P> body = chain.bodies->get(i);
    m += body.m;
    h = unturned(joint.turn, h + as<S>(body.h));
    g = gravity[i];
    G[i] = joint.revolute ? h.y * g.x - h.x * g.y : -(g.z * m);
    h = tilted(joint.tilt, h) + joint.p * m;
  }
}

/// G = dU/dq, n values.
template <class S, class P>
void gravity_vector(const ChainView<P>& chain, const S* q, S* G) {
  if constexpr (kPrefersLinkFrames<S>) return gravity_vector_link_frames(chain, q, G);
  Joints<Pose, S> poses;
  joint_frames_from(Vec3<P>{P(0.0), P(0.0), P(0.0)}, chain, q, chain.n, poses);
  S m(0.0);
  Vec3<S> h{S(0.0), S(0.0), S(0.0)};  // composite mass and first moment, from the tip down
  for (int i = chain.n - 1; i >= 0; --i) {
    const Pose<S> pose = poses.get(i);
    const BodyInertia<P> body = chain.bodies->get(i);
    h += pose.R * body.h + pose.p * body.m;
    m += body.m;
    const Vec3<S> z = z_axis(pose.R), f = as<S>(chain.gravity) * m;
    if (chain.links[i].type == JointType::revolute)
      G[i] = -(dot(z, cross(h, chain.gravity)) + dot(cross(pose.p, z), f));
    else
      G[i] = -dot(z, f);
  }
}

/// U = -sum m g.c, zero for masses at the world origin.
template <class S, class P>
void potential_energy(const ChainView<P>& chain, const S* q, S* U) {
  Joints<Pose, S> poses;
  joint_frames(chain, q, chain.n, poses);
  S sum(0.0);
  for (int i = 0; i < chain.n; ++i) {
    const Pose<S> pose = poses.get(i);
    const BodyInertia<P> body = chain.bodies->get(i);
    sum -= dot(pose.R * body.h + pose.p * body.m, chain.gravity);
  }
  *U = sum;
}

/// T = 1/2 dq' M dq, by bodies, rotors and armatures.
template <class S, class P>
void kinetic_energy(const ChainView<P>& chain, const S* q, const S* dq, S* T) {
  MassPass<S> pass;
  screws_and_bodies(chain, q, pass);
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<Vec3<S>> w;
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
