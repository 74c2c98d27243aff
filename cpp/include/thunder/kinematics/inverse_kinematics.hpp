// Numeric inverse kinematics of one pose or many, within joint limits, with restarts.
#pragma once

#include <memory>
#include <vector>

#include "../kernels/evaluator.hpp"
#include "../threads/parallel_for.hpp"
#include "row_svd.hpp"

namespace thunder {

class InverseKinematics {
 public:
  enum class Method : int { levenberg_marquardt, gradient_descent };

  struct Settings {
    Method method = Method::levenberg_marquardt;
    double tolerance = 1e-8;     // of the norm of the error in the chosen rows, meters and radians together
    int max_iterations = 1000;   // of each start
    double learning_rate = 0.0;  // of gradient descent; 0: the step that is best for a linear arm
    Eigen::VectorXd lower, upper;
    RowMajor starts;  // the first one is tried first, then the others, those with poses near the target before others
  };

  struct Solution {
    bool success = false;
    double error = 0.0;  // norm of what is left
    int iterations = 0;  // of all starts
    int restarts = 0;    // starts after the first one
  };

  InverseKinematics(std::shared_ptr<const Model> model, const Frame<double>& frame, TaskRows rows, Settings settings);

  int n() const noexcept { return model_->n(); }
  /// `T` is 4 x 4 row by row; `q0`, n or null, is tried before the starts. `q` is the best that was found, the
  /// first start where no error is a number.
  Solution solve(Workspace work, const double* T, const double* q0, double* q) const noexcept;

  struct Batch {
    const double *T, *q0;  // q0 may be null
    std::ptrdiff_t T_stride, q0_stride;
    double* q;
    Solution* solutions;
    std::size_t count;
  };
  /// Every target as `solve` does it; `threads` 0 is one per core.
  void solve_batch(const Batch& batch, int threads, const Interruption& interrupted = {}) const;

 private:
  struct Target {
    Eigen::Vector3d p;
    Eigen::Matrix3d R;
  };
  struct Point;
  struct StartOrder;

  void measure_starts();
  double remoteness(const Target& target, Eigen::Index start) const noexcept;
  void evaluate(Workspace work, const Target& target, Point& point) const noexcept;
  void descend(Workspace work, const Target& target, Point& point, Solution& solution) const noexcept;
  void levenberg_marquardt(Point& point, double damping, JointVector& step) const noexcept;
  void steepest_descent(Point& point, double shortening, JointVector& step) const noexcept;
  void hold_at_limits(Point& point) const noexcept;
  void move(const Point& from, const JointVector& step, Point& to) const noexcept;
  void wrap(const double* q0, double* q) const noexcept;

  std::shared_ptr<const Model> model_;
  Frame<double> frame_;
  TaskRows rows_;
  Settings settings_;
  std::vector<Pose<double>> start_poses_;
  double spread_ = 1.0;            // of their positions, squared [m^2]
  std::vector<char> whole_turns_;  // revolute joints with a range of at least one turn
};

}  // namespace thunder
