// Interface between a loop in C++ and the drive of an arm by torques, in SI units and in the robot's order of joints.
#pragma once

#include <Eigen/Dense>
#include <cstdint>

namespace thunder::realtime {

struct DriveFacts {
  double period;                              // between two states [s]
  double cycle;                               // of the drive's own control, for which it checks `torque_rate` [s]
  double watchdog;                            // without a command after which it stops [s]; infinite for none
  Eigen::VectorXd torque_limits, torque_rate;  // n, positive
  Eigen::VectorXd torque_step() const { return cycle * torque_rate; }
};

struct DriveState {
  std::int64_t stamp = 0;  // of the measurement, on the drive's clock [ns]
  const double *q = nullptr, *dq = nullptr;
  const double* gravity = nullptr;  // torque that the drive adds to every command; null where it adds none
};

enum class DriveResult { ok, nothing, fault };

/// A drive converts units, and nothing else: it does not limit, filter or compensate. After `start` all calls come from one
/// thread, and none may throw or allocate. Nothing recovers from an error of the robot, which is a decision of its user.
class Drive {
 public:
  virtual ~Drive() = default;
  virtual const DriveFacts& facts() const noexcept = 0;
  /// True if `read` waits for the next state; otherwise the loop calls it once in each period.
  virtual bool waits() const noexcept = 0;
  /// Begins torque control with the command zero; false for a fault.
  virtual bool start() noexcept = 0;
  /// The next state, whose arrays are valid until the next call; `nothing` where there is no new one.
  virtual DriveResult read(DriveState& state) noexcept = 0;
  /// Commands torques without the drive's own gravity compensation; false for a fault.
  virtual bool write(const double* tau) noexcept = 0;
  /// Stops the drive at once by its own means, and returns whether it did; a second call does nothing.
  virtual bool stop() noexcept = 0;
};

}  // namespace thunder::realtime
