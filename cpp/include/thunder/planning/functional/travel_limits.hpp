// Length, peak speed and peak acceleration of planned motions in physical units, compared with minimum jerk and training.
#pragma once

#include "../trajectory/bezier_path.hpp"
#include "functional_model.hpp"

namespace thunder {

/// Path length, peak speed and peak acceleration, for each group of coordinates of one unit.
struct Travel {
  double of[3][kMaxDofs] = {};
};

/// Limits of the travel of motions: multiples of that of a minimum-jerk motion between the same states, and absolute ones.
struct TravelLimits {
  /// True if a motion is beyond the limits. `minimum_jerk` is another motion to compare with, such as one among obstacles;
  /// its travel counts `detour` times.
  bool exceeded(const BezierPath& path, const BezierPath* minimum_jerk = nullptr, double detour = 1.0) const;
  /// Travel of a motion, from samples.
  Travel travel(const BezierPath& path) const noexcept;
  /// Travel of the quintic between its end states.
  Travel minimum_jerk(const BezierPath& path) const;

  int groups = 0;               // 0: no limits
  int order = 3;                // derivatives at the ends below this order are prescribed, others of the quintic zero
  int group_of[kMaxDofs] = {};  // group of each coordinate
  double ratio[3] = {};
  double floor[kMaxDofs] = {};  // length that is added to the displacement of minimum jerk
  Travel most;                  // absolute limits

 private:
  struct Norms {
    double of[kMaxDofs] = {};
  };
  Norms norms(const double* x, int dimension) const noexcept;
  /// Travel of a straight minimum-jerk motion from rest to rest over the floor.
  void add_floor(double duration, Travel& size) const noexcept;
  /// Lower bounds of the travel of minimum jerk, exact from rest to rest.
  Travel least(const BezierPath& path) const noexcept;
  /// Upper bounds from control points.
  Travel polygon(const BezierPath& path) const noexcept;
};

}  // namespace thunder
