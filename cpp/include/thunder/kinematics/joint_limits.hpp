// Limits of the joints for commands that are held for a period.
#pragma once

#include <Eigen/Dense>

#include "../math/matrices.hpp"

namespace thunder {

/// Infinite entries are no limits.
struct JointLimits {
  Eigen::VectorXd lower, upper, velocity, acceleration;

  /// Bounds on the velocities at the end of a period of a motion that starts with the velocities dq, or for order 1 on
  /// the velocities held for it. Within them the position limits can be kept by braking with the acceleration limits,
  /// between the samples too. Where bounds contradict each other, position comes before velocity before acceleration.
  void velocity_bounds(int order, double period, const double* q, const double* dq, JointVector& least,
                       JointVector& most) const noexcept;
};

/// The largest velocity v = (k + f) A T, k whole and 0 <= f < 1, after which an arm that decelerates by A T in every
/// period T stops within the distance c, the sum of (k + f) + (k - 1 + f) + ... + f in units of A T^2.
double largest_velocity(double distance, double acceleration, double period) noexcept;

}  // namespace thunder
