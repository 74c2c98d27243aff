// Distribution of the motions that meet constraints at any time, learned from demonstrations.
#pragma once

#include <memory>
#include <vector>

#include "functional_planner.hpp"
#include "motion_frame.hpp"

namespace thunder {

/// A derivative of one degree of freedom at a normalized time, in real units; exact where noise is 0.
struct MotionConstraint {
  double tau;
  int derivative, dof;
  double value, noise;  // standard deviation
};

/// Offsets and scores under constraints, a normal distribution: their most likely values and a square root of their
/// covariance, whose columns are the remaining directions. In the mode `exact` the constraints per degree of freedom
/// set the number of components, and no direction remains.
class ConditionedMotion {
 public:
  /// start and goal give the frame of an aligned model. Throws std::invalid_argument where the constraints cannot be met
  /// or leave an offset undetermined.
  ConditionedMotion(std::shared_ptr<const FunctionalPlanner> planner, const DofVector& start, const DofVector& goal,
                    double duration, const std::vector<MotionConstraint>& constraints);

  int dimension() const noexcept { return planner_->dimension(); }
  const Eigen::VectorXd& unknowns() const noexcept { return unknowns_; }
  const Eigen::MatrixXd& spread() const noexcept { return spread_; }
  double condition() const noexcept { return condition_; }

  /// The motion from t0 on; `along` holds a number per remaining direction, null: the most likely motion.
  BezierPath path(double t0, const double* along) const;
  /// Mean and covariance of a derivative at a normalized time, in real units: d and d x d numbers.
  void at(double tau, int derivative, double* mean, double* covariance) const;

 private:
  /// Rows over all unknowns in real units, and S_0's part, of every degree of freedom.
  RowMajor rows(double tau, int derivative, Eigen::VectorXd& mean) const;

  std::shared_ptr<const FunctionalPlanner> planner_;
  MotionFrame frame_;
  double duration_, condition_ = 0.0;
  Eigen::VectorXd unknowns_;
  Eigen::MatrixXd spread_;
};

}  // namespace thunder
