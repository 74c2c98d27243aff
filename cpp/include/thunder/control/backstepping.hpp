// Adaptive backstepping in task space (Thunder article, section 4, which has the axis-angle orientation error).
#pragma once

#include "../kinematics/task_error.hpp"
#include "adaptive_controller.hpp"
#include "control_task.hpp"

namespace thunder {

/// The gains of backstepping with what a Jacobian, exact or estimated, makes of them.
class BacksteppingFeedback {
 public:
  enum class Task { pose = 6, position = 3 };  // rows that are controlled

  struct Gains {
    Eigen::MatrixXd Lambda, K_p;  // one row per row of the task
    NullSpace null_space;         // with K_d
  };

  BacksteppingFeedback(Task task, Gains gains);

  TaskRows rows() const noexcept { return rows_; }
  const Eigen::MatrixXd& K_d() const noexcept { return null_space_.K_d; }
  /// K_p e
  Vector6d restoring(const TaskError& task) const noexcept { return K_p_ * task.e; }
  /// dq_r = J^+ v (eq. 30) with L v = f + Lambda e, the attraction to a posture in the null space of J, and the exact
  /// derivative; false where J J' is singular.
  bool motion(const double* q, const double* dq, const TaskError& task, const Jacobian& J, const Jacobian& J_dot, bool held,
              Eigen::VectorXd& dq_r, Eigen::VectorXd& ddq_r) const noexcept;
  /// tau += K_d s + J' L' K_p e (eq. 33 with errata D-1)
  void add_torque(const TaskError& task, const Jacobian& J, const Eigen::VectorXd& s, Eigen::VectorXd& tau) const noexcept;

 private:
  TaskRows rows_;
  NullSpace null_space_;
  Matrix6d Lambda_, K_p_;
};

class Backstepping final : public AdaptiveController<TaskReference> {
 public:
  using Task = BacksteppingFeedback::Task;
  using Gains = BacksteppingFeedback::Gains;

  /// All terms of the law at one instant, under the article's names.
  struct Terms {
    FrameMotion motion;
    TaskError task;
    Eigen::VectorXd dq_r, ddq_r, s, tau;
  };

  /// `frame` of the nominal model is the one to control. Gains: see `gain_matrix` and `require_joint_definiteness`.
  Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, OrientationKind kind, Gains gains);

  int rows() const noexcept { return feedback_.rows().count(); }
  Terms blank_terms() const;
  /// The law under the current estimate, which does not change. Where the status is not ok, dq_r to tau are not set.
  Status evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& terms) noexcept;

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;

 private:
  Frame<double> frame_;
  OrientationKind kind_;
  BacksteppingFeedback feedback_;
  Terms terms_;
};

}  // namespace thunder
