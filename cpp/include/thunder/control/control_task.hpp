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

  ControlTask(int n, const Frame<double>& controlled, TaskRows rows, OrientationKind kind);

  /// False where the orientation error has no Jacobian, and near a singularity of the task.
  bool update(const Evaluator& dynamics, const double* q, const double* dq, const TaskReference& desired,
              bool held) noexcept;
};

/// Attraction of a redundant arm to a posture, in the null space of its task; without a posture the vectors are empty.
struct NullSpace {
  Eigen::MatrixXd K_d;
  Eigen::VectorXd posture;
  Eigen::MatrixXd gain;  // K_posture [N m/rad] of a torque, Lambda_posture [1/s] of a velocity

  /// tau = gain (posture - q) - K_d dq (D4.2, eq. 111)
  void torque(const double* q, const double* dq, Eigen::VectorXd& tau) const noexcept;
  /// u = J^+ v + (I - J^+ J) a and its exact derivative, with a = gain (posture - q), as u = a + J^+ (v - J a).
  void motion(const double* q, const double* dq, const Jacobian& J, const Jacobian& J_dot, const Matrix6d& gram_inverse,
              Vector6d v, Vector6d v_dot, Eigen::VectorXd& u, Eigen::VectorXd& u_dot) const noexcept;

 private:
  void attract(const double* q, Eigen::VectorXd& a) const noexcept;
};

struct TaskSetup {
  Frame<double> frame;
  TaskRows rows;
  OrientationKind kind;
  NullSpace null_space;
};

}  // namespace thunder
