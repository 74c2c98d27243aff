// Adaptive backstepping in task space (Thunder article, section 4, which has the axis-angle orientation error).
#pragma once

#include "../kinematics/task_error.hpp"
#include "adaptive_controller.hpp"
#include "control_task.hpp"

namespace thunder {

class Backstepping final : public AdaptiveController<TaskReference> {
 public:
  enum class Task { pose = 6, position = 3 };  // rows that are controlled

  struct Gains {
    Eigen::MatrixXd Lambda, K_p;  // one row per row of the task
    NullSpace null_space;         // with K_d
  };

  /// All terms of the law at one instant, under the article's names.
  struct Terms {
    FrameMotion motion;
    TaskError task;
    Eigen::VectorXd dq_r, ddq_r, s, tau;
  };

  /// `frame` of the nominal model is the one to control. Gains: see `gain_matrix` and `require_joint_definiteness`.
  Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, OrientationKind kind, Gains gains);

  int rows() const noexcept { return rows_.count(); }
  Terms blank_terms() const;
  /// The law under the current estimate, which does not change. Where the status is not ok, dq_r to tau are not set.
  Status evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& terms) noexcept;

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;

 private:
  bool reference_motion(const double* q, const double* dq, Terms& terms) const noexcept;

  Frame<double> frame_;
  TaskRows rows_;
  OrientationKind kind_;
  NullSpace null_space_;
  Matrix6d Lambda_, K_p_;
  Terms terms_;
};

}  // namespace thunder
