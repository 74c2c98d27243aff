// Adaptive backstepping in task space with axis-angle orientation error (Thunder article, section 4).
#pragma once

#include "adaptive_controller.hpp"

namespace thunder {

class Backstepping final : public AdaptiveController<TaskReference> {
 public:
  /// The law needs L^-1, which ends at 90 degrees of orientation error; past it the error would settle at half a turn
  /// (errata T-11). Below this cosine (88.9 degrees) the status is singular.
  static constexpr double kSmallestCosine = 0.02;
  /// J counts as singular past this condition number, in the Frobenius norm: |J| |J^+|.
  static constexpr double kLargestCondition = 200.0;

  enum class Task { pose = 6, position = 3 };  // rows that are controlled

  using Matrix6d = Eigen::Matrix<double, 6, 6>;
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

  struct Gains {
    Eigen::MatrixXd Lambda, K_p;  // one row per row of the task
    Eigen::MatrixXd K_d;          // n x n
  };

  /// Everything the law computes at one instant, under the article's names. For a position task the angular rows of J
  /// and e are zero.
  struct Terms {
    Jacobian J, J_dot;
    Vector6d xi_d, xi_d_dot;
    Vector6d e, e_dot;
    Matrix6d L, L_dot, L_inverse;
    Eigen::VectorXd dq_r, ddq_r, s, tau;
  };

  /// `frame` of the nominal model is the one to control. Gains: see `gain_matrix` and `require_joint_definiteness`.
  Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, Gains gains);

  int rows() const noexcept { return rows_; }
  Terms blank_terms() const;
  /// The law under the current estimate, which it leaves alone. Where the status is not ok, dq_r to tau are not set.
  Status evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& terms) noexcept;

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;

 private:
  bool task_error(const double* q, const double* dq, const TaskReference& desired, Terms& terms) const noexcept;
  bool reference_motion(const double* dq, Terms& terms) const noexcept;

  Frame<double> frame_;
  int rows_;
  Matrix6d Lambda_, K_p_;
  Terms terms_;
};

}  // namespace thunder
