#include "thunder/simulation/actuators.hpp"

namespace thunder {

namespace {

/// Brings `value` within plus and minus the limits, NaN to zero; true if it was outside.
bool clip(const Eigen::VectorXd& limits, Eigen::VectorXd& value) noexcept {
  bool clipped = false;
  for (Eigen::Index i = 0; i < limits.size(); ++i) {
    if (std::abs(value[i]) <= limits[i]) continue;
    value[i] = std::isnan(value[i]) ? 0.0 : std::copysign(limits[i], value[i]);
    clipped = true;
  }
  return clipped;
}

/// Copies the entries that are not NaN; true if there were NaN entries.
bool hold_nan(const double* values, Eigen::VectorXd& kept) noexcept {
  bool held = false;
  for (Eigen::Index i = 0; i < kept.size(); ++i) {
    if (std::isnan(values[i]))
      held = true;
    else
      kept[i] = values[i];
  }
  return held;
}

}  // namespace

bool CommandPath::apply(const double* torque, const double* dq) noexcept {
  hold_nan(dq, dq_);
  bool clipped = hold_nan(torque, asked_);
  voltage_ = asked_;
  line_.exchange(voltage_.data());
  clipped |= clip(settings_.torque_limits, voltage_);
  for (Eigen::Index i = 0; started_ && i < settings_.rate_limits.size(); ++i) {
    const double step = settings_.rate_limits[i] * settings_.period;
    if (!(std::abs(voltage_[i] - last_[i]) > step)) continue;
    voltage_[i] = last_[i] + std::copysign(step, voltage_[i] - last_[i]);
    clipped = true;
  }
  started_ = true;
  last_ = voltage_;
  for (Eigen::Index i = 0; i < settings_.feedforward.size(); ++i) voltage_[i] += settings_.feedforward[i] * dq_[i];
  return clip(settings_.stall, voltage_) || clipped;
}

ActuatedPlant::ActuatedPlant(std::unique_ptr<Plant> driven, Drives drives)
    : Plant(driven->motor_joints()),
      driven_(std::move(driven)),
      drives_(std::move(drives)),
      tau_(Eigen::VectorXd::Zero(drives_.d.size())) {
  for (Eigen::Index i = 0; i < drives_.T.size(); ++i)
    if (drives_.T[i] > 0.0) lagging_.push_back(static_cast<int>(i));
  inverse_T_ = Eigen::VectorXd(actuator_states());
  for (int k = 0; k < actuator_states(); ++k) inverse_T_[k] = 1.0 / drives_.T[lagging_[k]];
}

void ActuatedPlant::start(const double* u, double* x) noexcept {
  for (int k = 0; k < actuator_states(); ++k) {
    const int i = lagging_[k];
    x[2 * (n() + motors()) + k] = u[i] - drives_.d[i] * x[drive_velocity(i)];
  }
}

void ActuatedPlant::torque(const double* x, const double* u, double* tau) const noexcept {
  for (int i = 0; i < n(); ++i) tau[i] = u[i] - drives_.d[i] * x[drive_velocity(i)];
  for (int k = 0; k < actuator_states(); ++k) tau[lagging_[k]] = x[2 * (n() + motors()) + k];
}

void ActuatedPlant::derivative(double t, const double* x, const double* u, double* x_dot) {
  torque(x, u, tau_.data());
  driven_->derivative(t, x, tau_.data(), x_dot);
  const int first = 2 * (n() + motors());
  for (int k = 0; k < actuator_states(); ++k) {
    const int i = lagging_[k];
    x_dot[first + k] = (u[i] - drives_.d[i] * x[drive_velocity(i)] - x[first + k]) * inverse_T_[k];
  }
}

}  // namespace thunder
