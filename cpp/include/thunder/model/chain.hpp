// The serial chain as the kernels see it: plain data, the joint axis always z of the joint frame.
//
// P is the scalar of the parameters: double when the robot is run-time data, a recording scalar when the model is
// symbolic. `Chain` owns, `ChainView` is what kernels take.
#pragma once

#include "../math/linear.hpp"

namespace thunder {

/// Kernels keep their scratch on the stack, sized by this, so that they never allocate.
inline constexpr int kMaxJoints = 64;
inline constexpr int kMaxFrictionTerms = 7;
inline constexpr int kLinkParameters = 10;  // REG: m, m c, I about the link frame origin

enum class JointType : int { revolute, prismatic };

template <class P>
struct Link {
  JointType type;
  Pose<P> placement;  // joint frame at q = 0, in the previous joint frame
  P m;                // inertial parameters about the joint frame
  Vec3<P> h;
  Sym3<P> I;
  P armature;
  bool has_offset;  // does the link frame, where REG parameters live, differ from the joint frame?
  Pose<P> offset;   // link frame in the joint frame
};

/// Axial inertia of a motor, spinning at ratio * dq[joint] about an axis fixed in the carrying link.
template <class P>
struct Rotor {
  int joint;    // 0-based driven joint
  int carrier;  // number of joints that move the carrier: 0 is the base
  Vec3<P> axis;  // in the joint frame of the carrier
  P ratio, inertia;
};

enum class FrictionTerm : int { viscous, coulomb, quadratic, cubic, quartic, quintic, sextic };

/// A frame moved by the first `joint` joints.
template <class P>
struct Frame {
  int joint;
  Pose<P> pose;  // in the frame of that joint
};

template <class P>
struct ChainView {
  int n;
  const Link<P>* links;
  Vec3<P> gravity;
  int rotor_count;
  const Rotor<P>* rotors;
  int friction_count;  // terms per joint
  const FrictionTerm* friction_terms;
  const P* friction;  // n x friction_count
  P delta;            // width of the smooth sign
  bool has_armature;

  THUNDER_INLINE int friction_column(int joint, int term) const { return kLinkParameters * n + joint * friction_count + term; }
  THUNDER_INLINE int rotor_column(int rotor) const { return friction_column(n, 0) + rotor; }
  THUNDER_INLINE int armature_column(int joint) const { return rotor_column(rotor_count) + joint; }
  /// Length of the parameter vector: inertial, friction, rotors, armature.
  THUNDER_INLINE int parameters() const { return armature_column(has_armature ? n : 0); }
};

/// Scratch for one value per joint.
template <class T>
struct PerJoint {
  T data[kMaxJoints];
  THUNDER_INLINE T& operator[](int i) { return data[i]; }
  THUNDER_INLINE const T& operator[](int i) const { return data[i]; }
};

}  // namespace thunder
