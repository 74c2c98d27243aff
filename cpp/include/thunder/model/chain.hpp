// The serial chain of the kernels: plain data in a normal form. Joint frame i stands in joint frame i-1 at
//   translation p, then Rot_x(alpha), then Rot_z(theta + q) or Rot_z(theta) Tr_z(q),
// the joint acting along its z. Every chain has this form once the frames are turned about their own axes; for
// modified Denavit-Hartenberg tables it is the table. Joint frame 0 is the root, fixed in the world.
//
// P is the scalar of the parameters: double when the robot is run-time data, a recording scalar when the model is
// symbolic.
#pragma once

#include "../math/lanes.hpp"
#include "../math/linear.hpp"
#include "elastic.hpp"

namespace thunder {

enum class JointType : int { revolute, prismatic };

template <class P>
struct Link {
  JointType type;
  P cos_alpha, sin_alpha;
  Vec3<P> p;
  P theta, cos_theta, sin_theta;
  P armature;
  bool has_offset;  // true if the link frame, in which REG parameters are expressed, differs from the joint frame
  Pose<P> offset;   // link frame in the joint frame
};

/// Mass, first moment and inertia about the origin of some frame, in its axes.
template <class S>
struct BodyInertia {
  S m;
  Vec3<S> h;
  Sym3<S> I;
};
template <class S, class F>
THUNDER_INLINE void each(BodyInertia<S>& t, F&& f) {
  f(t.m), each(t.h, f), each(t.I, f);
}

/// Axial inertia of a motor, spinning at ratio * dq[joint] about an axis fixed in the carrying link.
template <class P>
struct Rotor {
  int joint;    // 0-based driven joint
  int carrier;  // number of joints that move the carrier: 0 is the base
  Vec3<P> axis;  // in the joint frame of the carrier
  P ratio, inertia;
};

/// Spin of a rotor from the angular velocity of its carrier, in the carrier's joint frame; of accelerations the rate of the spin.
template <class S, class P>
THUNDER_INLINE S spin_of(const Rotor<P>& rotor, const Vec3<S>& w, const S* dq) {
  return dot(w, as<S>(rotor.axis)) + dq[rotor.joint] * rotor.ratio;
}

enum class FrictionTerm : int { viscous, coulomb, quadratic, cubic, quartic, quintic, sextic };

/// A frame moved by the first `joint` joints.
template <class P>
struct Frame {
  int joint;
  Pose<P> pose;  // in the frame of that joint; in the world where no joint moves it
};

/// Chosen rows of a 6 x n Jacobian: bit r keeps row r.
struct TaskRows {
  int mask = 0x3f;
  THUNDER_INLINE int count() const { return __builtin_popcount(static_cast<unsigned>(mask)); }
  THUNDER_INLINE bool has(int row) const { return (mask >> row & 1) != 0; }
};

/// Options of a call besides its vectors.
template <class P>
struct Selection {
  Frame<P> frame;
  TaskRows rows;
};

template <class P>
struct ChainView {
  int n;
  const Link<P>* links;
  Joints<BodyInertia, P> bodies;  // of the links, about their joint frames
  const P* theta;                        // of the links, padded to whole packs
  const P* revolute;                     // 1 or 0, padded to whole packs
  bool all_revolute;
  Pose<P> root;  // joint frame 0 in the world
  Vec3<P> gravity;
  int rotor_count;
  const Rotor<P>* rotors;
  int friction_count;  // terms per joint
  const FrictionTerm* friction_terms;
  const P* friction;  // n x friction_count
  P delta;            // width of the smooth sign
  bool has_armature;
  ElasticView<P> elastic{};

  THUNDER_INLINE int friction_column(int joint, int term) const {
    return kLinkParameters * n + joint * friction_count + term;
  }
  THUNDER_INLINE int rotor_column(int rotor) const { return friction_column(n, 0) + rotor; }
  THUNDER_INLINE int armature_column(int joint) const { return rotor_column(rotor_count) + joint; }
  /// Length of the parameter vector: inertial, friction, rotors, armature.
  THUNDER_INLINE int parameters() const { return armature_column(has_armature ? n : 0); }
};

/// Inertia of the links whose joints share lane i.
template <class S, class P>
THUNDER_INLINE auto link_inertia(const ChainView<P>& chain, int i) {
  if constexpr (kLanes<S> == 1)
    return chain.bodies.get(i);
  else
    return chain.bodies.template load<Lane<S>>(i);
}

/// Scratch for one value per joint, and for n x n or 6 x n matrices.
template <class T>
struct PerJoint {
  T* data;
  THUNDER_INLINE PerJoint(Workspace& work, int n) : data(work.take<T>(n)) {}
  THUNDER_INLINE T& operator[](int i) const { return data[i]; }
};
/// The same, of zeros.
template <class S>
THUNDER_INLINE PerJoint<S> zeros(Workspace& work, int n) {
  const PerJoint<S> values(work, n);
  for (int i = 0; i < n; ++i) values[i] = S(0.0);
  return values;
}

}  // namespace thunder
