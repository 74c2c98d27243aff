// Error of a frame with respect to a task-space reference, and its kinematics (Thunder article, eqs. 27, 28).
#pragma once

#include "frame_motion.hpp"
#include "orientation_error.hpp"
#include "pseudo_inverse.hpp"

namespace thunder {

/// e = [p_d - p; r sin(theta)], e' = L' xi_d - L xi. Rows that are not in the task are zero.
struct TaskError {
  /// L^-1 ends at 90 degrees of orientation error; past it laws would let the error settle at half a turn (errata
  /// T-11). Below this cosine (88.9 degrees) the error counts as singular.
  static constexpr double kSmallestCosine = 0.02;

  Vector6d e = Vector6d::Zero(), e_dot = Vector6d::Zero();
  Vector6d f = Vector6d::Zero(), f_dot = Vector6d::Zero();  // L' xi_d and its derivative
  Matrix6d L = Matrix6d::Identity(), L_dot = Matrix6d::Zero();
  double cosine = 1.0;  // of the orientation error; 1 where the task has no orientation

  /// False where L is too close to having no inverse.
  bool update(const FrameMotion& motion, const TaskReference& desired, TaskRows rows) noexcept {
    e.head<3>() = desired.p - motion.p;
    if (rows.mask >> 3) {
      const OrientationError orientation(desired.R, motion.R);
      cosine = orientation.cosine();
      e.tail<3>() = orientation.e();
      L.bottomRightCorner<3, 3>() = orientation.L();
      L_dot.bottomRightCorner<3, 3>() = orientation.L_dot(desired.xi.tail<3>(), motion.xi.tail<3>());
    }
    f = L.transpose() * desired.xi;
    f_dot = L_dot.transpose() * desired.xi + L.transpose() * desired.xi_dot;
    e_dot = f - L * motion.xi;
    for (Vector6d* v : {&e, &e_dot, &f, &f_dot}) keep_rows(rows, *v);
    return cosine >= kSmallestCosine;
  }
};

}  // namespace thunder
