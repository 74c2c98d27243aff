#include "thunder/realtime/drive_control.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "thunder/math/dense.hpp"

namespace thunder::realtime {

namespace {

/// Speed of an arm at rest [rad/s or m/s], time for which it is held there, and longest time of braking [s].
constexpr double kStandstill = 0.05, kHeld = 0.1, kLongestStop = 2.0;
/// Age of states is not looked at here: they come from the drive.
constexpr double kOldest = 1.0;

/// The stop for a mode of the loop that no longer follows its reference; none where it goes on.
StopReason stop_for(const Command& command) noexcept {
  if (command.mode == Mode::fault) {
    if (command.reason == Reason::diverged) return StopReason::diverged;
    return command.reason == Reason::invalid_states ? StopReason::invalid_states : StopReason::states_lost;
  }
  return command.mode == Mode::hold && command.reason == Reason::singular ? StopReason::no_solution : StopReason::none;
}

}  // namespace

DriveControl::DriveControl(std::shared_ptr<ControlLoop> loop, std::shared_ptr<Safety> safety,
                           std::shared_ptr<SafeTorque> brake, const DriveFacts& facts, Settings settings)
    : loop_(std::move(loop)),
      safety_(std::move(safety)),
      brake_(std::move(brake)),
      period_s_(facts.period),
      watchdog_(facts.watchdog),
      settings_(settings),
      gate_(kOldest),
      known_(brake_->model()),
      demand_(Eigen::VectorXd::Zero(safety_->n())) {
  if (loop_->n() != n() || brake_->n() != n()) throw std::invalid_argument("loop, limits and brake must be those of one arm");
  if (!same_joints(joint_axes(brake_->model()), loop_->axes()))
    throw std::invalid_argument("law must be a controller of the robot that it moves: other joints are at other places");
}

std::vector<Exclusive::Use> DriveControl::use() const {
  std::vector<Exclusive::Use> uses;
  for (const Exclusive* part : {static_cast<const Exclusive*>(loop_.get()), static_cast<const Exclusive*>(safety_.get()),
                                static_cast<const Exclusive*>(brake_.get())})
    uses.emplace_back(*part);
  if (safety_->observer()) uses.emplace_back(*safety_->observer());
  return uses;
}

void DriveControl::request(StopReason reason) noexcept {
  StopReason before = StopReason::none;
  if (requested_.compare_exchange_strong(before, reason) || reason != StopReason::interrupted) return;
  if (before == StopReason::interrupted)
    at_once_.store(true);
  else
    requested_.store(StopReason::interrupted);
}

/// Only an expected reason is replaced by a later one.
void DriveControl::leave(StopReason reason, bool at_once) noexcept {
  if (!braking_) {
    report_.reason = reason;
    braking_ = true;
    braking_since_ = at_rest_since_ = report_.t;
  } else if (expected(report_.reason) && !expected(reason)) {
    report_.reason = reason;
  }
  if (at_once || immediate(reason)) report_.at_once = ended_ = true;
}

void DriveControl::miss() noexcept {
  if (++without_state_ > settings_.most_missed)
    leave(gate_.invalid_in_a_row() > 0 ? StopReason::invalid_states : StopReason::states_lost);
  const bool at_once = at_once_.load();  // before the reason, which is set first
  const StopReason requested = requested_.load();
  // without any state nothing can be braked
  if (requested != StopReason::none && (report_.cycles == 0 || at_once)) leave(requested, true);
}

const double* DriveControl::answer(const DriveState& state) noexcept {
  if (ended_ || !take(state)) return nullptr;
  look(state);
  if (ended_) return nullptr;
  if (!braking_) step_loop(state);
  if (ended_) return nullptr;
  if (braking_) brake_->step(report_.t, state.q, state.dq, {}, demand_.data(), loop_->load(state.q, known_));
  const Eigen::VectorXd& command = safety_->limit(report_.t, demand_.data(), state.gravity, clipped_ && !braking_, braking_);
  if (safety_->reason() != StopReason::none) leave(safety_->reason());
  ++report_.cycles;
  if (braking_) end_braking(state.dq);
  return command.data();
}

/// True for a valid state.
bool DriveControl::take(const DriveState& state) noexcept {
  if (!gate_.take(state.stamp, state.stamp, {{state.q, n()}, {state.dq, n()}})) {
    miss();
    return false;
  }
  without_state_ = 0;
  count(state.stamp);
  if (state.gravity != nullptr && !all_finite(state.gravity, static_cast<std::size_t>(n()))) leave(StopReason::invalid_states);
  return !ended_;
}

/// Counts the cycles that were missed before a state.
void DriveControl::count(std::int64_t stamp) noexcept {
  if (!started_) origin_ = last_ = stamp;
  started_ = true;
  const double gap = seconds(stamp - last_);
  last_ = stamp;
  report_.t = seconds(stamp - origin_);
  if (gap == 0.0) return;
  period_.add(gap);
  const std::int64_t missed = std::max<std::int64_t>(std::llround(gap / period_s_) - 1, 0);
  report_.missed += missed;
  report_.worst_missed = std::max(report_.worst_missed, missed);
  if (gap > watchdog_)
    leave(StopReason::watchdog);
  else if (missed > settings_.most_missed)
    leave(StopReason::missed_cycles);
}

/// Looks for reasons to stop.
void DriveControl::look(const DriveState& state) noexcept {
  const StopReason found = safety_->check(report_.t, state.q, state.dq);
  const bool at_once = at_once_.load();  // before the reason, which is set first
  const StopReason requested = requested_.load();
  if (at_once)
    leave(requested, true);
  else if (found != StopReason::none)
    leave(found, report_.cycles == 0);
  else if (requested != StopReason::none)
    leave(requested);
  else if (report_.t >= settings_.duration)
    leave(StopReason::finished);
}

void DriveControl::step_loop(const DriveState& state) noexcept {
  const Command* const command = loop_->state(state.stamp, state.stamp, state.q, state.dq);
  if (command == nullptr) return leave(StopReason::invalid_states);
  demand_ = command->tau;
  clipped_ = command->mode == Mode::tracking && command->status == Status::saturated;  // by the law, to the loop's limits
  if (const StopReason reason = stop_for(*command); reason != StopReason::none) leave(reason);
}

/// Ends the run once the arm has been at rest for a while, or the longest time of braking is over.
void DriveControl::end_braking(const double* dq) noexcept {
  if (Eigen::Map<const Eigen::VectorXd>(dq, n()).cwiseAbs().maxCoeff() > kStandstill) at_rest_since_ = report_.t;
  report_.at_rest = report_.t - at_rest_since_ >= kHeld;
  if (report_.at_rest || report_.t - braking_since_ > kLongestStop) ended_ = true;
}

}  // namespace thunder::realtime
