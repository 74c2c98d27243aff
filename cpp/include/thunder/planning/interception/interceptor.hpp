// Reaching for a moving object: estimates in, reference out, with replanning where the motion would miss.
#pragma once

#include <memory>
#include <vector>

#include "../../kinematics/reference.hpp"
#include "../../estimation/constant_velocity_filter.hpp"
#include "../functional/functional_planner.hpp"
#include "interception.hpp"

namespace thunder {

enum class InterceptionPhase : int { waiting, reaching, closing, leaving, finished, aborted };

/// Reason for no motion, or for its end.
enum class InterceptionReason : int {
  none,
  no_estimate,   // too few measurements so far
  silent,        // no valid estimate for too long: drop-outs, NaN, a frozen source, jumps
  stopped,
  reversed,
  too_fast,      // the object, or the required motion of the hand
  out_of_reach,  // no meeting point in the workspace
  too_late,      // the object is past all of them
};

/// Record of a plan.
struct PlannedArrival {
  double time, arrival;
  Eigen::Vector3d goal, velocity;
  bool fallback;  // Hermite's polynomial in place of the components
};

/// One grasp, from waiting to lifting. `measure` and `advance` never throw and, where degrees of freedom have scores of their
/// own, never allocate. Where a grasp becomes impossible, the hand brakes along its path and stops: `aborted`.
class Interceptor final : public Exclusive {
 public:
  static constexpr std::size_t kMostPlans = 512;  // kept in the history

  /// Start: where the hand waits, three or six coordinates as the planner has them; goal_rotation: rotation vector of the
  /// grasp from the start's orientation R, for planners of poses. Throws std::invalid_argument where these do not fit.
  Interceptor(std::shared_ptr<const FunctionalPlanner> planner, ConstantVelocityFilter filter,
              InterceptionSettings settings, const Eigen::Vector3d& start, const Eigen::Matrix3d& R,
              const Eigen::Vector3d& goal_rotation);

  void reset() noexcept;
  void archive(StateArchive& state);
  /// A position from an image taken at `taken`, available now; takes effect at the last `advance` if that is later.
  FilterUpdate measure(double now, double taken, const Eigen::Vector3d& position) noexcept;
  /// Advances the time, never back; call in every control period, before `at`.
  void advance(double now) noexcept;
  /// The reference at a time since the last `advance`.
  void at(double t, TaskReference& reference) const noexcept;

  InterceptionPhase phase() const noexcept { return phase_; }
  InterceptionReason reason() const noexcept { return reason_; }
  bool frozen(double now) const noexcept { return now >= arrival_ - settings_.freeze; }
  double arrival() const noexcept { return arrival_; }
  const BoundaryState& goal() const noexcept { return goal_; }
  const ConstantVelocityFilter& filter() const noexcept { return filter_; }
  const InterceptionSettings& settings() const noexcept { return settings_; }
  const std::vector<PlannedArrival>& plans() const noexcept { return plans_; }
  const BezierPath& path() const noexcept { return path_.path; }

 private:
  bool target_now(double now, MovingTarget& target) const noexcept;
  InterceptionReason refusal(const MovingTarget& target) const noexcept;
  void consider(double now) noexcept;
  void start(double now, const MovingTarget& target) noexcept;
  InterceptionReason correct(double now, const MovingTarget& target) noexcept;
  void doubt(double now, InterceptionReason reason) noexcept;
  InterceptionReason plan_until(double now, const MovingTarget& target, double arrival) noexcept;
  void make(double now, double arrival) noexcept;
  InterceptionReason check() const noexcept;
  void adopt(double now, double arrival) noexcept;
  void state_at(double t, BoundaryState& state) const noexcept;
  void abort(double now, InterceptionReason reason) noexcept;
  void leave(double now) noexcept;

  std::shared_ptr<const FunctionalPlanner> planner_;
  ConstantVelocityFilter filter_;
  InterceptionSettings settings_;
  BoundaryState rest_, now_, goal_, wanted_;
  DofVector frame_goal_;  // of the first plan: with the start it defines the frame of aligned components
  Eigen::Matrix3d R_;
  Eigen::Vector3d goal_rotation_;
  Resumed path_, candidate_;
  double tau_ = 0.0, stretch_start_ = 0.0, stretch_ = 1.0;  // where the path lies in the components' time
  double candidate_tau_ = 0.0, candidate_stretch_ = 1.0;
  double arrival_ = std::numeric_limits<double>::infinity();
  double clock_ = -std::numeric_limits<double>::infinity();  // of the last `advance`
  double last_valid_ = 0.0;  // time of the last valid estimate
  double invalid_since_ = 0.0;  // time since which the plan cannot be corrected
  InterceptionReason pending_reason_ = InterceptionReason::none;
  double last_update_ = 0.0, frequency_ = 0.0, old_frequency_ = 0.0;
  InterceptionPhase phase_ = InterceptionPhase::waiting;
  InterceptionReason reason_ = InterceptionReason::no_estimate;
  std::vector<PlannedArrival> plans_;
};

/// An interceptor with its future measurements: the whole loop as a reference. Times must not go back, except for
/// evaluating the current plan. It is in use when its interceptor is.
class ScheduledInterception final : public TaskReferenceSource, public Exclusive {
 public:
  struct Measurement {
    double taken, available;
    Eigen::Vector3d position;
  };

  /// Measurements by the time at which they are available.
  ScheduledInterception(std::shared_ptr<Interceptor> interceptor, std::vector<Measurement> measurements)
      : interceptor_(std::move(interceptor)), measurements_(std::move(measurements)) {}
  TaskReference blank() const override { return {}; }
  void advance(double t) noexcept override;
  void at(double t, TaskReference& reference) const noexcept override { interceptor_->at(t, reference); }
  /// Without the interceptor, which has a state of its own.
  void archive(StateArchive& state) {
    state.bounded(next_, 0.0, static_cast<double>(measurements_.size()));
    state(now_);
  }

  const std::shared_ptr<Interceptor>& interceptor() const noexcept { return interceptor_; }

 private:
  const Exclusive& marked() const noexcept override { return *interceptor_; }

  std::shared_ptr<Interceptor> interceptor_;
  std::vector<Measurement> measurements_;
  std::size_t next_ = 0;
  double now_ = -std::numeric_limits<double>::infinity();
};

}  // namespace thunder
