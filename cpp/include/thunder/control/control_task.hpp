// Task and null-space motion for control laws in task space.
#pragma once

#include "../kinematics/task_motion.hpp"
#include "pseudo_inverse.hpp"

namespace thunder {

/// A task with the inverse of J J'.
class ControlTask : public TaskMotion {
 public:
  Matrix6d gram_inverse = Matrix6d::Zero();  // (J J')^-1
  Eigen::VectorXd error_rows;                // e in the rows of the task, for logs

  ControlTask(int n, const Frame<double>& controlled, TaskRows rows);

  /// False near 90 degrees of orientation error and near a singularity of the task.
  bool update(const Evaluator& dynamics, const double* q, const double* dq, const TaskReference& desired) noexcept;
};

/// Null-space motion of a redundant arm: K_posture (posture - q) - K_d dq (D4.2, eq. 111); without a
/// posture the vector is empty and only damping remains.
struct NullSpace {
  Eigen::MatrixXd K_d;
  Eigen::VectorXd posture;
  Eigen::MatrixXd K_posture;

  void torque(const double* q, const double* dq, Eigen::VectorXd& tau) const noexcept;
};

struct TaskSetup {
  Frame<double> frame;
  TaskRows rows;
  NullSpace null_space;
};

}  // namespace thunder
