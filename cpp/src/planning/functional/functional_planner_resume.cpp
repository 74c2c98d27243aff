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

constexpr double kGoalRounding = 1e-13;  // change of a goal that is rounding, relative to the motion
/// Breaks nearer than this part of the remaining time are one: a shorter piece would lose the digits of its derivatives.
constexpr double kSameBreak = 1e-5;
/// Largest values of Hermite's polynomials of degree 5 that belong to a velocity and an acceleration, rounded up.
constexpr double kVelocityMoves = 0.2, kAccelerationMoves = 0.02;

/// Values of a piece: degree + 1 points.
using PiecePoints = double[(BezierPath::kMaxDegree + 1) * kMaxDofs];

/// The part [a, b] of a piece, with a higher degree.
void cut_piece(double* points, int degree, int dimension, double a, double b, int higher) noexcept {
  double column[BezierPath::kMaxDegree + 1], scratch[BezierPath::kMaxDegree + 1];
  for (int k = 0; k < dimension; ++k) {
    for (int j = 0; j <= degree; ++j) column[j] = points[j * dimension + k];
    bernstein_restrict(column, scratch, degree, a, b);
    bernstein_elevate(column, degree, higher);
    for (int j = 0; j <= higher; ++j) points[j * dimension + k] = column[j];
  }
}

/// What has to change about a motion, in the world: at its current state, if its remaining time is scaled, and at its goal.
struct MotionChange {
  MotionChange(const MotionSoFar& motion, const BoundaryState& to, double left, int order_)
      : now(motion.path.dimension), goal(now), duration(left), order(order_) {
    const double rate = (motion.path.end() - motion.t) / left;
    BoundaryState here(now), there(now);
    motion.path.at(motion.t, 0, here.x.data());
    motion.path.at(motion.path.end(), 0, there.x.data());
    motion.path.at(motion.t, 1, now.v.data());
    motion.path.at(motion.path.end(), 1, there.v.data());
    motion.path.at(motion.t, 2, now.a.data());
    motion.path.at(motion.path.end(), 2, there.a.data());
    now.v *= 1.0 - rate;
    now.a *= 1.0 - rate * rate;
    const double size = kGoalRounding * std::max(here.x.cwiseAbs().maxCoeff(), there.x.cwiseAbs().maxCoeff());
    const auto difference = [&](const DofVector& a, const DofVector& b, double least) {
      return DofVector(((a - b).array().abs() > least).select(a - b, 0.0));
    };
    // derivatives of positions that are rounded: the highest ones lose most
    goal.x = difference(to.x, there.x, size);
    goal.v = difference(to.v, rate * there.v, 1e2 * size / left);
    goal.a = difference(to.a, rate * rate * there.a, 1e4 * size / (left * left));
  }

  bool none() const noexcept {
    return goal.x.isZero(0.0) && goal.v.isZero(0.0) && now.v.isZero(0.0) &&
           (order < 3 || (goal.a.isZero(0.0) && now.a.isZero(0.0)));
  }

  /// The deviation that the change calls for in `size` degrees of freedom from `first` on: a bound for Hermite's polynomial.
  double size(int first, int size) const noexcept {
    const auto norm = [&](const DofVector& x) { return x.segment(first, size).norm(); };
    double sum = norm(goal.x) + kVelocityMoves * duration * (norm(now.v) + norm(goal.v));
    if (order > 2) sum += kAccelerationMoves * duration * duration * (norm(now.a) + norm(goal.a));
    return sum;
  }

  BoundaryState now, goal;
  double duration;
  int order;
};

/// The components of a correction on [tau, 1], piece by piece, over the unit interval.
class ComponentCorrection {
 public:
  ComponentCorrection(const FunctionalModel& model, const MotionFrame& frame, double tau, const Unknowns& unknowns) noexcept
      : model_(model), frame_(frame), unknowns_(unknowns), tau_(tau), first_(model.piece_at(tau, place_)) {}

  int pieces() const noexcept { return model_.pieces() - first_; }
  int degree() const noexcept { return model_.degree; }
  double at(int k) const noexcept { return (model_.breaks[first_ + k] - tau_) / (1.0 - tau_); }
  void piece(int k, double* points) const noexcept {
    const double no_mean[kMaxDofs] = {};
    model_.compose(unknowns_.data(), no_mean, first_ + k, points);
    for (int j = 0; j <= model_.degree; ++j) frame_.turn_to_world(points + j * model_.dimension);
  }

  /// True if no group of degrees of freedom that components move together moves farther than `limit` times the change.
  bool within(double limit, const MotionChange& change) const noexcept {
    const int d = model_.dimension, group = model_.joint ? d : model_.aligned ? 3 : 1;
    PiecePoints points;
    for (int p = 0; p < pieces(); ++p) {
      piece(p, points);
      if (p == 0) cut_piece(points, model_.degree, d, place_, 1.0, model_.degree);
      for (int first = 0; first < d; first += group) {
        const double most = limit * change.size(first, group);
        for (int j = 0; j <= model_.degree; ++j)
          if (!(Eigen::Map<const Eigen::VectorXd>(points + j * d + first, group).norm() <= most)) return false;
      }
    }
    return true;
  }

 private:
  const FunctionalModel& model_;
  const MotionFrame& frame_;
  const Unknowns& unknowns_;
  double tau_, place_ = 0.0;
  int first_;
};

void hermite_points(const BoundaryState& from, const BoundaryState& to, int order, double duration,
                    double* points) noexcept {
  const int d = static_cast<int>(from.x.size()), degree = 2 * order - 1;
  const double h = duration / degree, hh = degree > 1 ? duration * duration / (degree * (degree - 1)) : 0.0;
  for (int k = 0; k < d; ++k) {
    double* const point = points + k;
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

/// One polynomial between two states, over the unit interval.
class HermiteCorrection {
 public:
  explicit HermiteCorrection(const MotionChange& change) noexcept : change_(change) {}
  int pieces() const noexcept { return 1; }
  int degree() const noexcept { return 2 * change_.order - 1; }
  double at(int k) const noexcept { return k; }
  void piece(int, double* points) const noexcept {
    hermite_points(change_.now, change_.goal, change_.order, change_.duration, points);
  }

 private:
  const MotionChange& change_;
};

/// The motion so far from t on, in `left` seconds, plus a correction, on the breaks of both.
template <class Added>
void add_correction(const MotionSoFar& motion, double left, const Added& added, BezierPath& sum) {
  const BezierPath& before = motion.path;
  const int d = before.dimension, degree = std::max(before.degree, added.degree()), width = (degree + 1) * d;
  const double old_left = before.end() - motion.t;
  const auto old_at = [&](int k) { return (before.breaks[k] - motion.t) / old_left; };
  const auto end_at = [](double s) { return s > 1.0 - kSameBreak ? 1.0 : s; };
  sum.dimension = d;
  sum.degree = degree;
  sum.breaks.assign(1, motion.t);
  sum.points.clear();
  PiecePoints a, b;
  int i = before.piece_at(motion.t), k = 0;
  if (i + 1 < before.pieces() && old_at(i + 1) < kSameBreak) ++i;
  if (k + 1 < added.pieces() && added.at(k + 1) < kSameBreak) ++k;
  for (double from = 0.0; from < 1.0;) {
    const double old_from = old_at(i), old_to = old_at(i + 1), added_from = added.at(k), added_to = added.at(k + 1);
    const double to = std::min(end_at(old_to), end_at(added_to));
    std::copy_n(before.piece(i), (before.degree + 1) * d, a);
    cut_piece(a, before.degree, d, (from - old_from) / (old_to - old_from), (to - old_from) / (old_to - old_from), degree);
    added.piece(k, b);
    cut_piece(b, added.degree(), d, (from - added_from) / (added_to - added_from), (to - added_from) / (added_to - added_from),
        degree);
    for (int q = 0; q < width; ++q) a[q] += b[q];
    sum.points.insert(sum.points.end(), a, a + width);
    sum.breaks.push_back(to < 1.0 ? motion.t + left * to : motion.t + left);
    if (old_to <= to + kSameBreak) ++i;
    if (added_to <= to + kSameBreak) ++k;
    from = to;
  }
}

/// A change in the frame of the model: value of row r and degree of freedom k, in normalized time.
struct Ends {
  Ends(const MotionFrame& frame, const MotionChange& change, double T) noexcept {
    const DofVector* const given[] = {&change.now.x, &change.goal.x, &change.now.v,
                                      &change.goal.v, &change.now.a, &change.goal.a};
    double power = 1.0;
    for (int r = 0; r < 6; ++r) {
      frame.to_model(*given[r], true, values[r]);
      for (int k = 0; k < frame.dimension; ++k) values[r][k] *= power;
      if (r % 2 == 1) power *= T;
    }
  }
  double values[6][kMaxDofs];
};

/// The system of a joint model; returns the condition.
double solve_joint(const FunctionalPlanner& planner, const Ends& ends, double tau, int order, Unknowns& unknowns) {
  const int d = planner.dimension(), count = 2 * order;
  RowMajor A(count * d, unknowns.size());
  Eigen::VectorXd right(count * d);
  double mean[kMaxDofs];
  for (int r = 0; r < count; ++r) {
    planner.constraint_rows(r % 2 ? 1.0 : tau, r / 2, 0, d, A.middleRows(r * d, d), mean);
    std::copy_n(ends.values[r], d, right.data() + r * d);
  }
  Eigen::VectorXd scale = planner.score_scale(0, d, count);
  if (planner.settings().mode == PlannerSettings::Mode::exact) scale = scale.cwiseProduct(equilibration(A, d));
  const ScoreSolver solver(A, d, scale, {});
  if (solver.solvable()) unknowns = solver.solve(right);
  return solver.condition();
}

/// Degrees of freedom one by one, all from the same functions at the ends.
double solve_single(const FunctionalPlanner& planner, const Ends& ends, double tau, int order, Unknowns& unknowns) {
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
    for (int r = 0; r < count; ++r) system.right[r] = ends.values[r][k];
    worst = std::max(worst, system.solve());
    unknowns[k] = system.offset;
    for (int i = 0; i < system.scores; ++i) unknowns[model.score(i, k)] = system.found[i];
  }
  return worst;
}

}  // namespace

void FunctionalPlanner::resume(const MotionSoFar& motion, const BoundaryState& goal, double left, int order,
                               const ReplanLimits& limits, Resumed& result, double* correction) const {
  const MotionFrame frame(model_, motion.start, motion.goal);
  const MotionChange change(motion, goal, left, order);
  Unknowns unknowns = Unknowns::Zero(model_.unknowns());
  const auto solve = model_.joint ? solve_joint : solve_single;
  result.condition = solve(*this, Ends(frame, change, left / (1.0 - motion.tau)), motion.tau, order, unknowns);
  if (change.none()) unknowns.setZero();  // also where the system is singular
  const ComponentCorrection components(model_, frame, motion.tau, unknowns);
  result.fallback = !change.none() && !(std::isfinite(result.condition) && result.condition <= limits.condition &&
                                        components.within(limits.deviation, change));
  if (result.fallback) return add_correction(motion, left, HermiteCorrection(change), result.path);
  if (correction != nullptr) std::copy_n(unknowns.data(), unknowns.size(), correction);
  add_correction(motion, left, components, result.path);
}

void hermite(const BoundaryState& from, const BoundaryState& to, int order, double t0, double duration, BezierPath& path) {
  path.dimension = static_cast<int>(from.x.size());
  path.degree = 2 * order - 1;
  path.points.resize(static_cast<std::size_t>((path.degree + 1) * path.dimension));
  path.breaks.resize(2);
  path.breaks[0] = t0;
  path.breaks[1] = t0 + duration;
  hermite_points(from, to, order, duration, path.points.data());
}

}  // namespace thunder
