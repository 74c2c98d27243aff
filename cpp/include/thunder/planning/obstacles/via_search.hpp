// A path around obstacles through via points (D4.2, section 5.1.2), each with a via state.
#pragma once

#include <memory>
#include <vector>

#include "clearance.hpp"
#include "../functional/functional_planner.hpp"
#include "../../threads/exclusive.hpp"
#include "../../threads/parallel_for.hpp"
#include "via_candidates.hpp"
#include "via_chains.hpp"

namespace thunder {

struct ViaSettings {
  enum class State {
    paper,   // mean velocity from start to goal, no acceleration; at the share of the polyline in the duration
    optimal  // minimizes the integral of squared jerk of the whole path; when the path without via points has
             // covered that share of its own length
  };
  ViaCandidates::Method method = ViaCandidates::Method::ellipsoid;
  int count = 1000;  // candidates
  std::uint64_t seed = 0;
  double half_width = 0.6;  // of the candidates' region [m]
  State state = State::optimal;
  int most = 2;        // via points at most
  bool direct = true;  // try the path without via points first
};

struct ViaResult {
  enum class Status {
    direct,         // free without via points
    via,            // free through `vias` points
    none,           // no candidate gives a free path
    start_blocked,  // nearer to `obstacle` than the margin
    goal_blocked    // when the goal should be reached
  };
  bool free() const noexcept { return status == Status::direct || status == Status::via; }

  Status status = Status::none;
  int obstacle = -1, vias = 0;
  int evaluated = 0;            // candidates evaluated
  BoundaryState states[kMaxVias];
  double times[kMaxVias] = {};  // of passage [s]
};

/// From one state to another among obstacles given at their positions at time 0; the path begins at `start`.
struct ViaProblem {
  BoundaryState from, to;
  double start, duration;
  const ObstacleSet* obstacles;
  double margin;
};

/// A result with its path, the last attempt where it is not free, and the clearance of a free one.
struct ViaSolution {
  ViaResult result;
  BezierPath path;
  Clearance clearance;
};

class ViaStates;

/// The first candidate in the order of polyline length whose path, with the via state chosen, is proved free: among all
/// candidates it is the feasible one with the shortest polyline. With the optimal state a point next to the path without
/// via points, passed in its time, changes that path little; at a time of its own it would make it swing out and back.
/// Degrees of freedom beyond the position pass the via point as the path without via points does at that time; with the
/// state of the paper, on the straight line between their ends.
///
/// Where no single point suffices, chains of two, then up to `most`, are tried (see `ViaChains`). Every path returned is
/// proved free.
///
/// Scratch memory is kept between searches: use one copy per thread.
class ViaSearch final : public Exclusive {
 public:
  /// Throws std::invalid_argument for a planner of less than three dimensions, on no candidate and on `most` out of range.
  ViaSearch(std::shared_ptr<const FunctionalPlanner> planner, const ViaSettings& settings);

  const FunctionalPlanner& planner() const noexcept { return *planner_; }
  const ViaSettings& settings() const noexcept { return settings_; }
  const ViaCandidates& candidates() const noexcept { return candidates_; }

  /// Does not allocate. Moving obstacles are given at their positions at time 0, the path begins at `start`.
  ViaResult plan(const BoundaryState& from, const BoundaryState& to, double start, double duration,
                 const ObstacleSet& obstacles, double margin) noexcept;
  /// `plan` with path and clearance.
  ViaSolution solve(const ViaProblem& problem);
  /// Every problem as `solve` does it, on copies of this search; `threads` 0 is one per core.
  std::vector<ViaSolution> solve_all(const std::vector<ViaProblem>& problems, int threads,
                                     const Interruption& interrupted = {}) const;
  /// The path of the last search, or attempt; valid if the result is free.
  const BezierPath& path() const noexcept { return paths_[static_cast<std::size_t>(vias_)]; }

  /// Plans through these points, `most` at most, ignoring obstacles: fills `result` and path(). False where two follow
  /// each other in less than a thousandth of the duration.
  bool through(const BoundaryState& from, const BoundaryState& to, double start, double duration,
               const Eigen::Vector3d* points, int count, ViaResult& result) noexcept;

 private:
  struct Problem {
    const BoundaryState &from, &to;
    double start, duration;
    const ObstacleSet& obstacles;
    double margin;
  };

  bool attempt(const Problem& problem, const Eigen::Vector3d* points, int count, ViaResult& result) noexcept;
  bool place(const Problem& problem, const Eigen::Vector3d* points, int count, ViaResult& result) const noexcept;
  void set_states(const Problem& problem, int count, ViaResult& result) const noexcept;
  void connect(const Problem& problem, int count, const ViaResult& result, int segment) noexcept;
  void measure_progress() noexcept;
  double passing_time(double share) const noexcept;
  void search_chains(const Problem& problem, ViaResult& result) noexcept;

  std::shared_ptr<const FunctionalPlanner> planner_;
  ViaSettings settings_;
  ViaCandidates candidates_;
  std::shared_ptr<const ViaStates> via_states_;
  ViaChains chains_;
  std::vector<BezierPath> paths_;  // without via points, with one, ...
  int vias_ = 0, suspect_ = 0;  // suspect_: the segment that collided last
  static constexpr int kSamples = 32;
  double progress_[kSamples + 1] = {};  // length of the path without via points, at even times
};

}  // namespace thunder
