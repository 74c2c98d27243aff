#include "thunder/kinematics/inverse_kinematics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "thunder/math/dense.hpp"
#include "thunder/math/rotations.hpp"

namespace thunder {

namespace {

using Eigen::Map;

constexpr double kLongestIteration = 0.7;  // of any joint in one iteration [rad, m]: the range of linearizations

}  // namespace

/// A configuration with its error and Jacobian.
struct InverseKinematics::Point {
  JointVector q, gradient;  // gradient: J' e, along which the error falls
  TaskVector e;
  CompactJacobian J;
  double error = std::numeric_limits<double>::infinity();
};

InverseKinematics::InverseKinematics(std::shared_ptr<const Model> model, const Frame<double>& frame, TaskRows rows,
                                     Settings settings)
    : model_(std::move(model)), frame_(frame), rows_(rows), settings_(std::move(settings)) {
  const auto n = static_cast<Eigen::Index>(model_->n());
  const Settings& s = settings_;
  if (s.lower.size() != n || s.upper.size() != n || s.starts.cols() != n || s.starts.rows() < 1)
    throw std::invalid_argument("limits and starts must have one entry per joint, and at least one start");
  const ChainView<double> chain = model_->view();
  whole_turns_.resize(static_cast<std::size_t>(n));
  for (Eigen::Index i = 0; i < n; ++i)
    whole_turns_[static_cast<std::size_t>(i)] = chain.links[i].type == JointType::revolute &&
                                                std::isfinite(s.lower[i]) && std::isfinite(s.upper[i]) &&
                                                s.upper[i] - s.lower[i] >= 2.0 * kPi;
  measure_starts();
}

void InverseKinematics::measure_starts() {
  WorkspaceMemory memory(workspace_bytes(n(), sizeof(double)));
  const auto count = static_cast<std::size_t>(settings_.starts.rows());
  start_poses_.resize(count);
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  for (std::size_t k = 0; k < count; ++k) {
    const double* q = settings_.starts.data() + static_cast<std::ptrdiff_t>(k) * n();
    kernels().frame_poses(model_->view(), memory.view(), q, &frame_, 1, &start_poses_[k], nullptr);
    mean += to_eigen(start_poses_[k].p) / static_cast<double>(count);
  }
  double spread = 0.0;
  for (const Pose<double>& pose : start_poses_)
    spread += (to_eigen(pose.p) - mean).squaredNorm() / static_cast<double>(count);
  if (spread > 0.0) spread_ = spread;
}

/// Distance of the pose of a start from the target in the chosen rows, of position and orientation in equal parts.
double InverseKinematics::remoteness(const Target& target, Eigen::Index start) const noexcept {
  const Pose<double>& pose = start_poses_[static_cast<std::size_t>(start)];
  const Eigen::Vector3d away = target.p - to_eigen(pose.p);
  double distance = 0.0;
  for (int r = 0; r < 3; ++r)
    if (rows_.has(r)) distance += away[r] * away[r] / (2.0 * spread_);
  constexpr double kMeanSquare = 6.0;  // of the difference of two random rotations
  if (rows_.has(3) || rows_.has(4) || rows_.has(5))
    distance += (target.R - to_eigen(pose.R)).squaredNorm() / kMeanSquare;
  return distance;
}

/// The starts after the first one, by their remoteness.
struct InverseKinematics::StartOrder {
  const InverseKinematics& solver;
  const Target& target;
  double last = -1.0;
  Eigen::Index index = 0;

  Eigen::Index next() noexcept {
    double least = std::numeric_limits<double>::infinity();
    Eigen::Index found = 0;
    for (Eigen::Index k = 1; k < solver.settings_.starts.rows(); ++k) {
      const double distance = solver.remoteness(target, k);
      if (distance < last || (distance == last && k <= index) || distance >= least) continue;
      least = distance;
      found = k;
    }
    last = least;
    index = found;
    return found;
  }
};

void InverseKinematics::evaluate(Workspace work, const Target& target, Point& point) const noexcept {
  const int n = model_->n();
  Pose<double> pose;
  double* const full = work.take<double>(6 * n);
  kernels().frame_poses(model_->view(), work, point.q.data(), &frame_, 1, &pose, full);
  Vector6d e;
  e << target.p - to_eigen(pose.p), rotation_log(target.R * to_eigen(pose.R).transpose());
  const int count = rows_.count();
  point.e.resize(count);
  point.J.resize(count, n);
  int m = 0;
  for (int r = 0; r < 6; ++r) {
    if (!rows_.has(r)) continue;
    point.e[m] = e[r];
    for (int j = 0; j < n; ++j) point.J(m, j) = full[r * n + j];
    ++m;
  }
  point.error = point.e.norm();
}

/// Joints at a limit that would leave the range are fixed; those with a range of a whole turn go round.
void InverseKinematics::hold_at_limits(Point& point) const noexcept {
  point.gradient = point.J.transpose().lazyProduct(point.e);
  for (Eigen::Index i = 0; i < point.q.size(); ++i) {
    const bool below = point.q[i] <= settings_.lower[i] && point.gradient[i] < 0.0;
    const bool above = point.q[i] >= settings_.upper[i] && point.gradient[i] > 0.0;
    if ((!below && !above) || whole_turns_[static_cast<std::size_t>(i)]) continue;
    point.J.col(i).setZero();
    point.gradient[i] = 0.0;
  }
}

/// J' (J J' + damping |e|^2)^-1 e: damping that vanishes with the error preserves Newton's convergence.
void InverseKinematics::levenberg_marquardt(Point& point, double damping, JointVector& step) const noexcept {
  const auto m = point.e.size();
  TaskMatrix A = point.J.lazyProduct(point.J.transpose());
  A.diagonal().array() += damping * point.error * point.error + 1e-14;
  TaskVector y = point.e;
  if (factor_positive_definite(static_cast<int>(m), A.data()))
    solve_positive_definite(static_cast<int>(m), A.data(), y.data());
  else
    y.setZero(m);
  step = point.J.transpose().lazyProduct(y);
}

/// gamma J' e (lecture 15).
void InverseKinematics::steepest_descent(Point& point, double shortening, JointVector& step) const noexcept {
  double rate = settings_.learning_rate;
  if (rate <= 0.0) {
    const double curvature = TaskVector(point.J.lazyProduct(point.gradient)).squaredNorm();
    rate = curvature > 0.0 ? shortening * point.gradient.squaredNorm() / curvature : 0.0;
  }
  step = rate * point.gradient;
}

void InverseKinematics::move(const Point& from, const JointVector& step, Point& to) const noexcept {
  const double longest = step.lpNorm<Eigen::Infinity>();
  const double scale = longest > kLongestIteration ? kLongestIteration / longest : 1.0;
  to.q = from.q + scale * step;
  for (Eigen::Index i = 0; i < to.q.size(); ++i) {
    if (!whole_turns_[static_cast<std::size_t>(i)]) continue;
    if (to.q[i] > settings_.upper[i]) to.q[i] -= 2.0 * kPi;
    if (to.q[i] < settings_.lower[i]) to.q[i] += 2.0 * kPi;
  }
  to.q = to.q.cwiseMax(settings_.lower).cwiseMin(settings_.upper);
}

/// Iterates from one start until the error vanishes or falls no more.
void InverseKinematics::descend(Workspace work, const Target& target, Point& point, Solution& solution) const noexcept {
  constexpr double kProgress = 1e-3;
  constexpr int kPatience = 8;  // iterations without progress
  const bool newton = settings_.method == Method::levenberg_marquardt, fixed = !newton && settings_.learning_rate > 0.0;
  Point next;
  JointVector step;
  // growth doubles from failure to failure (Nielsen 1999): small damping reaches a useful size within the patience
  constexpr double kGrowth = 4.0;
  double damping = 0.1, growth = kGrowth, shortening = 1.0;
  int idle = 0;
  evaluate(work, target, point);
  for (int k = 0; k < settings_.max_iterations && point.error > settings_.tolerance; ++k) {
    hold_at_limits(point);
    if (newton)
      levenberg_marquardt(point, damping, step);
    else
      steepest_descent(point, shortening, step);
    move(point, step, next);
    evaluate(work, target, next);
    ++solution.iterations;
    const bool better = next.error < point.error;
    // gradient descent is slow along valleys: any progress counts
    idle = next.error < (1.0 - (newton ? kProgress : 1e-9)) * point.error ? 0 : idle + 1;
    damping = better ? std::max(damping / 5.0, 1e-6) : damping * growth;
    growth = better ? kGrowth : 2.0 * growth;
    shortening = better ? std::min(1.0, 2.0 * shortening) : 0.5 * shortening;
    if (better || fixed) std::swap(point, next);
    if (!fixed && idle >= (newton ? kPatience : 5 * kPatience)) break;
    if (!fixed && !better) evaluate(work, target, point);  // fixed columns are released
  }
}

/// Continuous joints: within half a turn of their start, or of zero.
void InverseKinematics::wrap(const double* q0, double* q) const noexcept {
  const ChainView<double> chain = model_->view();
  for (int i = 0; i < chain.n; ++i) {
    if (chain.links[i].type != JointType::revolute || std::isfinite(settings_.lower[i]) ||
        std::isfinite(settings_.upper[i]))
      continue;
    const double middle = q0 != nullptr ? q0[i] : 0.0;
    q[i] = middle + std::remainder(q[i] - middle, 2.0 * kPi);
  }
}

InverseKinematics::Solution InverseKinematics::solve(Workspace work, const double* T, const double* q0,
                                                      double* q) const noexcept {
  Target target;
  const Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> pose(T);
  target.R = pose.topLeftCorner<3, 3>();
  target.p = pose.topRightCorner<3, 1>();
  Solution solution;
  solution.error = std::numeric_limits<double>::infinity();
  const int own = q0 != nullptr ? 1 : 0, starts = own + static_cast<int>(settings_.starts.rows());
  Point point;
  StartOrder order{*this, target};
  for (int k = 0; k < starts && !solution.success; ++k) {
    const double* start = k < own ? q0 : settings_.starts.data() + (k == own ? 0 : order.next()) * n();
    point.q = Map<const Eigen::VectorXd>(start, n()).cwiseMax(settings_.lower).cwiseMin(settings_.upper);
    if (k == 0) std::copy_n(point.q.data(), n(), q);
    descend(work, target, point, solution);
    solution.restarts = k;
    if (!(point.error < solution.error)) continue;
    solution.error = point.error;
    solution.success = point.error <= settings_.tolerance;
    std::copy_n(point.q.data(), n(), q);
  }
  wrap(q0, q);
  return solution;
}

void InverseKinematics::solve_batch(const Batch& batch, int threads, const Interruption& interrupted) const {
  // one at a time: targets that take long, out of reach, often come together
  const ParallelOptions options{threads, 1, interrupted};
  const std::vector<WorkspaceMemory> scratch(static_cast<std::size_t>(parallel_threads(batch.count, options)),
                                             WorkspaceMemory(workspace_bytes(n(), sizeof(double))));
  parallel_for(batch.count, options, [&](std::size_t b, std::size_t, int worker) {
    const auto index = static_cast<std::ptrdiff_t>(b);
    const double* q0 = batch.q0 != nullptr ? batch.q0 + index * batch.q0_stride : nullptr;
    const Workspace work = scratch[static_cast<std::size_t>(worker)].view();
    batch.solutions[b] = solve(work, batch.T + index * batch.T_stride, q0, batch.q + index * n());
  });
}

}  // namespace thunder
