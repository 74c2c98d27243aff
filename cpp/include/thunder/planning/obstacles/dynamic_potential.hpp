// Potential of an obstacle that acts on approaching motion only (Park et al., 2008; D4.2 (107)).
#pragma once

#include <cmath>

#include "../../math/dual.hpp"

namespace thunder {

/// A ball, or a point if its radius is zero, that moves from `center` at time 0. In the plane the last entries are zero.
struct RepellingSphere {
  double center[3], velocity[3], radius;
};

/// U = gain (-c)^beta |z| / p where c < 0, and 0 elsewhere: c the cosine between z and the way from the obstacle's
/// center to y, p the distance from its surface.
///
/// Below `least_distance`, inside the ball too, 1 / p goes on as its tangent, so that the force stays finite and stays
/// the gradient. Straight at a center that gradient has no component to either side; `tie_break` is the angle [rad] by
/// which z is turned towards `side` first, so that the motion leaves that line.
struct DynamicPotential {
  double gain, beta, least_distance, tie_break;
  double side[3];

  template <class S>
  S potential(const S* r, const S* z, double radius) const {
    const Approach<S> at(*this, r, z, radius);
    using std::pow;
    return gain * pow(at.towards, beta) * at.speed * at.inverse;
  }

  /// Adds -dU/dr: with c = z.n / |z| and n = r / |r|,
  /// gain |z| (-c)^(beta - 1) [beta (z / |z| - c n) / (|r| p) - c n / p^2].
  template <class S>
  void add_force(const S* r, const S* z, double radius, S* force) const {
    const Approach<S> at(*this, r, z, radius);
    using std::pow;
    const S common = gain * at.speed * pow(at.towards, beta - 1.0);
    const S around = common * beta * at.inverse / at.range, away = common * at.towards * at.slope;
    for (int k = 0; k < 3; ++k) force[k] = force[k] + around * (at.heading[k] - at.cosine * at.n[k]) + away * at.n[k];
  }

 private:
  template <class S>
  struct Approach {
    S n[3], heading[3];                            // directions of r and z
    S range, speed, cosine, towards;               // |r|, |z|, c, max(-c, 0)
    S inverse, slope;                              // 1 / p and -d(1 / p)/dp
    Approach(const DynamicPotential& field, const S* r, const S* z, double radius) {
      range = length(r);
      for (int k = 0; k < 3; ++k) n[k] = r[k] / range;
      const S plain = length(z);
      const S along = (z[0] * field.side[0] + z[1] * field.side[1] + z[2] * field.side[2]) / plain;
      for (int k = 0; k < 3; ++k) heading[k] = z[k] + field.tie_break * (plain * field.side[k] - along * z[k]);
      speed = length(heading);
      for (S& entry : heading) entry = entry / speed;
      cosine = n[0] * heading[0] + n[1] * heading[1] + n[2] * heading[2];
      towards = at_least(-cosine, 0.0);
      const S p = range - radius, kept = at_least(p, field.least_distance);
      slope = 1.0 / (kept * kept);
      inverse = 1.0 / kept - (p - kept) * slope;
    }
    /// Never zero: at rest, and at a center, directions are zero and so is the force.
    static S length(const S* v) {
      using std::sqrt;
      return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-200);
    }
  };
};

}  // namespace thunder
