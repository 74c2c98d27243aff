#include "thunder/simulation/closed_loop.hpp"

#include <chrono>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>

namespace thunder {

namespace {

constexpr std::chrono::milliseconds kProgressInterval{100};
constexpr long kMostPeriods = 1L << 52;
constexpr double kGibibyte = 1 << 30, kLargestLog = 8.0 * kGibibyte;  // of what a file of a run may hold

Eigen::Index log_rows(const LoopSettings& settings) {
  if (!(settings.dt > 0.0) || !std::isfinite(settings.dt) || settings.steps_per_period < 1 || settings.periods < 0 ||
      settings.periods > kMostPeriods || settings.log_every < 1)
    throw std::invalid_argument("dt, steps_per_period and log_every must be positive, and periods from 0 to 2^52");
  return settings.periods / settings.log_every + 1 + (settings.periods % settings.log_every != 0);
}

}  // namespace

ClosedLoop::ClosedLoop(Plant& plant, ControlStep& control, Integrator& integrator, LoopSettings settings,
                       const Eigen::VectorXd& x0, LoopParts parts)
    : plant_(plant),
      control_(control),
      integrator_(integrator),
      settings_(std::move(settings)),
      parts_(std::move(parts)),
      x_(Eigen::VectorXd::Zero(plant.state_size())),
      tau_(Eigen::VectorXd::Zero(plant.n())),
      applied_(tau_),
      external_(tau_),
      input_(parts_.command != nullptr ? parts_.command->output().data() : tau_.data()),
      recorder_(log_rows(settings_)) {
  check_start(x0);
  if (settings_.torque_limits.size() != 0 && settings_.torque_limits.size() != plant.n())
    throw std::invalid_argument("torque_limits must have " + std::to_string(plant.n()) + " entries or none, got " +
                                std::to_string(settings_.torque_limits.size()));
  x_.head(x0.size()) = x0;
  const int n = plant.n();
  pushed_ = plant.external_torque(x_.data(), external_.data());
  recorder_.add("t", &t_, 1);
  recorder_.add("q", x_.data(), n);
  recorder_.add("dq", x_.data() + n, n);
  recorder_.add("tau", torque(), n);
  recorder_.add("x", x_.data() + 2 * n, plant.motors());
  recorder_.add("dx", x_.data() + 2 * n + plant.motors(), plant.motors());
  log_parts();
}

void ClosedLoop::reserve() {
  const auto rows = static_cast<double>(recorder_.capacity());
  const double row = 8.0 * static_cast<double>(recorder_.width() + 1);  // with the status
  if (rows * row > kLargestLog) {
    const double least = std::ceil(static_cast<double>(settings_.periods) / (std::floor(kLargestLog / row) - 2.0));
    std::ostringstream message;
    message << "log_every must be at least " << std::setprecision(15) << least << " for a log of at most 8 GiB, got "
            << settings_.log_every << ", with which it has " << std::setprecision(3) << rows * row / kGibibyte
            << " GiB; log= leaves signals out, a shorter duration rows";
    throw std::invalid_argument(message.str());
  }
  recorder_.reserve();
  statuses_.reserve(static_cast<std::size_t>(recorder_.capacity()));
}

void ClosedLoop::check_start(const Eigen::VectorXd& x0) const {
  const int size = plant_.state_size() - plant_.actuator_states();
  if (x0.size() != size || !(x0.lpNorm<Eigen::Infinity>() < kStateBound))
    throw std::invalid_argument("the initial state must have " + std::to_string(size) + " entries below 1e8");
}

void ClosedLoop::log_parts() {
  const int n = plant_.n();
  if (parts_.sensors != nullptr) {
    recorder_.add("q_measured", parts_.sensors->q().data(), n);
    recorder_.add("dq_measured", parts_.sensors->dq().data(), n);
    const int measured = static_cast<int>(parts_.sensors->x().size());
    if (measured > 0) {
      recorder_.add("x_measured", parts_.sensors->x().data(), measured);
      recorder_.add("dx_measured", parts_.sensors->dx().data(), measured);
    }
  }
  if (parts_.command != nullptr) recorder_.add("tau_commanded", tau_.data(), n);
  if (pushed_) recorder_.add("external", external_.data(), n);
}

void ClosedLoop::run(const Progress& progress) {
  if (statuses_.capacity() == 0) reserve();
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
  const double *q = x_.data(), *dq = q + plant_.n();
  Motors motors;
  if (plant_.motors() > 0) motors = {dq + plant_.n(), dq + plant_.n() + plant_.motors()};
  if (parts_.sensors != nullptr) {
    parts_.sensors->measure(q, dq, motors);
    q = parts_.sensors->q().data();
    dq = parts_.sensors->dq().data();
    motors = {parts_.sensors->x().data(), parts_.sensors->dx().data()};
  }
  for (ExternalObserver* observer : parts_.observers) observer->step(t, q, dq, torque(), motors);
  status_ = control_(t, q, dq, motors, tau_.data());
  if (parts_.command != nullptr)
    command(dq);
  else
    clip_torque();
}

void ClosedLoop::command(const double* dq) noexcept {
  if (parts_.command->apply(tau_.data(), dq) && status_ == Status::ok) status_ = Status::saturated;
  if (!started_) plant_.start(input_, x_.data());
  started_ = true;
  plant_.torque(x_.data(), input_, applied_.data());
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
    integrator_.step(plant_, start, settings_.dt, input_, x_.data());
  }
}

void ClosedLoop::record() noexcept {
  if (pushed_) {
    plant_.begin_step(t_);  // loads and payloads from t_ on
    plant_.external_torque(x_.data(), external_.data());
  }
  recorder_.record();
  statuses_.push_back(status_);  // within its reserve
}

}  // namespace thunder
