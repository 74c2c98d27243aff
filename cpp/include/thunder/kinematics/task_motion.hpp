// A task of chosen rows: its error and the Jacobian that moves the error.
#pragma once

#include <string>
#include <vector>

#include "../math/state_archive.hpp"
#include "task_error.hpp"

namespace thunder {

/// Rows (of a vector: entries) that are not in the task become zero.
void keep_rows(TaskRows rows, Vector6d& v) noexcept;
void keep_rows(TaskRows rows, Jacobian& J) noexcept;
/// Rows of the task, one after the other.
void gather(TaskRows rows, const Vector6d& from, TaskVector& to) noexcept;
void gather(TaskRows rows, const Jacobian& from, CompactJacobian& to) noexcept;
std::vector<std::string> row_names(TaskRows rows);

/// The error of the velocity f - J dq and its derivative f' - J_dot dq - J ddq, with J = L times the frame's Jacobian, in
/// the rows of the task. Where there is no orientation error L is the identity, and J the frame's own Jacobian.
class TaskMotion {
 public:
  FrameMotion frame;
  TaskError error;
  Jacobian J, J_dot;
  Vector6d bias = Vector6d::Zero();  // J_dot dq

  TaskMotion(int n, const Frame<double>& controlled, TaskRows rows, OrientationKind kind = OrientationKind::axis_angle);

  TaskRows rows() const noexcept { return rows_; }
  const Frame<double>& controlled() const noexcept { return controlled_; }
  bool redundant() const noexcept { return rows_.count() < J.cols(); }

  /// Moves the controlled frame to pose `tool` in the frame that was chosen first.
  void set_tool(const Pose<double>& tool) noexcept { controlled_.pose = carrier_.pose * tool; }
  /// The tool and the last error.
  void archive(StateArchive& state);

  /// False where the orientation error has no Jacobian.
  bool update(const Evaluator& dynamics, const double* q, const double* dq, const TaskReference& desired) noexcept;

 private:
  Frame<double> carrier_, controlled_;
  TaskRows rows_;
  OrientationKind kind_;
};

}  // namespace thunder
