// Jacobians for recordings: the way to the frame is followed from the tip in link axes, where translations are numbers, and
// only columns are turned into the world.
#pragma once

#include "mass_coriolis_link_frames.hpp"

namespace thunder {

/// World axes of a joint frame, and those before its turn: x of the frame before and the tilted y.
template <class S>
struct JointAxes {
  Vec3<S> x, y, z, x_before, y_before;
};

/// Column of a joint in the Jacobian of a frame, linear and angular part.
template <class S>
struct JacobianColumn {
  Vec3<S> linear, angular;
};

template <class S, class P>
THUNDER_INLINE void joint_axes(const ChainView<P>& chain, const Joints<Turn, S>& turns, int count, JointAxes<S>* axes) {
  const Mat3<P>& R = chain.root.R;
  Vec3<S> x = as<S>(Vec3<P>{R.xx, R.yx, R.zx}), y = as<S>(Vec3<P>{R.xy, R.yy, R.zy}), z = as<S>(z_axis(R));
  for (int i = 0; i < count; ++i) {
    const Link<P>& link = chain.links[i];
    const Turn<S> turn = turns.get(i);
    const Vec3<S> before = x, tilted = y * link.cos_alpha + z * link.sin_alpha;
    z = z * link.cos_alpha - y * link.sin_alpha;
    y = tilted * turn.c - x * turn.s;
    x = x * turn.c + tilted * turn.s;
    axes[i] = {x, y, z, before, tilted};
  }
}

template <class S, class P>
THUNDER_INLINE void jacobian_columns(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame,
                                     JacobianColumn<S>* columns) {
  // near the root the axes before the turn have more zeros, near the tip the turned ones are not needed
  const auto by_axes_before = [&frame](int i) { return i < 3 || i > frame.joint - 3; };
  const S zero(0.0);
  Joints<Turn, S> turns(work, frame.joint);
  PerJoint<JointAxes<S>> axes(work, frame.joint);
  joint_turns(chain, q, frame.joint, turns);
  joint_axes(chain, turns, frame.joint, axes.data);
  Vec3<S> r = as<S>(frame.pose.p);  // from the joint to the frame
  for (int i = frame.joint - 1; i >= 0; --i) {
    const JointTransfer<S, P> joint(chain.links[i], turns.get(i), q[i]);
    const JointAxes<S>& a = axes[i];
    const Vec3<S> r_before = rotated_back(joint.turn, r);
    if (!joint.revolute)
      columns[i] = {a.z, {zero, zero, zero}};
    else if (by_axes_before(i))
      columns[i] = {a.y_before * r_before.x - a.x_before * r_before.y, a.z};
    else
      columns[i] = {a.y * r.x - a.x * r.y, a.z};
    r = tilted(joint.tilt, r_before) + joint.p;
  }
}

template <class S>
THUNDER_INLINE void write_column(const JacobianColumn<S>& column, int n, int i, S* J) {
  const Vec3<S>&v = column.linear, &w = column.angular;
  const S rows[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
  for (int r = 0; r < 6; ++r) J[r * n + i] = rows[r];
}

/// As `jacobian`.
template <class S, class P>
void jacobian_link_frames(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, S* J) {
  PerJoint<JacobianColumn<S>> columns(work, frame.joint);
  jacobian_columns(chain, work, q, frame, columns.data);
  for (int i = 0; i < frame.joint; ++i) write_column(columns[i], chain.n, i, J);
  for (int r = 0; r < 6; ++r)
    for (int i = frame.joint; i < chain.n; ++i) J[r * chain.n + i] = S(0.0);
}

/// As `jacobian_dot`: with w of the link before and u the velocity that joint i and those behind it give to the frame, column i
/// changes by w x column, and its linear part further by z x u.
template <class S, class P>
void jacobian_dot_link_frames(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const Frame<P>& frame, S* Jd) {
  const int n = chain.n, count = frame.joint;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<JacobianColumn<S>> columns(work, count);
  PerJoint<Vec3<S>> u(work, count);
  jacobian_columns(chain, work, q, frame, columns.data);
  Vec3<S> w = zero, sum = zero;
  for (int i = count - 1; i >= 0; --i) u[i] = sum += columns[i].linear * dq[i];
  for (int i = 0; i < count; ++i) {
    const Vec3<S>& z = columns[i].angular;  // zero of a prismatic joint
    write_column<S>({cross(w, columns[i].linear) + cross(z, u[i]), cross(w, z)}, n, i, Jd);
    w += z * dq[i];
  }
  for (int r = 0; r < 6; ++r)
    for (int i = count; i < n; ++i) Jd[r * n + i] = S(0.0);
}

}  // namespace thunder
