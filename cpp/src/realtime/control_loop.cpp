#include "thunder/realtime/control_loop.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "thunder/control/adaptive_controller.hpp"
#include "thunder/math/dense.hpp"

namespace thunder::realtime {

namespace {

Span find_signal(const Controller& law, const char* name) {
  for (const Signal& signal : law.signals())
    if (signal.name == name) return {signal.data, signal.size()};
  return {};
}

AdaptiveModel* find_adaptive_model(Controller& law) {
  if (auto* joint = dynamic_cast<AdaptiveController<JointReference>*>(&law)) return &joint->adaptive_model();
  if (auto* task = dynamic_cast<AdaptiveController<TaskReference>*>(&law)) return &task->adaptive_model();
  return nullptr;
}

std::shared_ptr<Controller> required(std::shared_ptr<Controller> law) {
  if (law == nullptr) throw std::invalid_argument("law must be a controller");
  return law;
}

/// Largest difference of the axes of one arm [m, rad].
constexpr double kSameAxes = 0.05;
/// Speed of an arm at rest [rad/s or m/s], time for which a run holds it there, and longest time of its braking [s].
constexpr double kStandstill = 0.05, kHeld = 0.1, kLongestStop = 2.0;
/// Age to which a state may be answered in any case: networks of nodes have such delays at times [s].
constexpr double kOldest = 0.02;
/// Time in which holds are counted, and shortest one after which a stream of poses that is in vain is followed anew [s].
constexpr double kHolds = 10.0, kPause = 0.25;

/// The law does not reach what it is to follow; to begin anew again and again helps nobody.
bool in_vain(Reason why) noexcept {
  return why == Reason::no_solution || why == Reason::position || why == Reason::velocity || why == Reason::workspace;
}

}  // namespace

Eigen::MatrixXd joint_axes(std::shared_ptr<const Model> model) {
  const Evaluator dynamics(model);
  const Frame<double> last = model->frame(dynamics.n());
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(dynamics.n());
  RowMajor J(6, dynamics.n());
  Pose<double> pose;
  dynamics.frame_poses(zero.data(), &last, 1, &pose, J.data());
  const Eigen::Vector3d p(pose.p.x, pose.p.y, pose.p.z);
  for (int k = 0; k < dynamics.n(); ++k) J.col(k).head<3>() += p.cross(J.col(k).tail<3>().eval());
  return J;
}

bool same_joints(const Eigen::MatrixXd& one, const Eigen::MatrixXd& other) {
  return one.cols() == other.cols() && (one - other).cwiseAbs().maxCoeff() < kSameAxes;
}

LoopLaw::LoopLaw(std::shared_ptr<Controller> law)
    : law_(required(std::move(law))),
      joint_(dynamic_cast<JointController*>(law_.get())),
      task_(dynamic_cast<TaskController*>(law_.get())),
      adaptive_(find_adaptive_model(*law_)),
      error_(find_signal(*law_, "error")),
      parameters_(find_signal(*law_, "parameters")) {
  if ((joint_ == nullptr) == (task_ == nullptr) || error_.data == nullptr)
    throw std::invalid_argument("law must be a controller in joint or task space");
  if (law_->reference_order() > 2)
    throw std::invalid_argument("law must follow references with two derivatives, not " +
                                std::to_string(law_->reference_order()));
}

void LoopLaw::continue_from(const LoopLaw& before) noexcept {
  if (adaptive_ != nullptr && before.adaptive_ != nullptr) adaptive_->start_from(before.adaptive_->estimate().data());
}

ControlLoop::ControlLoop(std::shared_ptr<Safety> safety, std::shared_ptr<SafeTorque> brake, std::shared_ptr<Controller> law,
                         Settings settings, std::shared_ptr<ExternalObserver> observer, std::shared_ptr<Controller> known)
    : safety_(std::move(safety)),
      brake_(std::move(brake)),
      law_(law ? std::optional<LoopLaw>(std::in_place, law) : std::nullopt),
      known_(law ? std::move(law) : std::move(known)),
      settings_(std::move(settings)),
      observer_(std::move(observer)),
      n_(brake_->n()),
      e_(brake_->motors()),
      parameters_(law_ ? law_->parameters().size : 0),
      task_(law_ && law_->task()),
      axes_(joint_axes(law_ ? law_->controller().model() : brake_->model())),
      dynamics_(law_ ? law_->controller().model() : brake_->model()),
      held_(brake_->model()),
      frame_(n_),
      gate_(std::max(settings_.state_late, kOldest)),
      rates_(n_),
      joints_(n_, settings_.motion, settings_.joining_speed),
      poses_(settings_.task, settings_.reference_timeout),
      carries_(known_ != nullptr && !law_),
      q_(Eigen::VectorXd::Zero(n_)),
      dq_(q_),
      x_(Eigen::VectorXd::Zero(e_)),
      dx_(x_),
      gravity_(q_),
      tau_(q_),
      demand_(q_),
      load_(q_),
      nan_(Eigen::VectorXd::Constant(n_, std::numeric_limits<double>::quiet_NaN())),
      unused_(q_),
      still_(n_) {
  if (safety_->n() != n_ || dynamics_.n() != n_ || (known_ != nullptr && known_->n() != n_))
    throw std::invalid_argument("law, limits and brake must be those of one arm");
  if (!same_joints(joint_axes(brake_->model()), axes_))
    throw std::invalid_argument("law must be a controller of the robot that it moves: other joints are at other places");
  if (law_) law_->controller().set_torque_limits(safety_->limits().torque);
  if (observer_ != nullptr && (observer_->n() != n_ || observer_->size() != n_))
    throw std::invalid_argument("observer must be of the external torque of the law's robot");
  command_.tau = q_;
}

std::vector<Exclusive::Use> ControlLoop::use() const {
  std::vector<Exclusive::Use> uses;
  for (const Exclusive* part : {static_cast<const Exclusive*>(this), static_cast<const Exclusive*>(safety_.get()),
                                static_cast<const Exclusive*>(brake_.get())})
    uses.emplace_back(*part);
  if (safety_->observer()) uses.emplace_back(*safety_->observer());
  return uses;
}

// --- states

const Command* ControlLoop::state(const MeasuredState& state, Clock::time_point begun) noexcept {
  const bool torque = begin(state) && track();
  return finish(torque ? demand_.data() : nullptr, law_ ? law_->controller().status() : Status::ok, begun);
}

bool ControlLoop::begin(const MeasuredState& state) noexcept {
  answers_ = false;
  if (ended()) return false;
  now_ = in_range(state.now);
  if (!settings_.run) look_at_clock(now_);
  const bool motors = e_ > 0 && state.motors.x != nullptr && state.motors.dx != nullptr;
  const int e = motors ? e_ : 0;
  if (!gate_.take(state.stamp, now_, {{state.q, n_}, {state.dq, n_}, {state.motors.x, e}, {state.motors.dx, e}})) {
    look_at_invalid();
    return false;
  }
  without_state_ = 0;
  std::copy_n(state.q, n_, q_.data());
  std::copy_n(state.dq, n_, dq_.data());
  std::copy_n(state.motors.x, e, x_.data());
  std::copy_n(state.motors.dx, e, dx_.data());
  motors_ = motors ? Motors{x_.data(), dx_.data()} : Motors{};
  added_ = state.gravity != nullptr ? gravity_.data() : nullptr;
  if (added_ != nullptr) std::copy_n(state.gravity, n_, gravity_.data());
  read_clock(stamp_ = in_range(state.stamp), now_);
  if (added_ != nullptr && !all_finite(added_, static_cast<std::size_t>(n_))) stop(Reason::invalid_states);
  if (!rates_.agrees(t_, q_.data(), dq_.data()) && (tracked_ || settings_.run)) fault(Reason::wrong_velocities);
  if (ended()) return false;
  if (observer_ != nullptr) observer_->step(t_, q_.data(), dq_.data(), has_tau_ ? tau_.data() : nan_.data(), motors_);
  if (settings_.run) look_at_requests(safety_->check(t_, q_.data(), dq_.data()));
  answers_ = !ended();
  if (!answers_ || mode_ == Mode::fault || stopping_) return false;
  if (!law_) {
    if (mode_ != Mode::tracking) answered_ = t_;
    mode_ = Mode::tracking;
    reason_ = Reason::following;
  }
  return true;
}

const Command* ControlLoop::finish(const double* tau, Status status, Clock::time_point begun) noexcept {
  if (!answers_) return nullptr;
  answers_ = false;
  status_ = status;
  clipped_ = false;
  command_.error = {};
  if (tau != nullptr) look_at_law(tau, status);
  if (mode_ == Mode::tracking && tau != nullptr)
    std::copy_n(tau, n_, demand_.data());
  else if (reason_ == Reason::wrong_velocities)
    brake_->blind(q_.data(), demand_.data(), load());
  else
    brake_->step(t_, q_.data(), dq_.data(), motors_, demand_.data(), load());
  limit(now_);
  command_.period = has_received_ ? seconds(now_ - received_) : 0.0;
  received_ = now_;
  has_received_ = true;
  ++report_.cycles;
  settle();
  command_.computing = std::chrono::duration<double>(Clock::now() - begun).count();
  command_.latency = seconds(now_ - stamp_) + command_.computing;
  if (command_.period != 0.0) period_.add(command_.period);
  latency_.add(command_.latency);
  computing_.add(command_.computing);
  return command(stamp_);
}

void ControlLoop::refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept {
  look_at_clock(now = in_range(now));
  gate_.refuse(stamp, now, why);
  look_at_invalid();
}

void ControlLoop::look_at_invalid() noexcept {
  if (settings_.run) return miss();
  if (gate_.invalid_in_a_row() < settings_.invalid_states || !has_received_) return;
  if (tracked_)
    fault(Reason::invalid_states);
  else if (mode_ == Mode::holding || mode_ == Mode::braking)
    reason_ = Reason::invalid_states;
}

void ControlLoop::miss() noexcept {
  if (++without_state_ > settings_.most_missed)
    stop(gate_.invalid_in_a_row() > 0 ? Reason::invalid_states : Reason::states_lost);
  const bool at_once = at_once_.load();  // before the reason, which is set first
  const Reason requested = requested_.load();
  // without any state nothing can be braked
  if (requested != Reason::none && (report_.cycles == 0 || at_once)) stop(requested, true);
}

const Command* ControlLoop::watch(std::int64_t now) noexcept {
  look_at_clock(now = in_range(now));
  if (!has_received_) return nullptr;
  const double silence = seconds(now - received_);
  if (silence <= settings_.state_late || mode_ == Mode::starting) return nullptr;
  if (silence > settings_.state_lost) {
    lose_states(Reason::states_lost);
    return nullptr;
  }
  hold(Reason::state_late);
  const std::int64_t stamp = gate_.last_stamp();
  brake_->blind(q_.data(), demand_.data(), load());
  command_.error = {};
  limit(now);
  command_.period = command_.computing = 0.0;
  command_.latency = seconds(now - in_range(stamp));
  return command(stamp);
}

/// The state's time on the loop's clock; responds to gaps before it.
void ControlLoop::read_clock(std::int64_t stamp, std::int64_t now) noexcept {
  if (!has_origin_) origin_ = stamp - std::llround(1e9 * resumed_);
  has_origin_ = true;
  const double passed = time_of(stamp) - t_;
  t_ = report_.t = time_of(stamp);
  if (!has_received_) return;
  const double gap = std::max(passed, seconds(now - received_));
  if (settings_.run) count_missed(passed);
  if (stopping_) return;
  if (gap > settings_.state_lost)
    lose_states(Reason::states_lost);
  else if (gap > settings_.state_late)
    rejoin(Reason::state_late);
}

/// Counts the cycles of a run that were missed before a state.
void ControlLoop::count_missed(double gap) noexcept {
  const std::int64_t missed = std::max<std::int64_t>(std::llround(gap / safety_->limits().period) - 1, 0);
  report_.missed += missed;
  report_.worst_missed = std::max(report_.worst_missed, missed);
  if (gap > settings_.watchdog)
    stop(Reason::watchdog);
  else if (missed > settings_.most_missed)
    stop(Reason::missed_cycles);
}

/// Loses states if the clock was set back: otherwise they would be out of order until it had caught up.
void ControlLoop::look_at_clock(std::int64_t now) noexcept {
  if (!has_received_ || seconds(received_ - now) <= settings_.state_lost) return;
  lose_states(Reason::clock_set_back);
  gate_.begin_anew();
  safety_->restart_clock();
  resumed_ = t_;
  has_origin_ = has_received_ = false;
  begun_ = 0;
}

void ControlLoop::look_at_requests(Reason found) noexcept {
  const bool at_once = at_once_.load();  // before the reason, which is set first
  const Reason requested = requested_.load();
  if (at_once)
    stop(requested, true);
  else if (found != Reason::none)
    stop(found, report_.cycles == 0);
  else if (requested != Reason::none)
    stop(requested);
  else if (t_ >= settings_.duration)
    stop(Reason::finished);
}

// --- torques

const double* ControlLoop::load() noexcept {
  if (!carries_) return nullptr;
  (law_ ? law_->controller() : *known_).unmodeled_gravity(q_.data(), held_, load_.data());
  return load_.data();
}

/// Writes the law's torque; without a reference the arm is held.
bool ControlLoop::track() noexcept {
  if (task() && mode_ != Mode::tracking && t_ - in_vain_at_ < kPause) return false;
  if (motors_.x == nullptr && law_->controller().sees_motors()) {
    hold(Reason::no_motors);
    return false;
  }
  const JointReference* joints = task() ? nullptr : joints_.at(t_, q_.data(), dq_.data());
  const TaskReference* pose = task() ? pose_reference() : nullptr;
  if (joints == nullptr && pose == nullptr) {
    hold(task() ? poses_.why() : joints_.why());
    return false;
  }
  if (mode_ != Mode::tracking) {
    mode_ = Mode::tracking;
    reason_ = Reason::following;
    tracked_ = true;
    answered_ = t_;
    brake_->leave();
    safety_->allow(q_.data());
  }
  if (joints != nullptr)
    law_->joint_->step(t_, q_.data(), dq_.data(), *joints, demand_.data(), motors_);
  else
    law_->task_->step(t_, q_.data(), dq_.data(), *pose, demand_.data(), motors_);
  return true;
}

/// Responds to the outcome of the law's step.
void ControlLoop::look_at_law(const double* tau, Status status) noexcept {
  if (!all_finite(tau, static_cast<std::size_t>(n_))) return fault(Reason::invalid_torque);
  if (status == Status::diverged) return fault(Reason::diverged);
  if (status == Status::ok || status == Status::saturated) {
    answered_ = t_;
    carries_ = carries_ || (law_ && law_->adaptive_ != nullptr);  // the estimate has held the arm
  } else if (t_ - answered_ > settings_.patience) {
    drop(Reason::no_solution);
    return hold(Reason::no_solution);
  }
  clipped_ = law_ && status == Status::saturated;  // to the limits of the loop
  if (!law_) return;
  const Eigen::Map<const Eigen::VectorXd> error(law_->error().data, law_->error().size);
  if ((error.array().abs() > settings_.largest_error).any()) return fault(Reason::large_error);
  if (const Reason near = settings_.run ? Reason::none : safety_->guard(t_, q_.data(), dq_.data(), tau); near != Reason::none) {
    drop(near);
    return hold(near);
  }
  command_.error = law_->error();
}

const TaskReference* ControlLoop::pose_reference() noexcept {
  if (follows_source_) {
    source_->advance(t_);
    source_->at(t_, wanted_);
    if (!poses_.take(t_, wanted_)) drop(Reason::reference_ended);
  }
  if (!poses_.present(t_)) return nullptr;
  if (poses_.joins()) {
    frame_.update(dynamics_, settings_.frame, q_.data(), dq_.data());
    poses_.start(t_, frame_.p, frame_.R, frame_.xi);
  }
  return &poses_.at(t_);
}

/// The command for the demand, within the limits: all joints of a brake together, along its straight line.
void ControlLoop::limit(std::int64_t now) noexcept {
  if (!has_tau_ && !settings_.run) safety_->begin(demand_);
  if (begun_ == 0) begun_ = now;
  const bool tracks = mode_ == Mode::tracking;
  command_.tau = safety_->limit(settings_.run ? t_ : seconds(now - begun_), demand_.data(), added_, clipped_ && tracks, !tracks);
  if (safety_->reason() != Reason::none) settings_.run ? stop(safety_->reason()) : safety_->set_reason(Reason::none);
  tau_ = command_.tau;
  if (added_ != nullptr) tau_ += gravity_;
  has_tau_ = true;
}

// --- transitions

/// Where an arm that brakes comes to rest.
void ControlLoop::settle() noexcept {
  if (mode_ == Mode::braking && !stopping_ && brake_->held()) mode_ = Mode::holding;
  if (!stopping_ || ended()) return;
  if (dq_.cwiseAbs().maxCoeff() > kStandstill) moved_at_ = t_;
  report_.at_rest = t_ - moved_at_ >= kHeld;
  if (report_.at_rest || t_ - stopped_at_ > kLongestStop) mode_ = Mode::stopped;
}

/// Gives the reference up, or waits for one.
void ControlLoop::hold(Reason why) noexcept {
  if (mode_ == Mode::fault || stopping_) return;
  if (settings_.run && !goes_on(why)) return stop(why);
  if (mode_ == Mode::tracking) {
    if (t_ - held_at_ > kHolds) holds_ = 0;
    if (holds_ == 0) held_at_ = t_;
    if (in_vain(why) && ++holds_ > settings_.most_holds) return fault(Reason::repeated_holds);
    if (in_vain(why)) in_vain_at_ = t_;
    pause();
  }
  rejoin(why);
  if (mode_ == Mode::tracking || mode_ == Mode::starting) mode_ = Mode::braking;
  reason_ = why;
}

void ControlLoop::fault(Reason why) noexcept {
  if (settings_.run) return stop(why);
  if (mode_ == Mode::fault) return;
  if (mode_ == Mode::tracking) pause();
  drop(why);
  if (unsound(why)) carries_ = false;
  mode_ = Mode::fault;
  reason_ = why;
}

void ControlLoop::lose_states(Reason why) noexcept {
  if (settings_.run) return stop(why);
  drop(why);
  brake_->leave();
  if (tracked_ && !settings_.recover) return fault(why);
  if (mode_ == Mode::fault) return;
  hold(why);
  mode_ = Mode::starting;
}

void ControlLoop::stop(Reason why, bool at_once) noexcept {
  if (!stopping_) {
    stopping_ = true;
    mode_ = Mode::braking;
    report_.reason = reason_ = why;
    stopped_at_ = moved_at_ = t_;
  } else if (expected(report_.reason) && !expected(why)) {
    report_.reason = reason_ = why;
  }
  if (unsound(why)) carries_ = false;
  if (!at_once && !immediate(why)) return;
  report_.at_once = true;
  mode_ = Mode::stopped;
}

void ControlLoop::request(Reason reason) noexcept {
  Reason before = Reason::none;
  if (requested_.compare_exchange_strong(before, reason) || reason != Reason::interrupted) return;
  if (before == Reason::interrupted)
    at_once_.store(true);
  else
    requested_.store(Reason::interrupted);
}

/// Stops the adaptation: a step with NaN resets the controller's gradient.
void ControlLoop::pause() noexcept {
  if (!law_) return;
  const Motors motors{nan_.data(), nan_.data()};
  const double* const nan = nan_.data();
  if (task())
    law_->task_->step(t_, nan, nan, TaskReference(), unused_.data(), motors);
  else
    law_->joint_->step(t_, nan, nan, still_, unused_.data(), motors);
}

const Command* ControlLoop::command(std::int64_t stamp) noexcept {
  command_.stamp = stamp;
  command_.mode = mode_;
  command_.reason = reason_;
  command_.status = law_ ? law_->controller().status() : status_;
  command_.parameters = law_ ? law_->parameters() : Span{};
  if (observer_ != nullptr) command_.external = {observer_->estimate().data(), n_};
  command_.contact = contact();
  return &command_;
}

bool ControlLoop::contact() const noexcept {
  return observer_ != nullptr && observer_->contact() != nullptr && observer_->contact()->any();
}

// --- references

void ControlLoop::drop(Reason why) noexcept {
  joints_.drop(why);
  poses_.drop(why);
  follows_source_ = false;
}

void ControlLoop::rejoin(Reason why) noexcept {
  if (why == Reason::state_late)
    joints_.interrupt();
  else
    joints_.rejoin();
  poses_.rejoin();
}

std::unique_ptr<JointMotion> ControlLoop::follow(std::unique_ptr<JointMotion> motion) noexcept {
  const bool fits = motion == nullptr || motion->first.q.size() == n_;
  return fits && mode_ != Mode::fault && !task() ? joints_.follow(std::move(motion)) : joints_.refuse(std::move(motion));
}

void ControlLoop::exchange(std::shared_ptr<TaskReferenceSource>& source) noexcept {
  std::swap(source_, source);
  poses_.drop(Reason::no_reference);
  poses_.rejoin();
  follows_source_ = source_ != nullptr && task() && mode_ != Mode::fault;
}

void ControlLoop::cancel() noexcept {
  drop(Reason::canceled);
  if (mode_ == Mode::tracking) hold(Reason::canceled);
}

const JointReference* ControlLoop::joint_reference() const noexcept {
  return mode_ == Mode::tracking && !task() ? joints_.last() : nullptr;
}

const TaskReference* ControlLoop::task_reference() const noexcept {
  return mode_ == Mode::tracking && task() ? &poses_.last() : nullptr;
}

Refusal ControlLoop::take_pose(double t, const double* position, const double* quaternion) noexcept {
  return mode_ == Mode::fault ? Refusal::fault : poses_.take_pose(t, position, quaternion);
}

Refusal ControlLoop::take_twist(double t, const double* linear, const double* angular) noexcept {
  return mode_ == Mode::fault ? Refusal::fault : poses_.take_twist(t, linear, angular);
}

// --- requests

void ControlLoop::reset() noexcept {
  mode_ = Mode::starting;
  reason_ = Reason::no_state;
  gate_.reset();
  rates_.reset();
  brake_->leave();
  if (observer_ != nullptr) observer_->reset();
  drop(Reason::no_reference);
  carries_ = false;
  joints_.reset();
  period_.reset();
  latency_.reset();
  computing_.reset();
  has_origin_ = has_received_ = tracked_ = false;
  holds_ = 0;
  in_vain_at_ = -kPause;
  t_ = resumed_ = answered_ = 0.0;
}

LoopLaw ControlLoop::make_law(std::shared_ptr<Controller> law) const {
  LoopLaw made(std::move(law));
  if (made.task() != task() || made.controller().n() != n_ || made.controller().model()->elastic_count() != e_ ||
      made.parameters().size != parameters_ || !same_joints(joint_axes(made.controller().model()), axes_))
    throw std::invalid_argument("the law must be of the kind and the robot of the one that it replaces");
  made.controller().set_torque_limits(safety_->limits().torque);
  return made;
}

void ControlLoop::exchange(LoopLaw& law, bool continues) noexcept {
  if (continues) law.continue_from(*law_);
  std::swap(*law_, law);
  command_.error = {};
}

void ControlLoop::archive(StateArchive& state) {
  if (follows_source_) throw std::invalid_argument("a loop must not follow a source of poses to be copied");
  state(gate_, rates_, joints_, poses_, period_, latency_, computing_);
  state.bounded(mode_, 0.0, static_cast<double>(Mode::fault));
  state.bounded(reason_, 0.0, kReasons - 1);
  state.bounded(holds_, 0.0, 2e9);
  state(has_origin_, has_received_, has_tau_, tracked_, carries_);
  for (std::int64_t* stamp : {&origin_, &received_, &begun_}) archive_count(state, *stamp);
  state(t_, resumed_, answered_, held_at_, in_vain_at_, q_, tau_);
  if (!tau_.allFinite()) throw std::invalid_argument("state must hold a torque that is finite");
}

}  // namespace thunder::realtime
