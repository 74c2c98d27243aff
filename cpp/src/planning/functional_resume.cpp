// The rest of a motion on part of the components' time.
#include <algorithm>

#include "thunder/planning/bernstein.hpp"
#include "thunder/planning/functional_planner.hpp"
#include "thunder/planning/motion_frame.hpp"
#include "thunder/planning/score_solver.hpp"

namespace thunder {

namespace {

using Unknowns = Eigen::VectorXd;

/// Keeps what comes after s in every dimension of a piece.
void keep_right(double* points, int degree, int dimension, double s) noexcept {
  double column[BezierPath::kMaxDegree + 1], right[BezierPath::kMaxDegree + 1];
  for (int k = 0; k < dimension; ++k) {
    for (int j = 0; j <= degree; ++j) column[j] = points[j * dimension + k];
    bernstein_split(column, right, degree, s);
    for (int j = 0; j <= degree; ++j) points[j * dimension + k] = right[j];
  }
}

/// Constraints at tau and 1 in the frame of the model: value of row r and degree of freedom k, in normalised time.
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

/// Unknowns of degrees of freedom first to first + size; returns the condition.
double solve_part(const FunctionalPlanner& planner, const MotionFrame& frame, const Ends& ends, double tau, int order,
                  int first, int size, Unknowns& unknowns) {
  const FunctionalModel& model = planner.model();
  const int count = 2 * order, n = model.joint ? model.components : model.components * size;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> A(count * size, size + n);
  Eigen::VectorXd right(count * size);
  for (int r = 0; r < count; ++r)
    for (int k = 0; k < size; ++k) {
      const double mean =
          planner.constraint_row(r % 2 ? 1.0 : tau, r / 2, first + k, first, size, A.row(r * size + k));
      right[r * size + k] = ends.values[r][first + k] - frame.mean_scale(first + k) * mean;
    }
  Eigen::VectorXd scale = planner.score_scale(first, size, count);
  if (planner.settings().mode == PlannerSettings::Mode::exact) scale = scale.cwiseProduct(equilibration(A, size));
  const ScoreSolver solver(A, size, scale, {});
  if (!solver.solvable()) return solver.condition();
  const Eigen::VectorXd found = solver.solve(right);
  for (int k = 0; k < size; ++k) unknowns[first + k] = found[k];
  for (int i = 0; i < model.components; ++i)
    for (int k = 0; k < (model.joint ? 1 : size); ++k)
      unknowns[model.score(i, first + k)] = found[size + (model.joint ? i : i * size + k)];
  return solver.condition();
}

}  // namespace

Resumed FunctionalPlanner::resume(const DofVector& start, const BoundaryState& now, const BoundaryState& goal, double tau,
                                  double t0, double left, int order, double limit) const {
  const MotionFrame frame(model_, start, goal.x);
  const Ends ends(frame, now, goal, left / (1.0 - tau));
  Unknowns unknowns = Unknowns::Zero(model_.unknowns());
  Resumed result;
  for (const System& system : systems_) {
    const double found = solve_part(*this, frame, ends, tau, order, system.first, system.size, unknowns);
    result.condition = std::max(result.condition, found);
  }
  if (!(result.condition <= limit)) {
    result.fallback = true;
    result.path = hermite(now, goal, order, t0, left);
    return result;
  }
  double s, mean_scale[kMaxDofs];
  for (int k = 0; k < dimension(); ++k) mean_scale[k] = frame.mean_scale(k);
  const int first = model_.piece_at(tau, s), kept = model_.pieces() - first, width = (model_.degree + 1) * dimension();
  BezierPath& path = result.path;
  path = BezierPath(dimension(), model_.degree, model_.pieces());
  model_.compose(unknowns.data(), mean_scale, first, path.points.data());
  path.points.erase(path.points.begin(), path.points.begin() + first * width);
  keep_right(path.points.data(), model_.degree, dimension(), s);
  for (int p = 0; frame.aligned && p < kept * (model_.degree + 1); ++p) frame.to_world(path.points.data() + p * dimension());
  path.breaks.resize(static_cast<std::size_t>(kept) + 1);
  path.breaks[0] = t0;
  for (int p = 1; p <= kept; ++p)
    path.breaks[p] = t0 + left * (model_.breaks[first + p] - tau) / (1.0 - tau);
  return result;
}

BezierPath hermite(const BoundaryState& from, const BoundaryState& to, int order, double t0, double duration) {
  const int d = static_cast<int>(from.x.size()), degree = 2 * order - 1;
  BezierPath path(d, degree, 1);
  path.breaks = {t0, t0 + duration};
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
  return path;
}

}  // namespace thunder
