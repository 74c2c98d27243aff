#include "thunder/planning/obstacles/via_search.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "via_states.hpp"

namespace thunder {

using Eigen::Vector3d;

namespace {

constexpr double kLeastShare = 1e-3;  // of the duration, for a segment: nearer to an end there is no via point

const ViaSettings& checked(const ViaSettings& settings) {
  if (settings.count < 1) throw std::invalid_argument("count must be at least 1, got " + std::to_string(settings.count));
  if (settings.most < 1 || settings.most > kMaxVias)
    throw std::invalid_argument("most must be 1 to " + std::to_string(kMaxVias) + ", got " + std::to_string(settings.most));
  if (!(settings.half_width > 0.0)) throw std::invalid_argument("half_width must be positive");
  return settings;
}

}  // namespace

ViaSearch::ViaSearch(std::shared_ptr<const FunctionalPlanner> planner, const ViaSettings& settings)
    : planner_(std::move(planner)),
      settings_(checked(settings)),
      candidates_(settings.method, settings.count, settings.seed, settings.half_width),
      chains_(settings.count, settings.count) {
  if (!planner_ || planner_->dimension() < 3)
    throw std::invalid_argument("obstacles require a planner whose first three dimensions are a position");
  via_states_ = std::make_shared<const ViaStates>(*planner_);
  for (int n = 0; n <= settings_.most; ++n) paths_.push_back(planner_->blank(n + 1));
}

ViaResult ViaSearch::plan(const BoundaryState& from, const BoundaryState& to, double start, double duration,
                          const ObstacleSet& obstacles, double margin) noexcept {
  const Problem problem{from, to, start, duration, obstacles, margin};
  ViaResult result;
  const Vector3d a = from.x.head<3>(), b = to.x.head<3>();
  vias_ = suspect_ = 0;
  planner_->connect(from, to, start, duration, paths_[0], 0);
  if ((result.obstacle = obstacles.nearer(a, start, margin)) >= 0) {
    result.status = ViaResult::Status::start_blocked;
  } else if ((result.obstacle = obstacles.nearer(b, start + duration, margin)) >= 0) {
    result.status = ViaResult::Status::goal_blocked;
  } else if ((settings_.direct || obstacles.size() == 0) && obstacles.free(paths_[0], margin)) {
    result.status = ViaResult::Status::direct;
  } else {
    measure_progress();
    candidates_.begin(a, b);
    for (Vector3d via; candidates_.next(via);)
      if (attempt(problem, &via, 1, result)) return result;
    search_chains(problem, result);
  }
  return result;
}

ViaSolution ViaSearch::solve(const ViaProblem& problem) {
  ViaSolution solution;
  solution.result = plan(problem.from, problem.to, problem.start, problem.duration, *problem.obstacles, problem.margin);
  solution.path = path();
  if (solution.result.free()) solution.clearance = problem.obstacles->clearance(solution.path);
  return solution;
}

std::vector<ViaSolution> ViaSearch::solve_all(const std::vector<ViaProblem>& problems, int threads,
                                              const Interruption& interrupted) const {
  const int processors = parallel_threads(problems.size(), {0});
  const ParallelOptions options{threads > 0 ? std::min(threads, processors) : processors, 1, interrupted};
  std::vector<ViaSearch> searches(parallel_threads(problems.size(), options), *this);
  std::vector<ViaSolution> solutions(problems.size());
  parallel_for(problems.size(), options, [&](std::size_t k, std::size_t, int worker) {
    solutions[k] = searches[static_cast<std::size_t>(worker)].solve(problems[k]);
  });
  return solutions;
}

/// Cheap checks first: the via point, then the segments in turn, beginning with the one that failed last.
bool ViaSearch::attempt(const Problem& problem, const Vector3d* points, int count, ViaResult& result) noexcept {
  ++result.evaluated;
  if (!place(problem, points, count, result)) return false;
  for (int i = 0; i < count; ++i)
    if (problem.obstacles.nearer(points[i], result.times[i], problem.margin) >= 0) return false;
  set_states(problem, count, result);
  vias_ = count;
  BezierPath& path = paths_[static_cast<std::size_t>(count)];
  const int pieces = path.pieces() / (count + 1);
  for (int k = 0, first = suspect_ <= count ? suspect_ : 0; k <= count; ++k) {
    const int segment = (first + k) % (count + 1);
    connect(problem, count, result, segment);
    if (!problem.obstacles.free(path, problem.margin, segment * pieces, (segment + 1) * pieces)) {
      suspect_ = segment;
      return false;
    }
  }
  for (int i = 0; i < count; ++i) path.breaks[static_cast<std::size_t>((i + 1) * pieces)] = result.times[i];
  result.status = ViaResult::Status::via;
  result.vias = count;
  return true;
}

/// Positions, and times by shares of the polyline's length.
bool ViaSearch::place(const Problem& problem, const Vector3d* points, int count, ViaResult& result) const noexcept {
  const Vector3d start = problem.from.x.head<3>(), goal = problem.to.x.head<3>();
  double lengths[kMaxVias + 1], total = 0.0;
  for (int i = 0; i <= count; ++i)
    total += lengths[i] = ((i < count ? points[i] : goal) - (i > 0 ? points[i - 1] : start)).norm();
  double passed = 0.0;
  for (int i = 0; i <= count; ++i) {
    if (!(lengths[i] >= kLeastShare * total)) return false;
    passed += lengths[i];
    if (i < count) result.times[i] = problem.start + problem.duration * passing_time(passed / total);
  }
  for (int i = 0; i < count; ++i) {
    result.states[i] = BoundaryState(planner_->dimension());
    result.states[i].x.head<3>() = points[i];
  }
  return true;
}

void ViaSearch::measure_progress() noexcept {
  if (settings_.state == ViaSettings::State::paper) return;
  const BezierPath& path = paths_[0];
  double at[2][kMaxDofs];
  path.at(path.start(), 0, at[0]);
  progress_[0] = 0.0;
  for (int k = 1; k <= kSamples; ++k) {
    double *const here = at[k % 2], *const before = at[(k + 1) % 2];
    path.at(path.start() + (path.end() - path.start()) * k / kSamples, 0, here);
    progress_[k] = progress_[k - 1] + (Vector3d(here) - Vector3d(before)).norm();
  }
}

/// Share of the duration.
double ViaSearch::passing_time(double share) const noexcept {
  const double length = progress_[kSamples];
  if (settings_.state == ViaSettings::State::paper || !(length > 0.0)) return share;
  const double* const next = std::upper_bound(progress_ + 1, progress_ + kSamples, share * length);
  const double step = next[0] - next[-1];
  const double within = step > 0.0 ? std::min((share * length - next[-1]) / step, 1.0) : 0.5;
  return (static_cast<double>(next - 1 - progress_) + within) / kSamples;
}

void ViaSearch::set_states(const Problem& problem, int count, ViaResult& result) const noexcept {
  const int d = planner_->dimension();
  const bool optimal = settings_.state == ViaSettings::State::optimal;
  double durations[kMaxVias + 1], at[kMaxDofs], before = problem.start;
  for (int i = 0; i <= count; ++i) {
    const double until = i < count ? result.times[i] : problem.start + problem.duration;
    durations[i] = until - before;
    before = until;
  }
  const DofVector way = problem.to.x - problem.from.x;
  for (int i = 0; i < count; ++i) {
    BoundaryState& via = result.states[i];
    const double share = (result.times[i] - problem.start) / problem.duration;
    if (d > 3 && optimal) paths_[0].at(result.times[i], 0, at);
    for (int k = 3; k < d; ++k) via.x[k] = optimal ? at[k] : problem.from.x[k] + share * way[k];
    via.v = way / problem.duration;
  }
  if (optimal) via_states_->optimize(*planner_, problem.from, result.states, count, problem.to, durations);
}

void ViaSearch::connect(const Problem& problem, int count, const ViaResult& result, int segment) noexcept {
  const bool first = segment == 0, last = segment == count;
  const double begin = first ? problem.start : result.times[segment - 1];
  const double end = last ? problem.start + problem.duration : result.times[segment];
  planner_->connect(first ? problem.from : result.states[segment - 1], last ? problem.to : result.states[segment], begin,
                    end - begin, paths_[static_cast<std::size_t>(count)], segment);
}

void ViaSearch::search_chains(const Problem& problem, ViaResult& result) noexcept {
  if (settings_.most < 2) return;
  chains_.begin(candidates_, problem.from.x.head<3>(), problem.to.x.head<3>(), problem.obstacles, problem.margin);
  for (int count = 2; count <= settings_.most; ++count) {
    chains_.extend();
    for (const ViaChains::Chain& chain : chains_.complete()) {
      Vector3d points[kMaxVias];
      for (int i = 0; i < count; ++i) points[i] = chains_.landmark(chain.nodes[i]);
      if (attempt(problem, points, count, result)) return;
    }
  }
}

bool ViaSearch::through(const BoundaryState& from, const BoundaryState& to, double start, double duration,
                        const Vector3d* points, int count, ViaResult& result) noexcept {
  const ObstacleSet none;
  const Problem problem{from, to, start, duration, none, 0.0};
  planner_->connect(from, to, start, duration, paths_[0], 0);
  measure_progress();
  return attempt(problem, points, count, result);
}

}  // namespace thunder
