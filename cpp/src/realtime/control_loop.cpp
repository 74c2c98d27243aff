#include "thunder/realtime/control_loop.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "thunder/control/adaptive_controller.hpp"

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

ControlLoop::ControlLoop(std::shared_ptr<Controller> law, Settings settings, std::shared_ptr<ExternalObserver> observer)
    : law_(std::move(law)),
      settings_(std::move(settings)),
      observer_(std::move(observer)),
      task_(law_.task()),
      n_(law_.controller().n()),
      e_(law_.controller().model()->elastic_count()),
      parameters_(law_.parameters().size),
      axes_(joint_axes(law_.controller().model())),
      dynamics_(law_.controller().model()),
      frame_(n_),
      safe_(law_.controller().model(), settings_.hold_rate, settings_.torque_limits, settings_.torque_rate),
      gate_(settings_.state_late),
      joints_(n_, settings_.motion, settings_.joining_speed),
      poses_(settings_.task, settings_.reference_timeout),
      q_(Eigen::VectorXd::Zero(n_)),
      tau_(q_),
      nan_(Eigen::VectorXd::Constant(n_, std::numeric_limits<double>::quiet_NaN())),
      unused_(q_),
      load_(q_),
      most_(q_),
      change_(q_),
      zero_(q_),
      still_(n_) {
  law_.controller().set_torque_limits(settings_.torque_limits);
  if (observer_ != nullptr && (observer_->n() != n_ || observer_->size() != n_))
    throw std::invalid_argument("observer must be of the external torque of the law's robot");
  bounded_rate_ = !settings_.torque_rate.array().isInf().all();
  command_.tau = q_;
}

// --- states

const Command* ControlLoop::state(std::int64_t stamp, std::int64_t now, const double* q, const double* dq, const double* x,
                                  const double* dx, Clock::time_point begun) noexcept {
  look_at_clock(now = in_range(now));
  const bool motors = e_ > 0 && x != nullptr && dx != nullptr;
  const int e = motors ? e_ : 0;
  if (!gate_.take(stamp, now, {{q, n_}, {dq, n_}, {x, e}, {dx, e}})) return look_at_invalid();
  const double t = read_clock(stamp = in_range(stamp), now);
  const State state{q, dq, motors ? Motors{x, dx} : Motors{}};
  t_ = t;
  if (observer_ != nullptr) observer_->step(t_, q, dq, has_tau_ ? tau_.data() : nan_.data(), state.motors);
  answer(state);
  limit_rate(now);
  command_.period = has_received_ ? seconds(now - received_) : 0.0;
  received_ = now;
  has_received_ = true;
  q_ = Eigen::Map<const Eigen::VectorXd>(q, n_);
  command_.computing = std::chrono::duration<double>(Clock::now() - begun).count();
  command_.latency = seconds(now - stamp) + command_.computing;
  if (command_.period != 0.0) period_.add(command_.period);
  latency_.add(command_.latency);
  computing_.add(command_.computing);
  return command(stamp);
}

void ControlLoop::refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept {
  look_at_clock(now = in_range(now));
  gate_.refuse(stamp, now, why);
  look_at_invalid();
}

const Command* ControlLoop::look_at_invalid() noexcept {
  if (gate_.invalid_in_a_row() < settings_.invalid_states || !has_received_) return nullptr;
  if (tracked_)
    fault(Reason::invalid_states);
  else if (mode_ == Mode::hold)
    reason_ = Reason::invalid_states;
  return nullptr;
}

const Command* ControlLoop::watch(std::int64_t now) noexcept {
  look_at_clock(now = in_range(now));
  if (!has_received_) return nullptr;
  const double silence = seconds(now - received_);
  if (silence <= settings_.state_late || mode_ == Mode::waiting) return nullptr;
  if (silence > settings_.state_lost) {
    lose_states(Reason::state_lost);
    return nullptr;
  }
  leave_tracking(Reason::state_late);
  const std::int64_t stamp = gate_.last_stamp();
  safe_.blind(q_.data(), command_.tau.data(), load(q_.data(), dynamics_));
  command_.error = {};
  limit_rate(now);
  command_.period = command_.computing = 0.0;
  command_.latency = seconds(now - in_range(stamp));
  return command(stamp);
}

/// The state's time on the loop's clock; responds to gaps before it.
double ControlLoop::read_clock(std::int64_t stamp, std::int64_t now) noexcept {
  if (!has_origin_) origin_ = stamp - std::llround(1e9 * resumed_);
  has_origin_ = true;
  const double t = time_of(stamp);
  if (!has_received_) return t;
  const double gap = std::max(t - t_, seconds(now - received_));
  if (gap > settings_.state_lost)
    lose_states(Reason::state_lost);
  else if (gap > settings_.state_late)
    rejoin(Reason::state_late);
  return t;
}

double ControlLoop::time_of(std::int64_t stamp) const noexcept { return seconds(in_range(stamp) - origin_); }

/// Loses states if the clock was set back: otherwise they would be out of order until it had caught up.
void ControlLoop::look_at_clock(std::int64_t now) noexcept {
  if (!has_received_ || seconds(received_ - now) <= settings_.state_lost) return;
  lose_states(Reason::clock_set_back);
  gate_.begin_anew();
  resumed_ = t_;
  has_origin_ = has_received_ = false;
}

void ControlLoop::lose_states(Reason why) noexcept {
  drop(why);
  safe_.leave();
  if (tracked_ && !settings_.recover) return fault(why);
  if (mode_ == Mode::fault) return;
  leave_tracking(why);
  mode_ = Mode::waiting;
}

// --- torques

/// Writes the torque and the tracking error.
void ControlLoop::answer(const State& state) noexcept {
  command_.error = {};
  if (track(state)) {
    const Eigen::Map<const Eigen::VectorXd> error(law_.error().data, law_.error().size);
    if (!(error.array().abs() > settings_.largest_error).any()) {
      command_.error = law_.error();
      return;
    }
    fault(Reason::large_error);
  }
  safe_.step(t_, state.q, state.dq, state.motors, command_.tau.data(), load(state.q, dynamics_));
}

const double* ControlLoop::load(const double* q, Evaluator& known) noexcept {
  if (!carries_) return nullptr;
  law_.controller().unmodeled_gravity(q, known, load_.data());
  return load_.data();
}

/// Writes the controller's torque, or changes the mode and returns false.
bool ControlLoop::track(const State& state) noexcept {
  if (mode_ == Mode::fault) return false;
  if (state.motors.x == nullptr && law_.controller().sees_motors()) {
    leave_tracking(Reason::no_motors);
    return false;
  }
  const JointReference* joints = task() ? nullptr : joints_.at(t_, state.q, state.dq);
  const TaskReference* pose = task() ? pose_reference(state) : nullptr;
  if (joints == nullptr && pose == nullptr) {
    leave_tracking(task() ? poses_.why() : joints_.why());
    return false;
  }
  if (mode_ != Mode::tracking) {
    mode_ = Mode::tracking;
    reason_ = Reason::following;
    tracked_ = true;
    answered_ = t_;
    safe_.leave();
  }
  double* const tau = command_.tau.data();
  const Status status = joints != nullptr ? law_.joint_->step(t_, state.q, state.dq, *joints, tau, state.motors)
                                          : law_.task_->step(t_, state.q, state.dq, *pose, tau, state.motors);
  return look_at_status(status);
}

bool ControlLoop::look_at_status(Status status) noexcept {
  if (status == Status::diverged) {
    fault(Reason::diverged);
    return false;
  }
  if (status == Status::ok || status == Status::saturated) {
    answered_ = t_;
    carries_ = law_.adaptive_ != nullptr;  // the estimate has held the arm
  } else if (t_ - answered_ > settings_.patience) {
    drop(Reason::singular);
    leave_tracking(Reason::singular);
    return false;
  }
  return true;
}

const TaskReference* ControlLoop::pose_reference(const State& state) noexcept {
  if (follows_source_) {
    source_->advance(t_);
    source_->at(t_, wanted_);
    if (!poses_.take(t_, wanted_)) drop(Reason::reference_ended);
  }
  if (!poses_.present(t_)) return nullptr;
  if (poses_.joins()) {
    frame_.update(dynamics_, settings_.frame, state.q, state.dq);
    poses_.start(t_, frame_.p, frame_.R, frame_.xi);
  }
  return &poses_.at(t_);
}

/// Keeps the torque within the largest rate of change, and finite whatever the law's state was restored from.
void ControlLoop::limit_rate(std::int64_t now) noexcept {
  for (int i = 0; i < n_; ++i)
    if (!std::isfinite(command_.tau[i])) command_.tau[i] = tau_[i];
  if (bounded_rate_ && has_tau_) {
    // 1e-9 s keeps an infinite rate times the time from being NaN
    most_ = std::max(1e-9, seconds(now - given_)) * settings_.torque_rate;
    change_ = command_.tau - tau_;
    if (mode_ != Mode::tracking)  // along the straight line of a brake
      change_ *= largest_part(most_, zero_.data(), change_.data());
    command_.tau = tau_ + change_.cwiseMin(most_).cwiseMax(-most_);
  }
  tau_ = command_.tau;
  given_ = now;
  has_tau_ = true;
}

/// Changes to hold, except from a fault.
void ControlLoop::leave_tracking(Reason why) noexcept {
  if (mode_ == Mode::fault) return;
  if (mode_ == Mode::tracking) pause();
  rejoin(why);
  mode_ = Mode::hold;
  reason_ = why;
}

void ControlLoop::fault(Reason why) noexcept {
  if (mode_ == Mode::fault) return;
  if (mode_ == Mode::tracking) pause();
  drop(why);
  if (why == Reason::diverged || why == Reason::large_error) carries_ = false;  // the estimate may be wrong
  mode_ = Mode::fault;
  reason_ = why;
}

/// Stops the adaptation: a step with NaN resets the controller's gradient.
void ControlLoop::pause() noexcept {
  const Motors motors{nan_.data(), nan_.data()};
  const double *const nan = nan_.data();
  if (task())
    law_.task_->step(t_, nan, nan, TaskReference(), unused_.data(), motors);
  else
    law_.joint_->step(t_, nan, nan, still_, unused_.data(), motors);
}

const Command* ControlLoop::command(std::int64_t stamp) noexcept {
  command_.stamp = stamp;
  command_.mode = mode_;
  command_.reason = reason_;
  command_.status = law_.controller().status();
  command_.parameters = law_.parameters();
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
  const bool fits = motion == nullptr || motion->first().q.size() == n_;
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
  if (mode_ == Mode::tracking) leave_tracking(Reason::canceled);
}

const JointReference* ControlLoop::joint_reference() const noexcept {
  return mode_ == Mode::tracking && !task() ? joints_.last() : nullptr;
}

Refusal ControlLoop::take_pose(double t, const double* position, const double* quaternion) noexcept {
  return mode_ == Mode::fault ? Refusal::fault : poses_.take_pose(t, position, quaternion);
}

Refusal ControlLoop::take_twist(double t, const double* linear, const double* angular) noexcept {
  return mode_ == Mode::fault ? Refusal::fault : poses_.take_twist(t, linear, angular);
}

// --- requests

void ControlLoop::reset() noexcept {
  mode_ = Mode::waiting;
  reason_ = Reason::no_state;
  gate_.reset();
  safe_.leave();
  if (observer_ != nullptr) observer_->reset();
  drop(Reason::no_reference);
  carries_ = false;
  joints_.reset();
  period_.reset();
  latency_.reset();
  computing_.reset();
  has_origin_ = has_received_ = tracked_ = false;
  t_ = resumed_ = answered_ = 0.0;
}

LoopLaw ControlLoop::make_law(std::shared_ptr<Controller> law) const {
  LoopLaw made(std::move(law));
  if (made.task() != task() || made.controller().n() != n_ || made.controller().model()->elastic_count() != e_ ||
      made.parameters().size != parameters_ || !same_joints(joint_axes(made.controller().model()), axes_))
    throw std::invalid_argument("the law must be of the kind and the robot of the one that it replaces");
  made.controller().set_torque_limits(settings_.torque_limits);
  return made;
}

void ControlLoop::exchange(LoopLaw& law, bool continues) noexcept {
  if (continues) law.continue_from(law_);
  std::swap(law_, law);
  command_.error = {};
}

void ControlLoop::archive(StateArchive& state) {
  if (follows_source_) throw std::invalid_argument("a loop must not follow a source of poses to be copied");
  state(safe_, gate_, joints_, poses_, period_, latency_, computing_);
  state.bounded(mode_, 0.0, 3.0);
  state.bounded(reason_, 0.0, kReasons - 1);
  state(has_origin_, has_received_, has_tau_, tracked_, carries_);
  for (std::int64_t* stamp : {&origin_, &received_, &given_}) archive_count(state, *stamp);
  state(t_, resumed_, answered_, q_, tau_);
  if (!tau_.allFinite()) throw std::invalid_argument("state must hold a torque that is finite");
}

}  // namespace thunder::realtime
