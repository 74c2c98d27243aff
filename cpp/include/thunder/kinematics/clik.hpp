// Closed-loop inverse kinematics: joint velocities or accelerations that follow a task (SCARA project, chapter 3; D4.2,
// eq. 124).
#pragma once

#include <memory>

#include "../threads/exclusive.hpp"
#include "box_least_squares.hpp"
#include "joint_limits.hpp"
#include "null_objective.hpp"
#include "row_svd.hpp"
#include "status.hpp"
#include "task_motion.hpp"

namespace thunder {

class Clik final : public Exclusive {
 public:
  enum class Method : int { inverse, transpose, pseudoinverse, damped };
  enum class Measure : int { singular_value, manipulability };

  struct Settings {
    Method method = Method::pseudoinverse;
    int order = 1;
    Eigen::MatrixXd K, K_D;            // rows of the task; K_D for order 2
    double damping = 0.0;              // lambda
    double threshold = 0.0;            // damped below this value of the measure only; 0: everywhere
    Measure measure = Measure::singular_value;
    double null_damping = 10.0;        // [1/s], order 2: of motion that the task does not see
    double largest_condition = 1e3;    // of J, in the 2-norm: past this it counts as singular
    JointLimits limits;                // n entries each, or all empty: none
    double period = 0.01;              // [s] for which an output is held, for the limits
    std::shared_ptr<const NullObjective> objective;  // or none
  };

  /// Throws std::invalid_argument where settings do not fit the task.
  Clik(std::shared_ptr<const Model> model, const Frame<double>& frame, TaskRows rows, OrientationKind kind,
       Settings settings);

  int n() const noexcept { return dynamics_.n(); }
  int rows() const noexcept { return task_.rows().count(); }
  int order() const noexcept { return settings_.order; }
  /// Error of the last step, in the rows of the task.
  const TaskVector& error() const noexcept { return e_; }
  double manipulability(const double* q) const noexcept {
    return dynamics_.manipulability(q, task_.controlled(), task_.rows());
  }
  Status status() const noexcept { return status_; }

  /// True if `step` needs dq: of order 2, or for acceleration limits, for which it is the last output of order 1.
  bool needs_velocities() const noexcept { return settings_.order == 2 || accelerations_limited_; }
  /// Order 1 writes dq, order 2 ddq. `dq_0`, n or null, is asked of the null space in place of the objective. Never
  /// throws, never allocates. Where there is no answer, dq is zero and ddq brakes.
  Status step(const double* q, const double* dq, const TaskReference& desired, const double* dq_0,
              double* out) noexcept {
    return step(q, dq, desired, dq_0, settings_.period, out);
  }
  /// With another period for which the output is held.
  Status step(const double* q, const double* dq, const TaskReference& desired, const double* dq_0, double period,
              double* out) noexcept;
  /// True if the limits changed the last output, be it in the null space only.
  bool limited() const noexcept { return limited_; }
  bool within_positions(const double* q) const noexcept;
  /// From now on it is the frame at `tool` in the frame of the task that moves: an estimate may change in every step.
  void set_tool(const Pose<double>& tool) noexcept { task_.set_tool(tool); }
  void archive(StateArchive& state) {
    state.bounded(status_, 0.0, static_cast<double>(Status::invalid_input));
    state(task_);
    gather(task_.rows(), task_.error.e, e_);
  }

 private:
  Status law(const double* q, const double* dq, const TaskReference& desired, const double* dq_0) noexcept;
  Status invert(const double* q, const TaskVector& v) noexcept;
  void add_null_motion(const double* q, const double* dq, const double* dq_0) noexcept;
  double damping_squared(const double* q) const noexcept;
  bool limit(const double* q, const double* dq, double period, bool solved) noexcept;
  double feasible_scale(const TaskVector& v) noexcept;

  Evaluator dynamics_;
  TaskMotion task_;
  Settings settings_;
  TaskMatrix K_, K_D_;
  TaskVector e_;
  CompactJacobian J_;
  RowSvd svd_;
  BoxLeastSquares box_;
  JointVector zero_, null_, x_, least_, most_;
  bool accelerations_limited_ = false, limited_ = false;
  Status status_ = Status::ok;
};

}  // namespace thunder
