#include "thunder/simulation/closed_loop.hpp"

#include <chrono>
#include <cmath>
#include <stdexcept>

namespace thunder {

namespace {

constexpr std::chrono::milliseconds kProgressInterval{100};

Eigen::Index log_rows(const LoopSettings& settings) {
  return settings.periods / settings.log_every + 1 + (settings.periods % settings.log_every != 0);
}

}  // namespace

ClosedLoop::ClosedLoop(Plant& plant, ControlStep& control, Integrator& integrator, LoopSettings settings,
                       const Eigen::VectorXd& x0)
    : plant_(plant),
      control_(control),
      integrator_(integrator),
      settings_(std::move(settings)),
      x_(x0),
      tau_(Eigen::VectorXd::Zero(plant.n())),
      recorder_(log_rows(settings_)) {
  const int n = plant.n();
  recorder_.add("t", &t_, 1);
  recorder_.add("q", x_.data(), n);
  recorder_.add("dq", x_.data() + n, n);
  recorder_.add("tau", tau_.data(), n);
  recorder_.add("x", x_.data() + 2 * n, plant.motors());
  recorder_.add("dx", x_.data() + 2 * n + plant.motors(), plant.motors());
  statuses_.reserve(log_rows(settings_));
  if (x_.size() != plant.state_size() || !(x_.lpNorm<Eigen::Infinity>() < kStateBound))
    throw std::invalid_argument("the initial state must have " + std::to_string(plant.state_size()) +
                                " entries below 1e8");
}

void ClosedLoop::run(const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  auto next_report = Clock::now() + kProgressInterval;
  const double period = settings_.dt * settings_.steps_per_period;
  for (long k = 0; k <= settings_.periods; ++k) {
    if (!(x_.lpNorm<Eigen::Infinity>() < kStateBound)) {
      statuses_.back() = Status::diverged;
      return;
    }
    const double t = static_cast<double>(k) * period;
    control(t);
    const bool last = k == settings_.periods;
    if (last || k % settings_.log_every == 0) record();
    if (last) break;
    integrate(t);
    if (Clock::now() < next_report) continue;
    if (progress) progress(static_cast<double>(k + 1) / static_cast<double>(settings_.periods));
    next_report = Clock::now() + kProgressInterval;
  }
  if (progress) progress(1.0);
}

void ClosedLoop::control(double t) {
  t_ = t;
  const int n = plant_.n();
  status_ = control_(t, x_.data(), x_.data() + n, tau_.data());
  clip_torque();
}

void ClosedLoop::clip_torque() noexcept {
  for (Eigen::Index i = 0; i < settings_.torque_limits.size(); ++i) {
    const double limit = settings_.torque_limits[i];
    if (!(std::abs(tau_[i]) > limit)) continue;
    tau_[i] = std::copysign(limit, tau_[i]);
    if (status_ == Status::ok) status_ = Status::saturated;
  }
}

void ClosedLoop::integrate(double t) {
  for (int i = 0; i < settings_.steps_per_period; ++i) {
    const double start = t + i * settings_.dt;
    plant_.begin_step(start);
    integrator_.step(plant_, start, settings_.dt, tau_.data(), x_.data());
  }
}

void ClosedLoop::record() noexcept {
  recorder_.record();
  statuses_.push_back(status_);  // within its reserve
}

}  // namespace thunder
