// Moving inertial parameters between frames.
#pragma once

#include "chain.hpp"

namespace thunder {

/// REG parameters of a body given in a frame at `pose`, expressed in the frame that `pose` refers to.
template <class P>
void moved_parameters(const Pose<P>& pose, const P* reg, P& m, Vec3<P>& h, Sym3<P>& I) {
  m = reg[0];
  const Vec3<P> hr = pose.R * Vec3<P>{reg[1], reg[2], reg[3]};
  const Vec3<P>& p = pose.p;
  h = hr + p * m;
  I = rotated(pose.R, Sym3<P>{reg[4], reg[5], reg[6], reg[7], reg[8], reg[9]});
  const P xx = p.x * (hr.x + h.x), yy = p.y * (hr.y + h.y), zz = p.z * (hr.z + h.z);
  I = {I.xx + yy + zz, I.xy - (hr.x * p.y + p.x * h.y), I.xz - (hr.x * p.z + p.x * h.z), I.yy + xx + zz,
       I.yz - (hr.y * p.z + p.y * h.z), I.zz + xx + yy};
}

}  // namespace thunder
