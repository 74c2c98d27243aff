// Error of a frame with respect to a task-space reference, and its kinematics (Thunder article, eqs. 27, 28).
#pragma once

#include "frame_motion.hpp"
#include "orientation_error.hpp"
#include "reference.hpp"

namespace thunder {

/// e = [p_d - p; error of orientation] and its derivative; with the L of the orientation the error of the velocity,
/// f - [v; L w], which is e' for the kinds of orientation with a Jacobian of their own, and f' with f. Rows that are not
/// in the task are zero; L is the identity without an orientation.
struct TaskError {
  Vector6d e = Vector6d::Zero(), e_dot = Vector6d::Zero(), velocity = Vector6d::Zero();
  Vector6d f = Vector6d::Zero(), f_dot = Vector6d::Zero();
  OrientationError orientation;

  /// False where the orientation error has no Jacobian.
  bool update(const FrameMotion& motion, const TaskReference& desired, TaskRows rows,
              OrientationKind kind = OrientationKind::axis_angle) noexcept;
};

}  // namespace thunder
