#include "thunder/planning/functional/conditioned_motion.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "thunder/planning/functional/score_solver.hpp"

namespace thunder {

namespace {

using Mode = PlannerSettings::Mode;

/// Constraints per degree of freedom, which a square system must have the same number of everywhere.
int square_count(const FunctionalPlanner& planner, const std::vector<MotionConstraint>& constraints) {
  std::vector<int> counts(static_cast<std::size_t>(planner.dimension()));
  for (const MotionConstraint& each : constraints) ++counts[static_cast<std::size_t>(each.dof)];
  for (const int count : counts)
    if (count != counts[0])
      throw std::invalid_argument("the square system needs as many constraints on every degree of freedom");
  const int need = (counts[0] - 1) * (planner.model().joint ? planner.dimension() : 1);
  if (need > planner.model().components)
    throw std::invalid_argument("these constraints need " + std::to_string(need) + " components, the model has " +
                                std::to_string(planner.model().components));
  return counts[0];
}

}  // namespace

ConditionedMotion::ConditionedMotion(std::shared_ptr<const FunctionalPlanner> planner, const DofVector& start,
                                     const DofVector& goal, double duration,
                                     const std::vector<MotionConstraint>& constraints)
    : planner_(std::move(planner)), frame_(planner_->model(), start, goal), duration_(duration) {
  const int d = planner_->dimension(), all = planner_->model().unknowns();
  const bool exact = planner_->settings().mode == Mode::exact;
  const auto count = static_cast<Eigen::Index>(constraints.size());
  Eigen::MatrixXd A(count, all);
  Eigen::VectorXd right(count), noise(count), mean;
  for (Eigen::Index c = 0; c < count; ++c) {
    const MotionConstraint& each = constraints[static_cast<std::size_t>(c)];
    A.row(c) = rows(each.tau, each.derivative, mean).row(each.dof);
    right[c] = each.value - mean[each.dof];
    noise[c] = each.noise;
  }
  Eigen::VectorXd scale = planner_->score_scale(0, d, exact ? square_count(*planner_, constraints) : 0);
  if (exact) scale = scale.cwiseProduct(equilibration(A, d));
  const bool noisy = (noise.array() > 0.0).any();
  const ScoreSolver solver(A, d, scale, noisy ? noise : Eigen::VectorXd());
  if (!solver.solvable())
    throw std::invalid_argument(
        "the constraints cannot be met: they repeat or contradict each other, are more than the components allow, or "
        "leave a degree of freedom without any position");
  condition_ = solver.condition();
  unknowns_ = solver.solve(right);
  spread_ = solver.spread();
}

RowMajor ConditionedMotion::rows(double tau, int derivative, Eigen::VectorXd& mean) const {
  const int d = planner_->dimension();
  RowMajor local(d, planner_->model().unknowns());
  mean.resize(d);
  planner_->constraint_rows(tau, derivative, 0, d, local, mean.data());
  for (int k = 0; k < d; ++k) mean[k] *= frame_.mean_scale(k);
  const Eigen::MatrixXd axes = frame_.axes() / std::pow(duration_, derivative);
  mean = (axes * mean).eval();
  if (frame_.aligned && derivative == 0) mean.head<3>() += frame_.origin;
  return axes * local;
}

BezierPath ConditionedMotion::path(double t0, const double* along) const {
  const FunctionalModel& model = planner_->model();
  Eigen::VectorXd unknowns = unknowns_;
  if (along != nullptr) unknowns += spread_ * Eigen::Map<const Eigen::VectorXd>(along, spread_.cols());
  double mean_scale[kMaxDofs];
  for (int k = 0; k < model.dimension; ++k) mean_scale[k] = frame_.mean_scale(k);
  BezierPath path = planner_->blank();
  for (int p = 0; p < path.pieces(); ++p) model.compose(unknowns.data(), mean_scale, p, path.piece(p));
  for (int p = 0; frame_.aligned && p < model.rows(); ++p) frame_.to_world(path.points.data() + p * model.dimension);
  for (std::size_t p = 0; p < path.breaks.size(); ++p) path.breaks[p] = t0 + duration_ * model.breaks[p];
  return path;
}

void ConditionedMotion::at(double tau, int derivative, double* mean, double* covariance) const {
  const int d = planner_->dimension();
  Eigen::VectorXd value;
  const RowMajor row = rows(tau, derivative, value);
  const Eigen::MatrixXd root = row * spread_;
  Eigen::Map<Eigen::VectorXd>(mean, d) = value + row * unknowns_;
  Eigen::Map<Eigen::MatrixXd>(covariance, d, d) = root * root.transpose();
}

}  // namespace thunder
