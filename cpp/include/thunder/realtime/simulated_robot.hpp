// An arm that is simulated behind a drive, by a clock: of a thread, of messages, or of a test.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "../simulation/integrators.hpp"
#include "../threads/exclusive.hpp"
#include "drive.hpp"
#include "quantiles.hpp"
#include "safe_torque.hpp"
#include "state_gate.hpp"

namespace thunder::realtime {

/// What a simulated drive does wrong.
enum class DriveFault : int { none, error, silence, invalid_state, no_command, missed_cycles };
inline constexpr int kDriveFaults = 6;

/// A plant behind a drive with a watchdog: a command is valid for the watchdog's time, then the drive applies its safe torque
/// without a spring. Time goes on in whole periods, by `advance` or by `read`.
///
/// As a `Drive`, from `start` to `stop`, it checks commands as real ones do: a step beyond the torque rate, a torque beyond its
/// limit and no command in time are errors of the robot, which stay. Commands from messages are clipped, or refused and counted.
class SimulatedRobot : public Drive, public Exclusive {
 public:
  struct Settings {
    DriveFacts facts;
    Eigen::VectorXd state;               // of the plant at first: q, dq, and x, dx of motors
    std::shared_ptr<const Model> known;  // by the drive: for the safe torque, and the gravity that it adds
    bool compensates_gravity = true;     // whether it adds that to commands
    bool real_time = true;               // else `read` returns the next state at once
    int parts = 1;                       // integration steps in a period
  };

  /// `plant`: the arm, with what it carries and what pushes it; `integrator`: its own, by default Runge-Kutta.
  SimulatedRobot(std::unique_ptr<Plant> plant, Settings settings, std::unique_ptr<Integrator> integrator = nullptr);

  /// From a time after `start` on [s]; any thread may call it.
  void inject(DriveFault fault, double time) noexcept;

  const DriveFacts& facts() const noexcept override { return settings_.facts; }
  bool waits() const noexcept override { return !settings_.real_time; }
  bool start() noexcept override;
  DriveResult read(DriveState& state) noexcept override;
  bool write(const double* tau) noexcept override;
  /// Mechanical brakes: the arm stands.
  bool stop() noexcept override;

  /// Goes on to `now` [ns]; what a blocked machine missed for more than 50 ms, and five periods, is skipped. A clock that was
  /// set back by more than 0.1 s is that of the arm from then on.
  void advance(std::int64_t now) noexcept;
  /// Takes a command from a message, which answers the state of the stamp; else counts and returns the reason.
  std::optional<Dropped> command(std::int64_t stamp, std::int64_t now, const double* tau) noexcept;
  /// Counts a message that is no command, and returns the reason, which may be its stamp.
  Dropped refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept;

  // read these only while no loop uses the drive
  int n() const noexcept { return plant_->n(); }
  int motors() const noexcept { return plant_->motors(); }
  std::int64_t time() const noexcept { return time_; }
  const double* q() const noexcept { return x_.data(); }
  const double* dq() const noexcept { return x_.data() + n(); }
  /// Positions, then velocities.
  const double* motor_state() const noexcept { return x_.data() + 2 * n(); }
  /// On the joints at the time of the state, and whether the safe torque acts for lack of a command.
  const Eigen::VectorXd& torque() const noexcept { return tau_; }
  bool safe() const noexcept { return !valid(); }
  /// The torque that the drive adds to commands, or null.
  const double* gravity() const noexcept { return gravity_model_ ? gravity_.data() : nullptr; }
  bool running() const noexcept { return running_; }
  /// Whether it reported a fault, or the plant ran away.
  bool failed() const noexcept { return failed_; }
  double slipped() const noexcept { return slipped_; }
  /// Largest part of the torque rate that a command used.
  double largest_step() const noexcept { return largest_step_; }
  const StateGate& gate() const noexcept { return gate_; }
  /// Age of commands from the stamp of their state.
  const Quantiles& age() const noexcept { return age_; }
  /// Number of commands that were clipped.
  std::int64_t clipped() const noexcept { return clipped_; }
  void archive(StateArchive& state);

 protected:
  /// Integrates the plant from t over a part of a period; false, and the arm fails, where a plant of another language did.
  virtual bool integrate(Plant& plant, Integrator& integrator, double t, double dt, const double* tau, double* x);

 private:
  DriveFault present_fault() const noexcept;
  bool valid() const noexcept;
  void step() noexcept;
  void moved() noexcept;
  void choose_torque() noexcept;
  void stand() noexcept;

  std::unique_ptr<Plant> plant_;
  Settings settings_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<Evaluator> gravity_model_;  // or null
  SafeTorque brake_;
  StateGate gate_;
  Quantiles age_;
  std::int64_t step_, origin_ = 0, time_ = 0, received_ = 0, clipped_ = 0;  // times in ns
  Eigen::VectorXd x_, before_, command_, gravity_, tau_, invalid_;
  bool has_clock_ = false, has_command_ = false, running_ = false, failed_ = false, chosen_ = false;
  double largest_step_ = 0.0, slipped_ = 0.0;
  std::atomic<double> fault_time_{0.0};
  std::atomic<DriveFault> fault_{DriveFault::none};
};

}  // namespace thunder::realtime
