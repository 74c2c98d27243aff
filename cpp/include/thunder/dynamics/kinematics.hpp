// Poses, Jacobians and their time derivatives, in world axes.
#pragma once

#include "../math/outline.hpp"
#include "kinematics_link_frames.hpp"

namespace thunder {

/// Axes and origin of a frame.
template <class S>
struct Axes {
  Vec3<S> x, y, z, p;
};
template <class S, class F>
THUNDER_INLINE void each(Axes<S>& t, F&& f) {
  each(t.x, f), each(t.y, f), each(t.z, f), each(t.p, f);
}

/// From one joint frame to the next; `slide` is the way of a prismatic joint, else zero and not looked at.
template <bool prismatic, class S, class P>
THUNDER_INLINE Axes<S> next_axes(const Axes<S>& f, const Vec3<P>& p, const Turn<P>& alpha, const Turn<S>& turn,
                                 const S& slide) {
  const Vec3<S> tilted = f.y * alpha.c + f.z * alpha.s;
  Axes<S> next;
  next.p = f.p + (f.x * p.x + f.y * p.y + f.z * p.z);
  next.z = f.z * alpha.c - f.y * alpha.s;
  next.y = tilted * turn.c - f.x * turn.s;
  next.x = f.x * turn.c + tilted * turn.s;
  if (prismatic) next.p += next.z * slide;
  return next;
}

/// Poses of the first `count` joint frames, in world axes from a root at `origin`.
template <class S, class P>
THUNDER_INLINE void joint_frames_from(const Vec3<P>& origin, const ChainView<P>& chain, const S* q, int count,
                                      Joints<Pose, S>& poses) {
  Joints<Turn, S> turns;
  joint_turns(chain, q, count, turns);
  const Mat3<P>& A = chain.root.R;
  Axes<S> f{as<S>(Vec3<P>{A.xx, A.yx, A.zx}), as<S>(Vec3<P>{A.xy, A.yy, A.zy}), as<S>(z_axis(A)), as<S>(origin)};
  for (int i = 0; i < count; ++i) {
    const Link<P>& link = chain.links[i];
    const Turn<P> alpha{link.sin_alpha, link.cos_alpha};
    if (link.type == JointType::prismatic)
      f = outlined<S>("next_axes_P", next_axes<true, S, P>, f, link.p, alpha, turns.get(i), q[i]);
    else
      f = outlined<S>("next_axes_R", next_axes<false, S, P>, f, link.p, alpha, turns.get(i), S(0.0));
    poses.set(i, {{f.x.x, f.y.x, f.z.x, f.x.y, f.y.y, f.z.y, f.x.z, f.y.z, f.z.z}, f.p});
  }
  poses.pad(count);
}

/// Poses of the first `count` joint frames in the world.
template <class S, class P>
THUNDER_INLINE void joint_frames(const ChainView<P>& chain, const S* q, int count, Joints<Pose, S>& poses) {
  joint_frames_from(chain.root.p, chain, q, count, poses);
}

template <class S, class P>
THUNDER_INLINE Pose<S> frame_pose(const Joints<Pose, S>& poses, const Frame<P>& frame) {
  if (frame.joint == 0) return {as<S>(frame.pose.R), as<S>(frame.pose.p)};
  const Pose<S> joint = poses.get(frame.joint - 1);
  return {joint.R * frame.pose.R, joint.p + joint.R * frame.pose.p};
}

/// Homogeneous transform, 4 x 4 row by row.
template <class S>
THUNDER_INLINE void write_transform(const Pose<S>& pose, S* T) {
  const Mat3<S>& R = pose.R;
  const Vec3<S>& p = pose.p;
  const S rows[16] = {R.xx, R.xy, R.xz, p.x,    R.yx,   R.yy,   R.yz,   p.y,
                      R.zx, R.zy, R.zz, p.z, S(0.0), S(0.0), S(0.0), S(1.0)};
  for (int i = 0; i < 16; ++i) T[i] = rows[i];
}

template <class S, class P>
void forward_kinematics(const ChainView<P>& chain, const S* q, const Frame<P>& frame, S* T) {
  Joints<Pose, S> poses;
  joint_frames(chain, q, frame.joint, poses);
  write_transform(frame_pose(poses, frame), T);
}

/// Columns of the joints of lane i, linear and angular rows apart.
template <class S, class L>
THUNDER_INLINE void write_columns(const Vec3<L>& linear, const Vec3<L>& angular, int n, int i, int count, S* J) {
  store_lanes(linear.x, J + i, count);
  store_lanes(linear.y, J + n + i, count);
  store_lanes(linear.z, J + 2 * n + i, count);
  store_lanes(angular.x, J + 3 * n + i, count);
  store_lanes(angular.y, J + 4 * n + i, count);
  store_lanes(angular.z, J + 5 * n + i, count);
}

/// Of a value for revolute and one for prismatic joints, the one that holds, lane by lane.
template <class S, class P>
THUNDER_INLINE Vec3<Lane<S>> by_type(const ChainView<P>& chain, int i, const Vec3<Lane<S>>& revolute,
                                     const Vec3<Lane<S>>& prismatic) {
  if constexpr (kLanes<S> == 1) {
    return chain.links[i].type == JointType::revolute ? revolute : prismatic;
  } else {
    if (chain.all_revolute) return revolute;
    return prismatic + (revolute - prismatic) * load_lanes<Lane<S>>(chain.revolute + i);
  }
}

/// Columns of joints that do not move the frame are zero.
template <class S>
THUNDER_INLINE void clear_columns(int n, int first, S* J) {
  for (int r = 0; r < 6; ++r)
    for (int i = first; i < n; ++i) J[r * n + i] = S(0.0);
}

template <class S, class P>
THUNDER_INLINE void write_jacobian(const ChainView<P>& chain, const Joints<Pose, S>& poses, int count,
                                   const Vec3<S>& p_e, S* J) {
  using L = Lane<S>;
  const Vec3<L> zero{L(0.0), L(0.0), L(0.0)}, tip = as<L>(p_e);
  for (int i = 0; i < count; i += kLanes<S>) {
    const Pose<L> pose = poses.load(i);
    const Vec3<L> z = z_axis(pose.R);
    write_columns(by_type<S>(chain, i, cross(z, tip - pose.p), z), by_type<S>(chain, i, z, zero), chain.n, i,
                  count - i, J);
  }
  clear_columns(chain.n, count, J);
}

/// Geometric Jacobian of a frame, 6 x n row by row: linear rows first.
template <class S, class P>
void jacobian(const ChainView<P>& chain, const S* q, const Frame<P>& frame, S* J) {
  if constexpr (kPrefersLinkFrames<S>) return jacobian_link_frames(chain, q, frame, J);
  Joints<Pose, S> poses;
  joint_frames(chain, q, frame.joint, poses);
  write_jacobian(chain, poses, frame.joint, frame_pose(poses, frame).p, J);
}

/// Angular velocity of a joint frame and velocity of its origin.
template <class S>
struct FrameVelocity {
  Vec3<S> w, v;
};
template <class S, class F>
THUNDER_INLINE void each(FrameVelocity<S>& t, F&& f) {
  each(t.w, f), each(t.v, f);
}

template <class S, class P>
THUNDER_INLINE void write_jacobian_dot(const ChainView<P>& chain, const Joints<Pose, S>& poses, const S* dq, int count,
                                       const Vec3<S>& p_e, S* Jd) {
  using L = Lane<S>;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<FrameVelocity, S> velocities;
  FrameVelocity<S> now{zero, zero};
  Vec3<S> p = zero;
  for (int i = 0; i < count; ++i) {
    const Pose<S> pose = poses.get(i);
    const Vec3<S> z = z_axis(pose.R);
    now.v += cross(now.w, pose.p - p);
    p = pose.p;
    (chain.links[i].type == JointType::revolute ? now.w : now.v) += z * dq[i];
    velocities.set(i, now);
  }
  velocities.pad(count);
  const Vec3<L> tip = as<L>(p_e), tip_velocity = as<L>(now.v + cross(now.w, p_e - p)), none = as<L>(zero);
  for (int i = 0; i < count; i += kLanes<S>) {
    const Pose<L> pose = poses.load(i);
    const FrameVelocity<L> velocity = velocities.load(i);
    const Vec3<L> z = z_axis(pose.R), z_dot = cross(velocity.w, z);
    const Vec3<L> linear = cross(z_dot, tip - pose.p) + cross(z, tip_velocity - velocity.v);
    write_columns(by_type<S>(chain, i, linear, z_dot), by_type<S>(chain, i, z_dot, none), chain.n, i, count - i, Jd);
  }
  clear_columns(chain.n, count, Jd);
}

template <class S, class P>
void jacobian_dot(const ChainView<P>& chain, const S* q, const S* dq, const Frame<P>& frame, S* Jd) {
  if constexpr (kPrefersLinkFrames<S>) return jacobian_dot_link_frames(chain, q, dq, frame, Jd);
  Joints<Pose, S> poses;
  joint_frames(chain, q, frame.joint, poses);
  write_jacobian_dot(chain, poses, dq, frame.joint, frame_pose(poses, frame).p, Jd);
}

/// Pose, Jacobian and its derivative of one frame, sharing one pass: what a task-space controller needs.
template <class S, class P>
void frame_kinematics(const ChainView<P>& chain, const S* q, const S* dq, const Frame<P>& frame, Pose<S>* pose, S* J,
                      S* Jd) {
  Joints<Pose, S> poses;
  joint_frames(chain, q, frame.joint, poses);
  *pose = frame_pose(poses, frame);
  write_jacobian(chain, poses, frame.joint, pose->p, J);
  write_jacobian_dot(chain, poses, dq, frame.joint, pose->p, Jd);
}

}  // namespace thunder
