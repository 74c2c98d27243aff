// Poses, Jacobians and their time derivatives, in the base frame.
#pragma once

#include "../math/sincos.hpp"
#include "../model/chain.hpp"

namespace thunder {

/// Pose of the joint frame in the previous one at joint position q.
template <class S, class P>
THUNDER_INLINE Pose<S> joint_pose(const Link<P>& link, const S& q) {
  const Mat3<P>& R = link.placement.R;
  const Vec3<P>& p = link.placement.p;
  if (link.type == JointType::revolute) {
    S s, c;
    sincos(q, s, c);
    return {times_rot_z(R, s, c), {S(p.x), S(p.y), S(p.z)}};
  }
  return {{S(R.xx), S(R.xy), S(R.xz), S(R.yx), S(R.yy), S(R.yz), S(R.zx), S(R.zy), S(R.zz)},
          {q * R.xz + p.x, q * R.yz + p.y, q * R.zz + p.z}};
}

/// Poses of the first `count` joint frames in the world.
template <class S, class P>
THUNDER_INLINE void joint_frames(const ChainView<P>& chain, const S* q, int count, Pose<S>* pose) {
  if (count > 0) pose[0] = joint_pose(chain.links[0], q[0]);
  for (int i = 1; i < count; ++i) {
    const Link<P>& link = chain.links[i];
    const Pose<S>& parent = pose[i - 1];
    const Mat3<S> R = parent.R * link.placement.R;
    const Vec3<S> p = parent.p + parent.R * link.placement.p;
    if (link.type == JointType::revolute) {
      S s, c;
      sincos(q[i], s, c);
      pose[i] = {times_rot_z(R, s, c), p};
    } else {
      pose[i] = {R, p + z_axis(R) * q[i]};
    }
  }
}

template <class S, class P>
THUNDER_INLINE Pose<S> frame_pose(const Pose<S>* joints, const Frame<P>& frame) {
  const Mat3<P>& R = frame.pose.R;
  const Vec3<P>& p = frame.pose.p;
  if (frame.joint == 0)
    return {{S(R.xx), S(R.xy), S(R.xz), S(R.yx), S(R.yy), S(R.yz), S(R.zx), S(R.zy), S(R.zz)}, {S(p.x), S(p.y), S(p.z)}};
  const Pose<S>& joint = joints[frame.joint - 1];
  return {joint.R * R, joint.p + joint.R * p};
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
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, frame.joint, pose.data);
  write_transform(frame_pose(pose.data, frame), T);
}

template <class S>
THUNDER_INLINE void write_column(const Vec3<S>& linear, const Vec3<S>& angular, int n, int column, S* J) {
  J[column] = linear.x;
  J[n + column] = linear.y;
  J[2 * n + column] = linear.z;
  J[3 * n + column] = angular.x;
  J[4 * n + column] = angular.y;
  J[5 * n + column] = angular.z;
}

template <class S, class P>
THUNDER_INLINE void write_jacobian(const ChainView<P>& chain, const Pose<S>* pose, const Frame<P>& frame, const Vec3<S>& p_e,
                    S* J) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  for (int i = 0; i < chain.n; ++i) {
    if (i >= frame.joint) {
      write_column(zero, zero, chain.n, i, J);
      continue;
    }
    const Vec3<S> z = z_axis(pose[i].R);
    if (chain.links[i].type == JointType::revolute)
      write_column(cross(z, p_e - pose[i].p), z, chain.n, i, J);
    else
      write_column(z, zero, chain.n, i, J);
  }
}

/// Geometric Jacobian of a frame, 6 x n row by row: linear rows first.
template <class S, class P>
void jacobian(const ChainView<P>& chain, const S* q, const Frame<P>& frame, S* J) {
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, frame.joint, pose.data);
  write_jacobian(chain, pose.data, frame, frame_pose(pose.data, frame).p, J);
}

template <class S, class P>
THUNDER_INLINE void write_jacobian_dot(const ChainView<P>& chain, const Pose<S>* pose, const S* dq, const Frame<P>& frame,
                        const Vec3<S>& p_e, S* Jd) {
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<Vec3<S>> w, v;  // angular velocity of link i, velocity of the origin of joint frame i
  Vec3<S> wi = zero, vi = zero, pi = zero;
  for (int i = 0; i < frame.joint; ++i) {
    const Vec3<S> z = z_axis(pose[i].R);
    vi += cross(wi, pose[i].p - pi);
    pi = pose[i].p;
    if (chain.links[i].type == JointType::revolute)
      wi += z * dq[i];
    else
      vi += z * dq[i];
    w[i] = wi;
    v[i] = vi;
  }
  const Vec3<S> v_e = vi + cross(wi, p_e - pi);
  for (int i = 0; i < chain.n; ++i) {
    if (i >= frame.joint) {
      write_column(zero, zero, chain.n, i, Jd);
      continue;
    }
    const Vec3<S> z = z_axis(pose[i].R), z_dot = cross(w[i], z);
    if (chain.links[i].type == JointType::revolute)
      write_column(cross(z_dot, p_e - pose[i].p) + cross(z, v_e - v[i]), z_dot, chain.n, i, Jd);
    else
      write_column(z_dot, zero, chain.n, i, Jd);
  }
}

template <class S, class P>
void jacobian_dot(const ChainView<P>& chain, const S* q, const S* dq, const Frame<P>& frame, S* Jd) {
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, frame.joint, pose.data);
  write_jacobian_dot(chain, pose.data, dq, frame, frame_pose(pose.data, frame).p, Jd);
}

/// Pose, Jacobian and its derivative of one frame, sharing one pass: what a task-space controller needs.
template <class S, class P>
void frame_kinematics(const ChainView<P>& chain, const S* q, const S* dq, const Frame<P>& frame, Pose<S>* pose_e, S* J,
                      S* Jd) {
  PerJoint<Pose<S>> pose;
  joint_frames(chain, q, frame.joint, pose.data);
  *pose_e = frame_pose(pose.data, frame);
  write_jacobian(chain, pose.data, frame, pose_e->p, J);
  write_jacobian_dot(chain, pose.data, dq, frame, pose_e->p, Jd);
}

}  // namespace thunder
