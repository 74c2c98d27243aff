#include "thunder/realtime/simulated_drive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "thunder/realtime/clock.hpp"

namespace thunder::realtime {

namespace {

/// Longest time [ns], and least number of periods, integrated in one call: a machine that was blocked for longer lost the states.
constexpr std::int64_t kLongestCatchUp = 50'000'000, kPeriodsOfCatchUp = 5;
/// Largest speed of an arm [rad/s or m/s]; beyond it the plant stops.
constexpr double kFastest = 1e3;
/// Rounding of a torque step that uses its limit.
constexpr double kRounding = 1e-9;
/// Periods for which `missed_cycles` blocks the loop.
constexpr int kBlocked = 20;

}  // namespace

SimulatedDrive::SimulatedDrive(std::unique_ptr<Plant> plant, Settings settings)
    : plant_(std::move(plant)),
      settings_(std::move(settings)),
      integrator_(*plant_),
      step_(std::llround(1e9 * settings_.facts.period)),
      x_(Eigen::VectorXd::Zero(plant_->state_size())) {
  const DriveFacts& facts = settings_.facts;
  for (const Eigen::Index size : {settings_.q.size(), facts.torque_limits.size(), facts.torque_rate.size()})
    if (size != n())
      throw std::invalid_argument("the drive's vectors must have " + std::to_string(n()) + " entries, got " +
                                  std::to_string(size));
  if (plant_->motors() > 0 || plant_->actuator_states() > 0)
    throw std::invalid_argument("the plant of a simulated drive must be a rigid arm");
  if (settings_.compensated) gravity_model_ = std::make_unique<Evaluator>(settings_.compensated);
  x_.head(n()) = settings_.q;
  command_ = gravity_ = tau_ = Eigen::VectorXd::Zero(n());
  invalid_ = Eigen::VectorXd::Constant(n(), std::numeric_limits<double>::quiet_NaN());
}

void SimulatedDrive::inject(DriveFault fault, double time) noexcept {
  fault_time_.store(time);
  fault_.store(fault);
}

DriveFault SimulatedDrive::present_fault() const noexcept {
  const DriveFault fault = fault_.load();
  return 1e-9 * static_cast<double>(time_ - origin_) >= fault_time_.load() ? fault : DriveFault::none;
}

std::int64_t SimulatedDrive::now() const noexcept { return settings_.real_time ? monotonic_now() : time_ + step_; }

bool SimulatedDrive::start() noexcept {
  if (failed_) return false;
  if (!settings_.real_time && time_ == 0) time_ = 1'000'000'000;
  origin_ = time_ = settings_.real_time ? monotonic_now() : time_;
  commanded_ = time_;
  command_.setZero();
  compensate();
  running_ = true;
  return true;
}

void SimulatedDrive::compensate() noexcept {
  if (gravity_model_) gravity_model_->gravity_vector(x_.data(), gravity_.data());
}

DriveResult SimulatedDrive::read(DriveState& state) noexcept {
  if (!running_ || failed_) return DriveResult::fault;
  const DriveFault fault = present_fault();
  if (fault == DriveFault::error) failed_ = true;
  if (fault == DriveFault::missed_cycles) {
    fault_.store(DriveFault::none);
    if (settings_.real_time) sleep_until(monotonic_now() + kBlocked * step_);
    for (int k = 1; k < kBlocked && !settings_.real_time; ++k) advance();
  }
  if (!settings_.real_time && !advance()) return DriveResult::fault;
  const std::int64_t present = now();
  if (present - time_ > std::max(kLongestCatchUp, kPeriodsOfCatchUp * step_)) failed_ = true;
  while (settings_.real_time && !failed_ && time_ + step_ <= present) advance();
  if (failed_) return DriveResult::fault;
  if (fault == DriveFault::silence) return DriveResult::nothing;
  const double* const q = fault == DriveFault::invalid_state ? invalid_.data() : x_.data();
  state = {time_, q, dq(), gravity_model_ ? gravity_.data() : nullptr};
  return DriveResult::ok;
}

/// Integrates one period with the last command.
bool SimulatedDrive::advance() noexcept {
  const double t = 1e-9 * static_cast<double>(time_ - origin_);
  if (1e-9 * static_cast<double>(time_ - commanded_) > settings_.facts.watchdog) failed_ = true;
  tau_ = command_ + gravity_;
  plant_->begin_step(t);
  integrator_.step(*plant_, t, settings_.facts.period, tau_.data(), x_.data());
  time_ += step_;
  if (!(x_.tail(n()).cwiseAbs().maxCoeff() < kFastest)) failed_ = true;
  compensate();
  return !failed_;
}

bool SimulatedDrive::write(const double* tau) noexcept {
  if (!running_ || failed_) return false;
  if (present_fault() == DriveFault::no_command) failed_ = true;
  const DriveFacts& facts = settings_.facts;
  for (int i = 0; i < n(); ++i) {
    const double part = std::abs(tau[i] - command_[i]) / (facts.cycle * facts.torque_rate[i]);
    largest_step_ = std::max(largest_step_, part);
    if (!(part <= 1.0 + kRounding) || !(std::abs(tau[i]) <= facts.torque_limits[i])) failed_ = true;
  }
  if (failed_) return false;
  std::copy_n(tau, n(), command_.data());
  commanded_ = time_;
  return true;
}

bool SimulatedDrive::stop() noexcept {
  running_ = false;
  x_.tail(n()).setZero();
  return true;
}

}  // namespace thunder::realtime
