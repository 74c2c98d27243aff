// Mass matrix from composite bodies at the root.
#pragma once

#include "composite.hpp"
#include "mass_coriolis_link_frames.hpp"

namespace thunder {

/// a a' scaled
template <class S>
THUNDER_INLINE Sym3<S> outer(const Vec3<S>& a, const S& k) {
  const Vec3<S> b = a * k;
  return {a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z};
}
/// Composite bodies and the joint screws: the state of a mass matrix computation.
template <class S>
struct MassPass {
  Joints<Pose, S> poses;
  Joints<Screw, S> screws;
  Joints<BodyInertia, S> bodies;  // of single links, then of all from a joint on

  THUNDER_INLINE MassPass(Workspace& work, int n) : poses(work, n), screws(work, n), bodies(work, n) {}
};

/// Contribution of a rotor to M of its driven joint; its part as a body of the carrier goes into `pass.bodies`.
template <class S, class P>
THUNDER_INLINE void add_rotor_mass(const Rotor<P>& rotor, int n, MassPass<S>& pass, S* M) {
  const S k(rotor.ratio * rotor.inertia);
  M[rotor.joint * n + rotor.joint] += k * rotor.ratio;
  if (rotor.carrier == 0) return;
  const Vec3<S> a = pass.poses.get(rotor.carrier - 1).R * rotor.axis;
  BodyInertia<S> body = pass.bodies.get(rotor.carrier - 1);
  body.I = body.I + outer(a, S(rotor.inertia));
  pass.bodies.set(rotor.carrier - 1, body);
  for (int j = 0; j < rotor.carrier; ++j) {
    const S value = dot(pass.screws.get(j).w, a) * k;
    M[j * n + rotor.joint] += value;
    M[rotor.joint * n + j] += value;
  }
}

/// True if there are rotors or armatures.
template <class P>
THUNDER_INLINE bool has_rotors(const ChainView<P>& chain) {
  return chain.rotor_count > 0 || chain.has_armature;
}

/// The part of M that is not a sum over composite bodies: rotors and armature.
template <class S, class P>
THUNDER_INLINE void rotor_mass(const ChainView<P>& chain, MassPass<S>& pass, S* M) {
  const int n = chain.n;
  for (int i = 0; i < n * n; ++i) M[i] = S(0.0);
  for (int k = 0; k < chain.rotor_count; ++k) add_rotor_mass(chain.rotors[k], n, pass, M);
  if (chain.has_armature)
    for (int i = 0; i < n; ++i) M[i * n + i] += S(chain.links[i].armature);
}

/// Entries j < count of row k from packs: idle lanes may run into what later rows write, not past the end of A.
template <class S, class L>
THUNDER_INLINE void store_row(const L& lane, int n, int k, int j, S* A) {
  store_lanes(lane, A + k * n + j, n * n - (k * n + j));
}

/// M[k][j] for j <= k from the momentum F of composite k at unit speed of joint k. Rows in ascending order.
template <class S>
THUNDER_INLINE void write_mass_row(int n, int k, const Momentum<S>& F, const Joints<Screw, S>& screws, S* M) {
  using L = Lane<S>;
  const Vec3<L> moment = as<L>(F.n), force = as<L>(F.f);
  for (int j = 0; j <= k; j += kLanes<S>) store_row(dot(screws.load(j), moment, force), n, k, j, M);
}

template <class S>
THUNDER_INLINE void mirror(int n, S* M) {
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) M[i * n + j] = M[j * n + i];
}

template <class S, class P>
THUNDER_INLINE void screws_and_bodies(const ChainView<P>& chain, Workspace work, const S* q, MassPass<S>& pass) {
  // moments about the root, not the world origin: a base far away would cost digits
  joint_frames_from(Vec3<P>{P(0.0), P(0.0), P(0.0)}, chain, work, q, chain.n, pass.poses);
  for (int i = 0; i < chain.n; i += kLanes<S>) {
    const Pose<Lane<S>> pose = pass.poses.load(i);
    pass.screws.store(i, joint_screw<S>(chain, i, pose));
    pass.bodies.store(i, moved(link_inertia<S>(chain, i), pose));
  }
}

template <class S>
THUNDER_INLINE void add(int n, const S* A, S* B) {
  for (int i = 0; i < n * n; ++i) B[i] += A[i];
}

/// M, n x n row by row.
template <class S, class P>
void mass_matrix(const ChainView<P>& chain, Workspace work, const S* q, S* M) {
  if constexpr (kPrefersLinkFrames<S>) return mass_matrix_link_frames(chain, work, q, M);
  const int n = chain.n;
  MassPass<S> pass(work, n);
  Joints<Momentum, S> momenta(work, n);
  const PerJoint<S> rotors(work, n * n);
  screws_and_bodies(chain, work, q, pass);
  if (has_rotors(chain)) rotor_mass(chain, pass, rotors.data);
  pass.bodies.sum_from_tip(n);
  for (int i = 0; i < n; i += kLanes<S>) momenta.store(i, momentum(pass.bodies.load(i), pass.screws.load(i)));
  for (int k = 0; k < n; ++k) write_mass_row(n, k, momenta.get(k), pass.screws, M);
  mirror(n, M);
  if (has_rotors(chain)) add(n, rotors.data, M);
}

}  // namespace thunder
