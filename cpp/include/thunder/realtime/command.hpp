// What a control loop answers: modes, reasons, the command for one state.
#pragma once

#include <Eigen/Dense>
#include <cstdint>

#include "../kinematics/status.hpp"

namespace thunder::realtime {

/// States of the loop; docs/architecture.md has the transitions.
enum class Mode : int {
  starting,  // no state yet, or states lost: no torque
  tracking,  // the controller follows a reference
  holding,   // the safe torque of an arm at rest
  braking,   // the safe torque of an arm that moves
  stopped,   // the run is over: the drive is to be stopped
  fault,     // the safe torque until `reset`; no torque while there are no states
};

/// Reason for the mode, and for a stop; texts are those of Python's `Reason`, in the same order.
enum class Reason : int {
  no_state,
  no_reference,
  reference_ended,
  following,
  state_late,
  states_lost,
  clock_set_back,
  no_motors,
  canceled,
  no_solution,
  diverged,
  large_error,
  invalid_states,
  wrong_velocities,
  repeated_holds,
  finished,
  requested,
  interrupted,
  position,
  velocity,
  workspace,
  contact,
  torque,
  torque_rate,
  invalid_torque,
  controller_failed,
  missed_cycles,
  watchdog,
  drive_fault,
  none,
};
inline constexpr int kReasons = static_cast<int>(Reason::none);

/// A run on a drive goes on: the arm is held until there is a reference again.
constexpr bool goes_on(Reason why) noexcept { return why <= Reason::state_late || why == Reason::canceled; }
/// The drive is stopped at once, because the loop has no state to brake with or no command reaches it; else the arm is braked to
/// rest.
constexpr bool immediate(Reason why) noexcept {
  return why == Reason::states_lost || why == Reason::invalid_states || why == Reason::wrong_velocities ||
         why == Reason::watchdog || why == Reason::drive_fault;
}
/// Reasons for a stop that are no fault.
constexpr bool expected(Reason why) noexcept { return why == Reason::finished || why == Reason::requested; }
/// What the controller has learned may be wrong.
constexpr bool unsound(Reason why) noexcept {
  return why == Reason::diverged || why == Reason::large_error || why == Reason::invalid_torque ||
         why == Reason::controller_failed;
}

/// Numbers of another object, or none.
struct Span {
  const double* data = nullptr;
  int size = 0;
};

/// Torque for one state. Valid until the next call of the loop.
struct Command {
  std::int64_t stamp = 0;  // of the state that it answers [ns]
  Eigen::VectorXd tau;     // n [N m or N], within limits and rate
  Mode mode = Mode::starting;
  Reason reason = Reason::no_state;
  Status status = Status::ok;  // of the controller's last step
  Span error;                  // the controller's, desired minus actual; empty unless it follows a reference
  Span parameters;             // the controller's estimate, or empty
  Span external;               // estimate of the external torque, or empty without an observer
  bool contact = false;        // of any joint, by the observer's detector
  double period = 0.0;         // between the receptions of this state and the one before [s]
  double latency = 0.0;        // from the state's stamp to the command [s]
  double computing = 0.0;      // part of it spent in the loop [s]
};

}  // namespace thunder::realtime
