// Between a torque command and the torque at a joint: delay, limits, and drives that need time.
#pragma once

#include "delay_line.hpp"
#include "plant.hpp"

namespace thunder {

struct CommandSettings {
  long delay = 0;                 // control periods
  double period = 1e-3;           // control period
  Eigen::VectorXd torque_limits;  // n, or empty for none
  Eigen::VectorXd rate_limits;    // n, torque per second, or empty for none
  Eigen::VectorXd feedforward;    // n, back-EMF damping that the drive makes up for, or empty
  Eigen::VectorXd stall;          // n, torque that full voltage gives at rest, or empty
};

/// Processing of a command once in each control period: delay, torque limit, rate limit; then, in the units of a
/// motor's voltage, what makes up for its back-EMF, and the limit of the supply.
class CommandPath {
 public:
  CommandPath(int n, CommandSettings settings)
      : settings_(std::move(settings)),
        line_(n, settings_.delay),
        asked_(Eigen::VectorXd::Zero(n)),
        dq_(asked_),
        last_(asked_),
        voltage_(asked_) {}

  /// `torque` is the controller's, `dq` its measured velocity. A NaN is replaced by the previous value, initially
  /// zero. True if anything was clipped, or a torque was NaN.
  bool apply(const double* torque, const double* dq) noexcept;
  /// Command of the actuators, as the equivalent torque at rest.
  const Eigen::VectorXd& output() const noexcept { return voltage_; }

 private:
  CommandSettings settings_;
  DelayLine line_;
  Eigen::VectorXd asked_, dq_;  // the last ones that were numbers
  Eigen::VectorXd last_, voltage_;
  bool started_ = false;
};

/// Drives with T >= 0, z = u - d v where T is 0: a torque that lags (d = 0), or a DC motor: u = (r k_t / R) voltage,
/// d = r^2 k_t k_b / R, T = L / R. Their torques drive another plant.
class ActuatedPlant final : public Plant {
 public:
  ActuatedPlant(std::unique_ptr<Plant> driven, Drives drives);

  int n() const override { return driven_->n(); }
  int actuator_states() const override { return static_cast<int>(lagging_.size()); }
  void begin_step(double t) override { driven_->begin_step(t); }
  void inertia(const double* q, const double* dq, double* M, double* M_dot) override {
    driven_->inertia(q, dq, M, M_dot);
  }
  bool has_inertia() const noexcept override { return driven_->has_inertia(); }
  bool has_friction() const noexcept override { return driven_->has_friction(); }
  const JointFriction* joint_friction() const noexcept override { return driven_->joint_friction(); }
  Spring spring(int motor, double deflection, double rate) const noexcept override {
    return driven_->spring(motor, deflection, rate);
  }
  const Drives* drives() const noexcept override { return &drives_; }
  void friction(const double* w, double* torque, double* slope) const noexcept override {
    driven_->friction(w, torque, slope);
  }
  void friction_slope(const double* slow, const double* fast, double* slope) const noexcept override {
    driven_->friction_slope(slow, fast, slope);
  }
  void velocity_inertia(const double* x, Eigen::MatrixXd& M) override { driven_->velocity_inertia(x, M); }
  void start(const double* u, double* x) noexcept override;
  void torque(const double* x, const double* u, double* tau) const noexcept override;
  bool external_torque(const double* q, double* tau) noexcept override { return driven_->external_torque(q, tau); }
  void derivative(double t, const double* x, const double* u, double* x_dot) override;

 private:
  std::unique_ptr<Plant> driven_;
  std::vector<int> lagging_;  // joints with a state
  Drives drives_;
  Eigen::VectorXd inverse_T_, tau_;
};

}  // namespace thunder
