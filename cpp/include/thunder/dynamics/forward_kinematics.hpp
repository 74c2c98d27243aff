// Poses of joint frames and of frames on links, in world axes.
#pragma once

#include "../math/outline.hpp"
#include "joint_steps.hpp"

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

/// From one joint frame to the next; `slide` is the way of a prismatic joint, else zero and ignored.
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
THUNDER_INLINE void joint_frames_from(const Vec3<P>& origin, const ChainView<P>& chain, Workspace work, const S* q, int count,
                                      Joints<Pose, S>& poses) {
  Joints<Turn, S> turns(work, count);
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
THUNDER_INLINE void joint_frames(const ChainView<P>& chain, Workspace work, const S* q, int count, Joints<Pose, S>& poses) {
  joint_frames_from(chain.root.p, chain, work, q, count, poses);
}

template <class S, class P>
THUNDER_INLINE Pose<S> frame_pose(const Joints<Pose, S>& poses, const Frame<P>& frame) {
  if (frame.joint == 0) return {as<S>(frame.pose.R), as<S>(frame.pose.p)};
  return poses.get(frame.joint - 1) * frame.pose;
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
void forward_kinematics(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, S* T) {
  Joints<Pose, S> poses(work, frame.joint);
  joint_frames(chain, work, q, frame.joint, poses);
  write_transform(frame_pose(poses, frame), T);
}

}  // namespace thunder
