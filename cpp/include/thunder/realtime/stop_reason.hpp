// Reasons for which a loop stops an arm, and what it does then.
#pragma once

namespace thunder::realtime {

/// In the order of `thunder_py.realtime.StopReason`.
enum class StopReason {
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
  diverged,
  no_solution,
  controller_failed,
  missed_cycles,
  states_lost,
  invalid_states,
  watchdog,
  drive_fault,
  none,  // goes on
};

/// The drive is stopped at once, because the loop has no state or no command reaches it; else the arm is braked to rest.
constexpr bool immediate(StopReason reason) noexcept {
  return reason == StopReason::states_lost || reason == StopReason::invalid_states || reason == StopReason::watchdog ||
         reason == StopReason::drive_fault;
}

/// Reasons that are no fault.
constexpr bool expected(StopReason reason) noexcept {
  return reason == StopReason::finished || reason == StopReason::requested;
}

}  // namespace thunder::realtime
