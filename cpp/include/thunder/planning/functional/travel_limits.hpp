// Length and speed of planned motions in physical units, compared with training motions and with minimum jerk.
#pragma once

#include "../trajectory/bezier_path.hpp"
#include "functional_model.hpp"

namespace thunder {

/// Limits of length and peak speed of a motion, for each group of coordinates of one unit.
///
/// A motion is beyond the limits if it exceeds both multiples: of the minimum-jerk motion between the same end states, and
/// of the training motions, scaled from their extent to the distance. A training motion also counts as it is, unless the
/// model scales it or the distance is larger than those of the training motions: one that returns has a long path.
struct TravelLimits {
  struct Group {
    double length = 0.0, length_factor = 0.0;  // longest training motion; largest quotient of length and extent
    double speed = 0.0, speed_factor = 0.0;    // the same of speeds in normalized time
    double displacement = 0.0;                 // largest displacement of a training motion
  };

  /// True if a motion is beyond the limits; allocates nothing. `detour` is what its via points add to the distance of
  /// the first group.
  bool exceeded(const BezierPath& path, double detour = 0.0) const noexcept;

  int groups = 0;                // 0: no limits
  int order = 3;                 // derivatives at the ends below this order are prescribed
  double training_ratio = 0.0, minimum_jerk_ratio = 0.0;
  int group_of[kMaxDofs] = {};   // group of each coordinate
  int first[kMaxDofs] = {}, last[kMaxDofs] = {};  // first and last coordinate of each group
  Group group[kMaxDofs] = {};

 private:
  struct Travel {
    double length[kMaxDofs] = {}, speed[kMaxDofs] = {};
  };
  void norms(const double* values, int dimension, double* norm) const noexcept;
  Travel limits(const BezierPath& path, double detour) const noexcept;
  Travel polygon(const BezierPath& path) const noexcept;
  Travel sampled(const BezierPath& path) const noexcept;
};

}  // namespace thunder
