// Inertial parameters of a body, seen from another frame.
#pragma once

#include "chain.hpp"

namespace thunder {

/// A body given in a frame at `pose`, about the origin and in the axes that `pose` refers to.
template <class S, class P>
THUNDER_INLINE BodyInertia<S> moved(const BodyInertia<P>& body, const Pose<S>& pose) {
  const Vec3<S> hr = pose.R * body.h;  // first moment about the frame's origin
  const Vec3<S>& p = pose.p;
  const Vec3<S> h = hr + p * body.m;
  const Sym3<S> I = rotated(pose.R, body.I);
  // I + (p.hr 1 - hr p') + (p.h 1 - p h'), symmetric because h - hr is along p
  const S xx = p.x * (hr.x + h.x), yy = p.y * (hr.y + h.y), zz = p.z * (hr.z + h.z);
  return {S(body.m), h,
          {I.xx + yy + zz, I.xy - (hr.x * p.y + p.x * h.y), I.xz - (hr.x * p.z + p.x * h.z), I.yy + xx + zz,
           I.yz - (hr.y * p.z + p.y * h.z), I.zz + xx + yy}};
}

}  // namespace thunder
