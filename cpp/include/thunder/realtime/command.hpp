// What a control loop answers: modes, reasons, the command for one state.
#pragma once

#include <Eigen/Dense>
#include <cstdint>

#include "../kinematics/status.hpp"

namespace thunder::realtime {

enum class Mode : int {
  waiting,   // no state, or states lost: no torque
  hold,      // the safe torque
  tracking,  // the controller follows a reference
  fault,     // the safe torque until `reset`; no torque while there are no states
};

/// Reason for the mode; texts are those of Python's `Reason`, in the same order.
enum class Reason : int {
  no_state,
  no_reference,
  reference_ended,
  following,
  state_late,
  state_lost,
  clock_set_back,
  singular,
  diverged,
  large_error,
  invalid_states,
  no_motors,
  canceled,
};
inline constexpr int kReasons = 13;

/// Numbers of another object, or none.
struct Span {
  const double* data = nullptr;
  int size = 0;
};

/// Torque for one state. Valid until the next call of the loop.
struct Command {
  std::int64_t stamp = 0;  // of the state that it answers [ns]
  Eigen::VectorXd tau;     // n [N m or N], within limits and rate
  Mode mode = Mode::waiting;
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
