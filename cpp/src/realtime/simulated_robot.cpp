#include "thunder/realtime/simulated_robot.hpp"

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
/// A clock this far behind was set back [ns].
constexpr std::int64_t kClockBack = 100'000'000;
/// Largest speed of an arm [rad/s or m/s]; beyond it the plant stops.
constexpr double kFastest = 1e3;
/// Rounding of a torque step that uses its limit.
constexpr double kRounding = 1e-9;
/// Periods for which `missed_cycles` blocks the loop.
constexpr int kBlocked = 20;
/// Of an endless watchdog [s].
constexpr double kLongestWatchdog = 1e6;

const std::shared_ptr<const Model>& known_model(const SimulatedRobot::Settings& settings) {
  if (settings.known == nullptr) throw std::invalid_argument("a simulated arm must have a model that its drive knows");
  return settings.known;
}

Eigen::VectorXd unlimited(Eigen::Index n) { return Eigen::VectorXd::Constant(n, std::numeric_limits<double>::infinity()); }

}  // namespace

SimulatedRobot::SimulatedRobot(std::unique_ptr<Plant> plant, Settings settings, std::unique_ptr<Integrator> integrator)
    : plant_(std::move(plant)),
      settings_(std::move(settings)),
      integrator_(integrator ? std::move(integrator) : std::make_unique<RungeKutta4>(*plant_)),
      brake_(known_model(settings_), braking_rate(settings_.facts.period), settings_.facts.torque_limits, unlimited(n())),
      gate_(std::min(settings_.facts.watchdog, kLongestWatchdog)),
      step_(std::llround(1e9 * settings_.facts.period)),
      x_(settings_.state) {
  const DriveFacts& facts = settings_.facts;
  if (facts.torque_rate.size() != n() || x_.size() != plant_->state_size() || plant_->actuator_states() > 0)
    throw std::invalid_argument("a simulated arm must have " + std::to_string(n()) + " torque rates and a state of " +
                                std::to_string(plant_->state_size()) + " numbers without drives");
  if (settings_.compensates_gravity) gravity_model_ = std::make_unique<Evaluator>(settings_.known);
  command_ = gravity_ = tau_ = Eigen::VectorXd::Zero(n());
  before_ = x_;
  moved();
  invalid_ = Eigen::VectorXd::Constant(n(), std::numeric_limits<double>::quiet_NaN());
  choose_torque();
}

void SimulatedRobot::inject(DriveFault fault, double time) noexcept {
  fault_time_.store(time);
  fault_.store(fault);
}

DriveFault SimulatedRobot::present_fault() const noexcept {
  const DriveFault fault = fault_.load();
  return seconds(time_ - origin_) >= fault_time_.load() ? fault : DriveFault::none;
}

// --- time

void SimulatedRobot::advance(std::int64_t now) noexcept {
  now = in_range(now);
  if (!has_clock_) origin_ = time_ = now, chosen_ = false;
  has_clock_ = true;
  if (time_ - now > kClockBack) {
    origin_ += now - time_;
    time_ = now;
    chosen_ = false;
  }
  if (now - time_ > std::max(kLongestCatchUp, kPeriodsOfCatchUp * step_)) {
    const std::int64_t behind = (now - time_) / step_ * step_;
    slipped_ += seconds(behind);
    time_ += behind;
    chosen_ = false;
  }
  while (time_ + step_ <= now) step();
  choose_torque();
}

/// Integrates one period.
void SimulatedRobot::step() noexcept {
  choose_torque();
  const double t = seconds(time_ - origin_), dt = settings_.facts.period / settings_.parts;
  time_ += step_;
  chosen_ = false;
  if (failed_) return;
  before_ = x_;
  bool moves = true;
  for (int k = 0; k < settings_.parts && moves; ++k)
    moves = integrate(*plant_, *integrator_, t + k * dt, dt, tau_.data(), x_.data());
  const double squared = x_.segment(n(), n()).squaredNorm() + x_.tail(motors()).squaredNorm();
  if (moves && squared < kFastest * kFastest && x_.allFinite()) return moved();
  failed_ = true;
  x_ = before_;
  stand();
}

void SimulatedRobot::stand() noexcept {
  x_.segment(n(), n()).setZero();
  x_.tail(motors()).setZero();
  moved();
}

/// The state is another one.
void SimulatedRobot::moved() noexcept {
  chosen_ = false;
  if (gravity_model_) gravity_model_->gravity_vector(q(), gravity_.data());
}

bool SimulatedRobot::integrate(Plant& plant, Integrator& integrator, double t, double dt, const double* tau, double* x) {
  plant.begin_step(t);
  integrator.step(plant, t, dt, tau, x);
  return true;
}

bool SimulatedRobot::valid() const noexcept {
  const std::int64_t age = time_ - received_;
  return has_command_ && age >= -kClockBack && seconds(age) <= settings_.facts.watchdog;
}

/// Once for each state, and for each command.
void SimulatedRobot::choose_torque() noexcept {
  if (chosen_) return;
  chosen_ = true;
  if (valid()) {
    tau_ = command_ + gravity_;
    return;
  }
  if (running_) failed_ = true;
  const bool sees_motors = motors() > 0 && motors() == brake_.motors();
  const Motors state = sees_motors ? Motors{motor_state(), motor_state() + motors()} : Motors{};
  brake_.leave();  // no spring
  brake_.step(seconds(time_), q(), dq(), state, tau_.data());
}

// --- commands from messages

std::optional<Dropped> SimulatedRobot::command(std::int64_t stamp, std::int64_t now, const double* tau) noexcept {
  now = in_range(now);
  if (has_command_ && received_ - now > kClockBack) {
    gate_.begin_anew();
    has_command_ = false;
  }
  if (!gate_.take(stamp, now, {{tau, n()}})) return gate_.why();
  const Eigen::Map<const Eigen::VectorXd> asked(tau, n());
  const Eigen::VectorXd& most = settings_.facts.torque_limits;
  command_ = asked.cwiseMin(most).cwiseMax(-most);
  if (command_ != asked) ++clipped_;
  received_ = now;
  has_command_ = true;
  chosen_ = false;
  age_.add(seconds(now - in_range(stamp)));
  return std::nullopt;
}

Dropped SimulatedRobot::refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept {
  gate_.refuse(stamp, in_range(now), why);
  return gate_.why();
}

// --- the drive of a loop

bool SimulatedRobot::start() noexcept {
  if (failed_) return false;
  if (settings_.real_time)
    time_ = monotonic_now();
  else if (!has_clock_)
    time_ = 1'000'000'000;
  has_clock_ = running_ = has_command_ = true;
  origin_ = received_ = time_;
  command_.setZero();
  chosen_ = false;
  choose_torque();
  return true;
}

DriveResult SimulatedRobot::read(DriveState& state) noexcept {
  if (!running_ || failed_) return DriveResult::fault;
  const DriveFault fault = present_fault();
  if (fault == DriveFault::error) failed_ = true;
  if (fault == DriveFault::missed_cycles) {
    fault_.store(DriveFault::none);
    if (settings_.real_time) sleep_until(monotonic_now() + kBlocked * step_);
    for (int k = 1; k < kBlocked && !settings_.real_time; ++k) step();
  }
  const double before = slipped_;
  advance(settings_.real_time ? monotonic_now() : time_ + step_);
  if (slipped_ > before) failed_ = true;
  if (failed_) return DriveResult::fault;
  if (fault == DriveFault::silence) return DriveResult::nothing;
  state = {time_, fault == DriveFault::invalid_state ? invalid_.data() : q(), dq(), gravity()};
  return DriveResult::ok;
}

bool SimulatedRobot::write(const double* tau) noexcept {
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
  received_ = time_;
  chosen_ = false;
  return true;
}

bool SimulatedRobot::stop() noexcept {
  running_ = has_command_ = false;
  stand();
  choose_torque();
  return true;
}

void SimulatedRobot::archive(StateArchive& state) {
  state(x_, command_, gate_, age_, has_clock_, has_command_, running_, failed_, largest_step_, slipped_);
  for (std::int64_t* count : {&origin_, &time_, &received_, &clipped_}) archive_count(state, *count);
  if (!state.reading()) return;
  if (!x_.allFinite() || !command_.allFinite()) throw std::invalid_argument("state must hold an arm and a command that are finite");
  moved();
  choose_torque();
}

}  // namespace thunder::realtime
