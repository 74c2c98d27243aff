// Adaptive backstepping in task space with axis-angle orientation error (Thunder article, section 4).
#pragma once

#include "adaptive_controller.hpp"

namespace thunder {

class Backstepping final : public AdaptiveController<TaskReference> {
 public:
  /// The law needs L^-1, which ends at 90 degrees of orientation error; past it the error would settle at half a turn
  /// (errata T-11). Below this cosine (88.9 degrees) the status is singular.
  static constexpr double kSmallestCosine = 0.02;
  /// J J' counts as singular below this ratio of smallest to largest pivot of its L D L' factorisation: J has then lost
  /// a direction to about one part in a thousand.
  static constexpr double kSmallestPivotRatio = 1e-6;

  enum class Task { pose = 6, position = 3 };  // number of rows m

  // vectors and matrices of the task: m rows, no more than six
  using TaskVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
  using TaskMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

  struct Gains {
    TaskMatrix Lambda, K_p;  // m x m
    Eigen::MatrixXd K_d;     // n x n
  };

  /// Everything the law computes at one instant, under the article's names.
  struct Terms {
    Jacobian J, J_dot;
    TaskVector e, e_dot;
    TaskMatrix L, L_dot, L_inverse;
    Eigen::VectorXd dq_r, ddq_r, s, tau;
  };

  /// `frame` of the nominal model is the one to control. Gains: see `gain_matrix` and `require_joint_definiteness`.
  Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, Gains gains);

  Terms blank_terms() const;
  /// The law with the current estimate, which it does not change. Where the status is not ok, ddq_r to tau are not set.
  Status evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& terms) noexcept;

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;

 private:
  bool task_error(const Pose<double>& pose, const double* dq, const TaskReference& desired, Terms& terms) const noexcept;
  bool reference_motion(const double* dq, const TaskReference& desired, Terms& terms) const noexcept;

  Frame<double> frame_;
  int m_;
  Gains gains_;
  Terms terms_;
};

}  // namespace thunder
