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
  /// True if a motion is beyond the limits.
  bool exceeded(const BezierPath& path) const { return !surely_within(path) && !compare(path, nullptr).within; }
  /// True if a motion is within the limits by bounds that are fast to compute.
  bool surely_within(const BezierPath& path) const noexcept {
    return path.degree == 0 || within(bound(path), least(path));
  }
  /// Travel of a motion, and of the one to compare it with: another one, such as minimum jerk among obstacles, or the
  /// quintic between its end states.
  struct Comparison {
    Travel size, reference;
    bool within;
    bool explained;  // speed and acceleration are within the limits for a reference of the same length
  };
  Comparison compare(const BezierPath& path, const BezierPath* other) const;
  /// Travel of a motion, from samples.
  Travel travel(const BezierPath& path) const noexcept;
  /// Upper bounds of it, from control points.
  Travel bound(const BezierPath& path) const noexcept;

  int groups = 0;               // 0: no limits
  int order = 3;                // derivatives at the ends below this order are prescribed, others of the quintic zero
  int group_of[kMaxDofs] = {};  // group of each coordinate
  double ratio[3] = {};
  double floor[kMaxDofs] = {};  // length that is added to the displacement of minimum jerk
  Travel most;                  // absolute limits

 private:
  bool within(const Travel& size, const Travel& reference) const noexcept;
  /// Adds the travel of minimum jerk from rest to rest, straight over `way` by group.
  void add_reach(const double* way, double duration, Travel& size) const noexcept;
  /// Lower bounds of the travel of the quintic between the end states, exact from rest to rest.
  Travel least(const BezierPath& path) const noexcept;
  void norms(const double* x, int dimension, double* norm) const noexcept;
};

}  // namespace thunder
