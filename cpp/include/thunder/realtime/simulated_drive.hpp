// A drive whose arm is simulated, with faults to inject.
#pragma once

#include <atomic>
#include <memory>

#include "../kernels/evaluator.hpp"
#include "../simulation/integrators.hpp"
#include "../threads/exclusive.hpp"
#include "drive.hpp"

namespace thunder::realtime {

/// What a simulated drive does wrong.
enum class DriveFault : int { none, error, silence, invalid_state, no_command, missed_cycles };
inline constexpr int kDriveFaults = 6;

/// The package's plant behind a drive that checks commands as real ones do: a step beyond the torque rate, a torque beyond
/// its limit and a late command are errors of the robot, which stay.
class SimulatedDrive final : public Drive, public Exclusive {
 public:
  struct Settings {
    DriveFacts facts;
    Eigen::VectorXd q;                         // where the arm is at first, at rest
    std::shared_ptr<const Model> compensated;  // model of the drive's gravity compensation; null for none
    bool real_time = true;                     // else `read` returns the next state at once
  };

  /// `plant`: the arm, with what it carries and what pushes it.
  SimulatedDrive(std::unique_ptr<Plant> plant, Settings settings);

  /// From a time after `start` on [s]; any thread may call it.
  void inject(DriveFault fault, double time) noexcept;

  const DriveFacts& facts() const noexcept override { return settings_.facts; }
  bool waits() const noexcept override { return !settings_.real_time; }
  bool start() noexcept override;
  DriveResult read(DriveState& state) noexcept override;
  bool write(const double* tau) noexcept override;
  bool stop() noexcept override;

  // read these only while no loop uses the drive
  int n() const noexcept { return plant_->n(); }
  const double* q() const noexcept { return x_.data(); }
  const double* dq() const noexcept { return x_.data() + n(); }
  bool running() const noexcept { return running_; }
  bool failed() const noexcept { return failed_; }
  /// Largest part of the torque rate that a command used.
  double largest_step() const noexcept { return largest_step_; }

 private:
  std::int64_t now() const noexcept;
  DriveFault present_fault() const noexcept;
  bool advance() noexcept;
  void compensate() noexcept;

  std::unique_ptr<Plant> plant_;
  Settings settings_;
  RungeKutta4 integrator_;
  std::unique_ptr<Evaluator> gravity_model_;  // or null
  std::int64_t step_, origin_ = 0, time_ = 0, commanded_ = 0;  // [ns]
  Eigen::VectorXd x_, command_, gravity_, tau_, invalid_;
  bool running_ = false, failed_ = false;
  double largest_step_ = 0.0;
  std::atomic<double> fault_time_{0.0};
  std::atomic<DriveFault> fault_{DriveFault::none};
};

}  // namespace thunder::realtime
