// Remaining motion on part of the components' time.
#include <algorithm>
#include <cmath>

#include "thunder/planning/trajectory/bernstein.hpp"
#include "thunder/planning/functional/functional_planner.hpp"
#include "thunder/planning/functional/motion_frame.hpp"
#include "thunder/planning/functional/score_solver.hpp"
#include "thunder/planning/functional/small_system.hpp"

namespace thunder {

namespace {

using Unknowns =
    Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxDofs*(FunctionalModel::kMaxComponents + 1), 1>;  // on the stack

/// Keeps the part after s in every dimension of a piece.
void keep_right(double* points, int degree, int dimension, double s) noexcept {
  double column[BezierPath::kMaxDegree + 1], right[BezierPath::kMaxDegree + 1];
  for (int k = 0; k < dimension; ++k) {
    for (int j = 0; j <= degree; ++j) column[j] = points[j * dimension + k];
    bernstein_split(column, right, degree, s);
    for (int j = 0; j <= degree; ++j) points[j * dimension + k] = right[j];
  }
}

/// Constraints at tau and 1 in the frame of the model: value of row r and degree of freedom k, in normalized time.
struct Ends {
  Ends(const MotionFrame& frame, const BoundaryState& now, const BoundaryState& goal, double T) noexcept {
    const DofVector* const given[] = {&now.x, &goal.x, &now.v, &goal.v, &now.a, &goal.a};
    double power = 1.0;
    for (int r = 0; r < 6; ++r) {
      frame.to_model(*given[r], r >= 2, values[r]);
      for (int k = 0; k < frame.dimension; ++k) values[r][k] *= power;
      if (r % 2 == 1) power *= T;
    }
  }
  double values[6][kMaxDofs];
};

/// The system of a joint model; returns the condition.
double solve_joint(const FunctionalPlanner& planner, const MotionFrame& frame, const Ends& ends, double tau, int order,
                   Unknowns& unknowns) {
  const int d = planner.dimension(), count = 2 * order;
  RowMajor A(count * d, unknowns.size());
  Eigen::VectorXd right(count * d);
  for (int r = 0; r < count; ++r) {
    planner.constraint_rows(r % 2 ? 1.0 : tau, r / 2, 0, d, A.middleRows(r * d, d), right.data() + r * d);
    for (int k = 0; k < d; ++k) right[r * d + k] = ends.values[r][k] - frame.mean_scale(k) * right[r * d + k];
  }
  Eigen::VectorXd scale = planner.score_scale(0, d, count);
  if (planner.settings().mode == PlannerSettings::Mode::exact) scale = scale.cwiseProduct(equilibration(A, d));
  const ScoreSolver solver(A, d, scale, {});
  if (solver.solvable()) unknowns = solver.solve(right);
  return solver.condition();
}

/// Degrees of freedom one by one, all from the same functions at the ends.
double solve_single(const FunctionalPlanner& planner, const MotionFrame& frame, const Ends& ends, double tau, int order,
                    Unknowns& unknowns) {
  const FunctionalModel& model = planner.model();
  const int d = model.dimension, n = model.components, count = 2 * order;
  const bool exact = planner.settings().mode == PlannerSettings::Mode::exact;
  double values[6][FunctionalModel::kMaxComponents * kMaxDofs], mean[6][kMaxDofs], worst = 0.0;
  for (int r = 0; r < count; ++r) model.functions_at(r % 2 ? 1.0 : tau, r / 2, values[r], mean[r]);
  for (int k = 0; k < d; ++k) {
    SmallSystem system(count, exact ? std::min(count - 1, n) : n);
    for (int i = 0; i < system.scores; ++i) {
      for (int r = 0; r < count; ++r) system.A[r][i] = values[r][i * d + k];
      const double variance = model.variances[static_cast<std::size_t>(i * d + k)];
      system.scale[i] = exact && variance > 0.0 ? -1.0 : std::sqrt(variance);
    }
    for (int r = 0; r < count; ++r) system.right[r] = ends.values[r][k] - frame.mean_scale(k) * mean[r][k];
    worst = std::max(worst, system.solve());
    unknowns[k] = system.offset;
    for (int i = 0; i < system.scores; ++i) unknowns[model.score(i, k)] = system.found[i];
  }
  return worst;
}

}  // namespace

Resumed FunctionalPlanner::resume(const DofVector& start, const BoundaryState& now, const BoundaryState& goal, double tau,
                                  double t0, double left, int order, double limit) const {
  Resumed result;
  resume(start, now, goal, tau, t0, left, order, limit, result);
  return result;
}

void FunctionalPlanner::resume(const DofVector& start, const BoundaryState& now, const BoundaryState& goal, double tau,
                               double t0, double left, int order, double limit, Resumed& result) const {
  const MotionFrame frame(model_, start, goal.x);
  const Ends ends(frame, now, goal, left / (1.0 - tau));
  Unknowns unknowns = Unknowns::Zero(model_.unknowns());
  const auto solve = model_.joint ? solve_joint : solve_single;
  result.condition = solve(*this, frame, ends, tau, order, unknowns);
  result.fallback = !std::isfinite(result.condition) || result.condition > limit;
  BezierPath& path = result.path;
  if (result.fallback) return hermite(now, goal, order, t0, left, path);
  double s, mean_scale[kMaxDofs];
  for (int k = 0; k < dimension(); ++k) mean_scale[k] = frame.mean_scale(k);
  const int first = model_.piece_at(tau, s), kept = model_.pieces() - first, width = (model_.degree + 1) * dimension();
  path.dimension = dimension();
  path.degree = model_.degree;
  path.points.resize(static_cast<std::size_t>(model_.pieces() * width));
  model_.compose(unknowns.data(), mean_scale, first, path.points.data());
  path.points.erase(path.points.begin(), path.points.begin() + first * width);
  keep_right(path.points.data(), model_.degree, dimension(), s);
  for (int p = 0; frame.aligned && p < kept * (model_.degree + 1); ++p) frame.to_world(path.points.data() + p * dimension());
  path.breaks.resize(static_cast<std::size_t>(kept) + 1);
  path.breaks[0] = t0;
  for (int p = 1; p <= kept; ++p)
    path.breaks[p] = t0 + left * (model_.breaks[first + p] - tau) / (1.0 - tau);
}

BezierPath hermite(const BoundaryState& from, const BoundaryState& to, int order, double t0, double duration) {
  BezierPath path;
  hermite(from, to, order, t0, duration, path);
  return path;
}

void hermite(const BoundaryState& from, const BoundaryState& to, int order, double t0, double duration, BezierPath& path) {
  const int d = static_cast<int>(from.x.size()), degree = 2 * order - 1;
  path.dimension = d;
  path.degree = degree;
  path.points.resize(static_cast<std::size_t>((degree + 1) * d));
  path.breaks.resize(2);
  path.breaks[0] = t0;
  path.breaks[1] = t0 + duration;
  const double h = duration / degree, hh = degree > 1 ? duration * duration / (degree * (degree - 1)) : 0.0;
  for (int k = 0; k < d; ++k) {
    double* const point = path.points.data() + k;
    point[0] = from.x[k];
    point[degree * d] = to.x[k];
    if (order < 2) continue;
    point[d] = from.x[k] + h * from.v[k];
    point[(degree - 1) * d] = to.x[k] - h * to.v[k];
    if (order < 3) continue;
    point[2 * d] = 2.0 * point[d] - point[0] + hh * from.a[k];
    point[(degree - 2) * d] = 2.0 * point[(degree - 1) * d] - point[degree * d] + hh * to.a[k];
  }
}

}  // namespace thunder
