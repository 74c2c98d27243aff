// Gravity vector.
#pragma once

#include "forward_kinematics.hpp"
#include "mass_coriolis_link_frames.hpp"

namespace thunder {

/// As `gravity_vector`, in axes before the turn of each joint; for recordings.
template <class S, class P>
void gravity_vector_link_frames(const ChainView<P>& chain, Workspace work, const S* q, S* G) {
  Joints<Turn, S> turns(work, chain.n);
  joint_turns(chain, q, chain.n, turns);
  const PerJoint<Vec3<S>> gravity(work, chain.n);
  Vec3<S> g = as<S>(transposed_times(chain.root.R, chain.gravity));
  for (int i = 0; i < chain.n; ++i) {
    gravity[i] = rotated_back(Tilt<P>(chain.links[i].cos_alpha, chain.links[i].sin_alpha), g);
    g = turned(turns.get(i), gravity[i]);
  }
  P m(0.0);
  Vec3<S> h{S(0.0), S(0.0), S(0.0)};  // composite mass and first moment
  for (int i = chain.n - 1; i >= 0; --i) {
    const JointTransfer<S, P> joint(chain.links[i], turns.get(i), q[i]);
    const BodyInertia<P> body = chain.bodies.get(i);
    m += body.m;
    h = rotated_back(joint.turn, h + as<S>(body.h));
    g = gravity[i];
    G[i] = joint.revolute ? h.y * g.x - h.x * g.y : -(g.z * m);
    h = tilted(joint.tilt, h) + joint.p * m;
  }
}

/// G = dU/dq, n values.
template <class S, class P>
void gravity_vector(const ChainView<P>& chain, Workspace work, const S* q, S* G) {
  if constexpr (kPrefersLinkFrames<S>) return gravity_vector_link_frames(chain, work, q, G);
  Joints<Pose, S> poses(work, chain.n);
  joint_frames_from(Vec3<P>{P(0.0), P(0.0), P(0.0)}, chain, work, q, chain.n, poses);
  S m(0.0);
  Vec3<S> h{S(0.0), S(0.0), S(0.0)};  // composite mass and first moment, from the tip down
  for (int i = chain.n - 1; i >= 0; --i) {
    const Pose<S> pose = poses.get(i);
    const BodyInertia<P> body = chain.bodies.get(i);
    h += pose.R * body.h + pose.p * body.m;
    m += body.m;
    const Vec3<S> z = z_axis(pose.R), f = as<S>(chain.gravity) * m;
    if (chain.links[i].type == JointType::revolute)
      G[i] = -(dot(z, cross(h, chain.gravity)) + dot(cross(pose.p, z), f));
    else
      G[i] = -dot(z, f);
  }
}

}  // namespace thunder
