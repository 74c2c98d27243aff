// A control loop on a drive, one cycle at a time: limits, and defined stops. It has no thread: a library that calls back, such
// as libfranka or ros_control, calls `answer` from its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "control_loop.hpp"
#include "drive.hpp"
#include "safety.hpp"

namespace thunder::realtime {

/// Outcome of a run so far.
struct RunReport {
  StopReason reason = StopReason::none;  // for the present or past stop
  bool at_once = false;                  // the drive is stopped without braking
  bool at_rest = false;                  // the arm was at rest in the end
  double t = 0.0;                        // time of the last state since the first one [s]
  std::int64_t cycles = 0, missed = 0, worst_missed = 0;
};

/// The command is the loop's torque without what the drive adds, within all limits. A reason to stop replaces the loop by the
/// safe torque until the arm is at rest, for at most 2 s, or ends the run at once. No fault is recovered from.
class DriveControl {
 public:
  struct Settings {
    double duration = std::numeric_limits<double>::infinity();  // from the first state to the stop [s]
    int most_missed = 10;                                      // cycles in a row without a valid state
  };

  /// The parts are this object's alone; `brake` has the model of the arm with the payload that the drive was told.
  DriveControl(std::shared_ptr<ControlLoop> loop, std::shared_ptr<Safety> safety, std::shared_ptr<SafeTorque> brake,
               const DriveFacts& facts, Settings settings);
  DriveControl(const DriveControl&) = delete;
  DriveControl& operator=(const DriveControl&) = delete;

  /// The command for a state, n values; null where there is none, or where the run has ended.
  const double* answer(const DriveState& state) noexcept;
  /// There was no new state where one was due.
  void miss() noexcept;
  /// The drive reported a fault.
  void fail() noexcept { leave(StopReason::drive_fault); }
  /// Any thread may ask for a stop: the arm is braked. A second one of `interrupted` stops the drive at once.
  void request(StopReason reason) noexcept;
  /// The drive is to be stopped now.
  bool ended() const noexcept { return ended_; }

  int n() const noexcept { return safety_->n(); }
  const RunReport& report() const noexcept { return report_; }
  ControlLoop& loop() noexcept { return *loop_; }
  /// Marks all parts but the law as in use by this thread; throws `ConcurrentUse` where another one uses them.
  std::vector<Exclusive::Use> use() const;
  /// The torque that the loop, or the brake, demanded last, n values.
  const double* demand() const noexcept { return demand_.data(); }
  const Quantiles& period() const noexcept { return period_; }

 private:
  bool take(const DriveState& state) noexcept;
  void count(std::int64_t stamp) noexcept;
  void look(const DriveState& state) noexcept;
  void step_loop(const DriveState& state) noexcept;
  void end_braking(const double* dq) noexcept;
  void leave(StopReason reason, bool at_once = false) noexcept;

  std::shared_ptr<ControlLoop> loop_;
  std::shared_ptr<Safety> safety_;
  std::shared_ptr<SafeTorque> brake_;
  double period_s_, watchdog_;
  Settings settings_;
  StateGate gate_;
  Evaluator known_;  // of the brake's model
  RunReport report_;
  Quantiles period_;
  Eigen::VectorXd demand_;
  std::atomic<StopReason> requested_{StopReason::none};
  std::atomic<bool> at_once_{false};
  bool started_ = false, braking_ = false, ended_ = false, clipped_ = false;
  int without_state_ = 0;
  std::int64_t origin_ = 0, last_ = 0;
  double braking_since_ = 0.0, at_rest_since_ = 0.0;
};

}  // namespace thunder::realtime
