// A plant under sampled control.
#pragma once

#include <functional>
#include <vector>

#include "../control/controller.hpp"
#include "../estimation/external_observer.hpp"
#include "actuators.hpp"
#include "integrators.hpp"
#include "recorder.hpp"
#include "sensors.hpp"

namespace thunder {

/// Control interface, called once per control period.
class ControlStep {
 public:
  virtual ~ControlStep() = default;
  virtual Status operator()(double t, const double* q, const double* dq, const Motors& motors, double* tau) = 0;
};

/// A controller following a reference.
template <class Reference>
class Tracking final : public ControlStep {
 public:
  Tracking(TrackingController<Reference>& controller, ReferenceSource<Reference>& source)
      : controller_(controller), source_(source), reference_(source.blank()) {}

  Status operator()(double t, const double* q, const double* dq, const Motors& motors, double* tau) override {
    source_.advance(t);
    source_.at(t, reference_);
    return controller_.step(t, q, dq, reference_, tau, motors);
  }

 private:
  TrackingController<Reference>& controller_;
  ReferenceSource<Reference>& source_;
  Reference reference_;
};

struct LoopSettings {
  double dt = 1e-3;               // integration step
  int steps_per_period = 1;       // integration steps in a control period
  long periods = 0;               // control periods in the run
  long log_every = 1;             // control periods between log rows
  Eigen::VectorXd torque_limits;  // n, or empty for none; where there is a command path, the limits are its own
};

/// Optional components between plant and controller; null for none.
struct LoopParts {
  Sensors* sensors = nullptr;
  CommandPath* command = nullptr;
  std::vector<ExternalObserver*> observers{};  // see the measured state and the torque as applied
};

class ClosedLoop {
 public:
  /// A state beyond this (SI units) has diverged: far from any arm, and not yet where arithmetic ends.
  static constexpr double kStateBound = 1e8;

  /// Called about every 100 ms with the part done; may throw to end the run.
  using Progress = std::function<void(double)>;

  /// `x0` has an entry for each state but the drives'. Logs t, q, dq, tau (as applied), x and dx of motors, and status;
  /// q_measured and dq_measured (x_measured and dx_measured of motors) where there are sensors, tau_commanded where there is a command path, external where the
  /// plant can be pushed; `log` adds to them.
  ClosedLoop(Plant& plant, ControlStep& control, Integrator& integrator, LoopSettings settings,
             const Eigen::VectorXd& x0, LoopParts parts = {});
  void log(const Signal& signal) { recorder_.add(signal.name, signal.data, signal.size()); }

  /// Makes the storage of the log, or throws where it would be larger than 8 GiB; `run` does so unless it is made.
  void reserve();
  /// Runs to the end, or until the state leaves its bound: then the last status logged is `diverged`.
  void run(const Progress& progress);
  Recorder& recorder() noexcept { return recorder_; }
  /// One for each row of the recorder.
  const std::vector<Status>& statuses() const noexcept { return statuses_; }

 private:
  void check_start(const Eigen::VectorXd& x0) const;
  void log_parts();
  void control(double t);
  const double* torque() const noexcept { return parts_.command != nullptr ? applied_.data() : tau_.data(); }
  void command(const double* dq) noexcept;
  void clip_torque() noexcept;
  void record() noexcept;
  void integrate(double t);

  Plant& plant_;
  ControlStep& control_;
  Integrator& integrator_;
  LoopSettings settings_;
  LoopParts parts_;
  Eigen::VectorXd x_;
  Eigen::VectorXd tau_;      // the controller's, clipped; with a command path as requested
  Eigen::VectorXd applied_;  // at the joints, with a command path
  Eigen::VectorXd external_;
  const double* input_;  // of the plant
  bool pushed_ = false, started_ = false;
  double t_ = 0.0;
  Status status_ = Status::ok;
  Recorder recorder_;
  std::vector<Status> statuses_;
};

}  // namespace thunder
