#include "thunder/planning/interception/interceptor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "thunder/planning/trajectory/rotation_vector_path.hpp"

namespace thunder {

namespace {

using Phase = InterceptionPhase;
using Reason = InterceptionReason;
using Strategy = InterceptionSettings::Strategy;

constexpr int kTries = 6;             // of later arrivals, where one exceeds the limits of the hand
constexpr double kLater = 0.08;       // [s]
constexpr double kLastTau = 1.0 - 1e-12;
constexpr double kShortestStop = 0.2;  // [s]
/// Results that arrive together give no frequency: (116) would move the arrival by seconds [s].
constexpr double kShortestInterval = 0.01;

/// Largest norms of velocity and acceleration of the position: bounds, from the control points.
void bounds(const BezierPath& path, double& velocity, double& acceleration) noexcept {
  velocity = acceleration = 0.0;
  const int n = path.degree, d = path.dimension;
  for (int p = 0; p < path.pieces(); ++p) {
    const double h = path.breaks[p + 1] - path.breaks[p];
    const auto point = [&](int j) { return Eigen::Map<const Eigen::Vector3d>(path.piece(p) + j * d); };
    for (int j = 0; j < n; ++j) velocity = std::max(velocity, n / h * (point(j + 1) - point(j)).norm());
    for (int j = 0; j + 1 < n; ++j)
      acceleration =
          std::max(acceleration, n * (n - 1) / (h * h) * (point(j + 2) - 2.0 * point(j + 1) + point(j)).norm());
  }
}

/// True if the hand is in the workspace from the meeting until it has closed.
bool may_grasp(const InterceptionSettings& settings, const Eigen::Vector3d& goal, const Eigen::Vector3d& v) noexcept {
  const Eigen::Vector3d end = goal + settings.closing_time * v;
  const auto low = settings.low.array(), high = settings.high.array();
  return (goal.array() >= low).all() && (end.array() >= low).all() && (goal.array() <= high).all() &&
         (end.array() <= high).all();
}

}  // namespace

Interceptor::Interceptor(std::shared_ptr<const FunctionalPlanner> planner, ConstantVelocityFilter filter,
                         InterceptionSettings settings, const Eigen::Vector3d& start, const Eigen::Matrix3d& R,
                         const Eigen::Vector3d& goal_rotation)
    : planner_(std::move(planner)),
      filter_(std::move(filter)),
      settings_(std::move(settings)),
      rest_(planner_->dimension()),
      now_(rest_),
      goal_(rest_),
      wanted_(rest_),
      R_(R),
      goal_rotation_(goal_rotation) {
  if (planner_->dimension() != 3 && planner_->dimension() != 6)
    throw std::invalid_argument("interception needs a planner of positions or poses, got one of " +
                                std::to_string(planner_->dimension()) + " coordinates");
  if (settings_.order > planner_->settings().order)
    throw std::invalid_argument("the planner must have constraints up to the order of continuity");
  rest_.x.head<3>() = start;
  const BezierPath room(planner_->dimension(), BezierPath::kMaxDegree, planner_->model().pieces() + 1);
  path_.path = candidate_.path = room;
  plans_.reserve(kMostPlans);
  reset();
}

void Interceptor::reset() noexcept {
  filter_.reset();
  hermite(rest_, rest_, 3, 0.0, 1.0, path_.path);
  path_.fallback = false;
  arrival_ = std::numeric_limits<double>::infinity();
  goal_ = rest_;
  frame_goal_ = rest_.x;
  last_valid_ = last_update_ = frequency_ = old_frequency_ = 0.0;
  clock_ = -std::numeric_limits<double>::infinity();
  phase_ = Phase::waiting;
  reason_ = Reason::no_estimate;
  pending_reason_ = Reason::none;
  plans_.clear();
}

void Interceptor::archive(StateArchive& state) {
  state(filter_, now_, goal_, wanted_, frame_goal_, path_, tau_, stretch_start_, stretch_, arrival_, clock_, last_valid_, invalid_since_);
  state(last_update_, frequency_, old_frequency_);
  state.bounded(phase_, 0.0, static_cast<double>(Phase::aborted));
  for (Reason* reason : {&reason_, &pending_reason_}) state.bounded(*reason, 0.0, static_cast<double>(Reason::too_late));
  plans_.resize(state.count(plans_.size(), 9, kMostPlans));
  for (PlannedArrival& plan : plans_) state(plan.time, plan.arrival, plan.goal, plan.velocity, plan.fallback);
}

FilterUpdate Interceptor::measure(double now, double taken, const Eigen::Vector3d& position) noexcept {
  if (!std::isfinite(now)) return FilterUpdate::invalid;
  now = std::max(now, clock_);  // motion already executed is not replanned
  if (phase_ == Phase::reaching) now = std::max(now, stretch_start_);
  if (taken > now) return FilterUpdate::invalid;  // not from the future
  const FilterUpdate update = filter_.update(taken, position);
  if (update == FilterUpdate::accepted || update == FilterUpdate::late || update == FilterUpdate::reinitialized) {
    if (filter_.updates() >= settings_.least_updates) last_valid_ = now;
    old_frequency_ = frequency_;
    if (now > last_update_) frequency_ = 1.0 / std::max(now - last_update_, kShortestInterval);
    if (filter_.updates() <= 3) old_frequency_ = frequency_;  // no two intervals yet
    last_update_ = now;
    consider(now);
  }
  return update;
}

void Interceptor::advance(double now) noexcept {
  clock_ = now = std::max(now, clock_);
  if (phase_ == Phase::reaching && !frozen(now) && now - last_valid_ > settings_.longest_silence) abort(now, Reason::silent);
  if (phase_ == Phase::reaching && frozen(now) && pending_reason_ != Reason::none) abort(now, pending_reason_);
  if (phase_ == Phase::reaching && now >= arrival_) phase_ = Phase::closing;
  if (phase_ == Phase::closing && now >= arrival_ + settings_.closing_time)
    leave(arrival_ + settings_.closing_time);  // at that time even if the loop is late: the hand moves no farther
  if (phase_ == Phase::leaving && now >= path_.path.end()) phase_ = Phase::finished;
}

void Interceptor::at(double t, TaskReference& reference) const noexcept {
  path_reference(path_.path, R_, t, reference);
  if (phase_ != Phase::closing && !(phase_ == Phase::reaching && t > arrival_)) return;
  reference.p = goal_.x.head<3>() + (t - arrival_) * goal_.v.head<3>();  // along with the object
  reference.xi.head<3>() = goal_.v.head<3>();
  reference.xi_dot.setZero();
}

bool Interceptor::target_now(double now, MovingTarget& target) const noexcept {
  if (!filter_.started() || filter_.updates() < settings_.least_updates) return false;
  const auto x = filter_.at(now);
  target = {now, x.head<3>() + settings_.offset, x.tail<3>()};
  return x.allFinite();
}

InterceptionReason Interceptor::refusal(const MovingTarget& target) const noexcept {
  const double speed = settings_.direction.dot(target.velocity);
  if (speed < -settings_.least_speed) return Reason::reversed;
  if (speed < settings_.least_speed) return Reason::stopped;
  return target.velocity.norm() > settings_.greatest_speed ? Reason::too_fast : Reason::none;
}

void Interceptor::consider(double now) noexcept {
  MovingTarget target;
  if (phase_ != Phase::waiting && phase_ != Phase::reaching) return;
  if (!target_now(now, target)) return;
  const Reason reason = refusal(target);
  if (phase_ == Phase::waiting) {
    reason_ = reason;
    if (reason == Reason::none) start(now, target);
  } else if (settings_.strategy != Strategy::single_shot && !frozen(now)) {
    doubt(now, reason != Reason::none ? reason : correct(now, target));
  }
}

/// One estimate may be wrong, and the current plan is safe: only lasting failures end it.
void Interceptor::doubt(double now, Reason reason) noexcept {
  if (pending_reason_ == Reason::none) invalid_since_ = now;
  pending_reason_ = reason;
  if (reason != Reason::none && now - invalid_since_ > settings_.patience) abort(now, reason);
}

void Interceptor::start(double now, const MovingTarget& target) noexcept {
  const double at_reference = arrival_time(settings_, target);
  if (at_reference - now > settings_.longest_reach) return;
  reason_ = plan_until(now, target, at_reference);
  if (reason_ != Reason::none) return;
  phase_ = Phase::reaching;
  last_valid_ = now;
}

InterceptionReason Interceptor::correct(double now, const MovingTarget& target) noexcept {
  if (!misses(settings_, target, goal_.x.head<3>(), arrival_)) return Reason::none;
  const double tau = std::min(tau_ + (now - stretch_start_) / stretch_, 1.0);
  path_.path.at(now, 0, now_.x.data());
  const ReplanSituation situation{now, arrival_, 1.0 - tau, now_.x.head<3>(), frequency_, old_frequency_};
  return plan_until(now, target, new_arrival(settings_, target, situation));
}

InterceptionReason Interceptor::plan_until(double now, const MovingTarget& target, double arrival) noexcept {
  state_at(now, now_);
  wanted_.v.head<3>() = target.velocity;
  if (wanted_.x.size() == 6) wanted_.x.tail<3>() = goal_rotation_;
  const double soonest = now + settings_.shortest_reach;
  const bool late = !(arrival >= soonest);
  if (late) arrival = soonest;
  Reason reason = Reason::out_of_reach;
  for (int k = 0; k < kTries; ++k, arrival += kLater) {
    const Eigen::Vector3d goal = target.at(arrival);
    if (!may_grasp(settings_, goal, target.velocity)) {
      if (settings_.direction.dot(goal - settings_.reference) <= 0.0) continue;  // not there yet
      return reason == Reason::out_of_reach && late ? Reason::too_late : reason;
    }
    wanted_.x.head<3>() = goal;
    make(now, arrival);
    reason = check();
    if (reason != Reason::none) continue;
    adopt(now, arrival);
    return reason;
  }
  return reason;
}

void Interceptor::make(double now, double arrival) noexcept {
  const double left = arrival - now;
  candidate_.condition = planner_->condition();
  candidate_.fallback = path_.fallback;
  if (phase_ == Phase::waiting) {
    candidate_tau_ = 0.0;
    candidate_stretch_ = left;
    frame_goal_ = wanted_.x;
    BezierPath& path = candidate_.path;
    path.dimension = planner_->dimension();
    path.degree = planner_->model().degree;
    path.points.resize(static_cast<std::size_t>(planner_->model().rows() * path.dimension));
    path.breaks.resize(planner_->model().breaks.size());
    planner_->connect(now_, wanted_, now, left, path, 0);
    return;
  }
  candidate_tau_ = std::min(tau_ + (now - stretch_start_) / stretch_, kLastTau);
  candidate_stretch_ = left / (1.0 - candidate_tau_);
  planner_->resume({path_.path, now, candidate_tau_, rest_.x, frame_goal_}, wanted_, left, settings_.order,
                   {settings_.max_condition_number}, candidate_);
}

InterceptionReason Interceptor::check() const noexcept {
  double velocity, acceleration;
  bounds(candidate_.path, velocity, acceleration);
  const bool within = velocity <= settings_.velocity_limit && acceleration <= settings_.acceleration_limit;
  return within ? Reason::none : Reason::too_fast;  // NaN is not within
}

void Interceptor::adopt(double now, double arrival) noexcept {
  std::swap(path_, candidate_);
  tau_ = candidate_tau_;
  stretch_start_ = now;
  stretch_ = candidate_stretch_;
  arrival_ = arrival;
  std::swap(goal_, wanted_);
  if (plans_.size() < kMostPlans)
    plans_.push_back({now, arrival, goal_.x.head<3>(), goal_.v.head<3>(), path_.fallback});
}

void Interceptor::state_at(double t, BoundaryState& state) const noexcept {
  path_.path.at(t, 0, state.x.data());
  path_.path.at(t, 1, state.v.data());
  path_.path.at(t, 2, state.a.data());
}

void Interceptor::abort(double now, Reason reason) noexcept {
  state_at(now, now_);
  const double duration = std::max(kShortestStop, 1.5 * now_.v.head<3>().norm() / settings_.braking);
  wanted_.x = now_.x + 0.5 * duration * now_.v;
  wanted_.v.setZero();
  wanted_.a.setZero();
  hermite(now_, wanted_, 3, now, duration, path_.path);
  phase_ = Phase::aborted;
  reason_ = reason;
}

void Interceptor::leave(double now) noexcept {
  now_ = goal_;
  now_.x.head<3>() += (now - arrival_) * goal_.v.head<3>();
  wanted_.x = now_.x + 0.5 * settings_.leave_time * goal_.v;
  wanted_.x[2] += settings_.lift;
  wanted_.v.setZero();
  wanted_.a.setZero();
  hermite(now_, wanted_, 3, now, settings_.leave_time, path_.path);
  phase_ = Phase::leaving;
}

void ScheduledInterception::advance(double t) noexcept {
  if (!(t > now_)) return;
  for (; next_ < measurements_.size() && measurements_[next_].available <= t; ++next_)
    interceptor_->measure(std::max(measurements_[next_].available, now_), measurements_[next_].taken,
                          measurements_[next_].position);
  interceptor_->advance(t);
  now_ = t;
}

}  // namespace thunder
