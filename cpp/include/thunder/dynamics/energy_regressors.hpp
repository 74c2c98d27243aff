// Regressors of kinetic and potential energy, p entries each: times the parameters they are the energies.
#pragma once

#include "../model/friction.hpp"
#include "momentum.hpp"

namespace thunder {

/// K pi = 1/2 dq' M dq. For a link with twist (w, u): 1/2 u.u for its mass, u x w for its first moment, the products of w for its inertia.
template <class S, class P>
void kinetic_energy_regressor(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* K) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<Turn, S> turns(work, chain.n);
  joint_turns(chain, q, chain.n, turns);
  Screw<S> v{zero, zero};
  const auto rotors_of = [&](int carrier) {
    for (int k = 0; k < chain.rotor_count; ++k) {
      if (chain.rotors[k].carrier != carrier) continue;
      const S spin = spin_of(chain.rotors[k], v.w, dq);
      K[chain.rotor_column(k)] = spin * spin * 0.5;
    }
  };
  for (int c = chain.friction_column(0, 0); c < chain.rotor_column(0); ++c) K[c] = S(0.0);
  rotors_of(0);
  for (int i = 0; i < chain.n; ++i) {
    const Link<P>& link = chain.links[i];
    v = next_twist(v, JointStep<S, P>(link, turns.get(i), q[i]), link.type == JointType::revolute, dq[i]);
    const Screw<S> s = link.has_offset ? seen_from(v, link.offset) : v;
    const Vec3<S>&w = s.w, h = cross(s.u, s.w);
    const S columns[kLinkParameters] = {dot(s.u, s.u) * 0.5, h.x,       h.y,             h.z,       w.x * w.x * 0.5,
                                        w.x * w.y,           w.x * w.z, w.y * w.y * 0.5, w.y * w.z, w.z * w.z * 0.5};
    for (int k = 0; k < kLinkParameters; ++k) K[kLinkParameters * i + k] = columns[k];
    rotors_of(i + 1);
    if (chain.has_armature) K[chain.armature_column(i)] = dq[i] * dq[i] * 0.5;
  }
}

/// U pi = the potential energy, zero for masses at the world origin: -g.p for the mass of a link at p, -R' g for its first moment.
template <class S, class P>
void potential_energy_regressor(const ChainView<P>& chain, Workspace work, const S* q, S* U) {
  Joints<Pose, S> poses(work, chain.n);
  joint_frames(chain, work, q, chain.n, poses);
  for (int c = 0; c < chain.parameters(); ++c) U[c] = S(0.0);
  const Vec3<S> up = as<S>(chain.gravity) * -1.0;
  for (int i = 0; i < chain.n; ++i) {
    const Link<P>& link = chain.links[i];
    const Pose<S> pose = poses.get(i);
    Vec3<S> p = pose.p, h = transposed_times(pose.R, up);
    if (link.has_offset) {
      p += pose.R * as<S>(link.offset.p);
      h = transposed_times(link.offset.R, h);
    }
    S* columns = U + kLinkParameters * i;
    columns[0] = dot(p, up);
    columns[1] = h.x, columns[2] = h.y, columns[3] = h.z;
  }
}

}  // namespace thunder
