// Geometric Jacobians of frames and their time derivatives, in world axes.
#pragma once

#include "forward_kinematics.hpp"
#include "jacobian_link_frames.hpp"

namespace thunder {

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

/// Selects the value for revolute or for prismatic joints, lane by lane.
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
void jacobian(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, S* J) {
  if constexpr (kPrefersLinkFrames<S>) return jacobian_link_frames(chain, work, q, frame, J);
  Joints<Pose, S> poses(work, frame.joint);
  joint_frames(chain, work, q, frame.joint, poses);
  write_jacobian(chain, poses, frame.joint, frame_pose(poses, frame).p, J);
}

template <class S, class P>
THUNDER_INLINE void write_jacobian_dot(const ChainView<P>& chain, Workspace work, const Joints<Pose, S>& poses, const S* dq, int count,
                                       const Vec3<S>& p_e, S* Jd) {
  using L = Lane<S>;
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<LinkVelocity, S> velocities(work, count);
  Vec3<S> v = zero, w = zero, p = zero;
  for (int i = 0; i < count; ++i) {
    const Pose<S> pose = poses.get(i);
    const Vec3<S> dz = z_axis(pose.R) * dq[i];
    v += cross(w, pose.p - p);
    p = pose.p;
    if (chain.links[i].type == JointType::revolute) w += dz;
    else v += dz;
    velocities.set(i, {w, v});
  }
  velocities.pad(count);
  const Vec3<L> tip = as<L>(p_e), tip_velocity = as<L>(v + cross(w, p_e - p)), none = as<L>(zero);
  for (int i = 0; i < count; i += kLanes<S>) {
    const Pose<L> pose = poses.load(i);
    const LinkVelocity<L> velocity = velocities.load(i);
    const Vec3<L> z = z_axis(pose.R), z_dot = cross(velocity.w, z);
    const Vec3<L> linear = cross(z_dot, tip - pose.p) + cross(z, tip_velocity - velocity.v);
    write_columns(by_type<S>(chain, i, linear, z_dot), by_type<S>(chain, i, z_dot, none), chain.n, i, count - i, Jd);
  }
  clear_columns(chain.n, count, Jd);
}

template <class S, class P>
void jacobian_dot(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const Frame<P>& frame, S* Jd) {
  if constexpr (kPrefersLinkFrames<S>) return jacobian_dot_link_frames(chain, work, q, dq, frame, Jd);
  Joints<Pose, S> poses(work, frame.joint);
  joint_frames(chain, work, q, frame.joint, poses);
  write_jacobian_dot(chain, work, poses, dq, frame.joint, frame_pose(poses, frame).p, Jd);
}

/// dJ_rj / dq_k at [r][j][k], 6 x n x n: joint k turns the columns of the joints behind it, and moves the tip for those before.
template <class S, class P>
void jacobian_derivative(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, S* dJ) {
  const int n = chain.n;
  const PerJoint<S> J(work, 6 * n);
  jacobian(chain, work, q, frame, J.data);
  const auto linear = [&](int j) { return Vec3<S>{J[j], J[n + j], J[2 * n + j]}; };
  const auto angular = [&](int j) { return Vec3<S>{J[3 * n + j], J[4 * n + j], J[5 * n + j]}; };
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < n; ++k) {
      const Vec3<S> v = k <= j ? cross(angular(k), linear(j)) : cross(angular(j), linear(k));
      const Vec3<S> w = k < j ? cross(angular(k), angular(j)) : zero;
      const S rows[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
      for (int r = 0; r < 6; ++r) dJ[(r * n + j) * n + k] = rows[r];
    }
}

/// Pose, Jacobian and its derivative of one frame, in one pass, for task-space controllers.
template <class S, class P>
void frame_kinematics(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const Frame<P>& frame,
                      Pose<S>* pose, S* J, S* Jd) {
  Joints<Pose, S> poses(work, frame.joint);
  joint_frames(chain, work, q, frame.joint, poses);
  *pose = frame_pose(poses, frame);
  write_jacobian(chain, poses, frame.joint, pose->p, J);
  write_jacobian_dot(chain, work, poses, dq, frame.joint, pose->p, Jd);
}

}  // namespace thunder
