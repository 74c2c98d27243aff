#include "thunder/realtime/joint_follower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "thunder/planning/trajectory/joint_trajectory.hpp"

namespace thunder::realtime {

namespace {

constexpr double kRest = 1e-3;          // largest final speed of a motion that ends at rest [rad/s or m/s]
constexpr double kJoining = 0.25;       // time over which a difference of velocities fades; the shortest for positions [s]
constexpr double kSteepest = 15.0;      // of a fading difference's first acceleration, in speeds per that time
constexpr double kNoJump = 1e-9;        // smallest difference that is joined [rad or m, and per second]
constexpr double kSmallJump = 1e-2;     // smallest difference whose path is checked
constexpr double kPeakOverMean = 1.875; // speed of a quintic from rest to rest
constexpr double kSlack = 1.001;        // of velocity limits
constexpr double kLeash = 0.05;         // distance from the arm after an interruption, in speeds [s]
constexpr double kSame = 1e-6;          // largest difference of a motion that continues another [rad or m, and per second]
constexpr double kImminent = 0.02;      // a motion that begins sooner is joined as if it had begun: a lead would be abrupt [s]
constexpr int kInstants = 40;           // at which a path is checked

/// Takes expressions, for a conversion to a vector would allocate.
template <typename Derived>
double largest(const Eigen::MatrixBase<Derived>& x) noexcept {
  return x.cwiseAbs().maxCoeff();
}

void archive_reference(StateArchive& state, JointReference& r) { state(r.q, r.dq, r.ddq); }

/// Motions through points only: other sources have a state of their own.
void archive_motion(StateArchive& state, int n, std::unique_ptr<JointMotion>& motion) {
  bool given = motion != nullptr;
  state(given);
  if (state.reading()) motion = given ? std::make_unique<JointMotion>(0.0, 0.0, nullptr, JointReference(n), JointReference(n)) : nullptr;
  if (!given) return;
  const auto* const trajectory = dynamic_cast<const JointTrajectory*>(motion->source.get());
  if (motion->source != nullptr && trajectory == nullptr) throw std::invalid_argument("a motion must be a trajectory to be copied");
  std::vector<double> breaks, coefficients;
  if (trajectory != nullptr) {
    breaks = trajectory->polynomial().breaks();
    coefficients = trajectory->polynomial().coefficients();
  }
  state(motion->start, motion->end, breaks, coefficients);
  archive_reference(state, motion->first);
  archive_reference(state, motion->last);
  if (state.reading() && !breaks.empty())
    motion->source = std::make_shared<JointTrajectory>(PiecewisePolynomial(std::move(breaks), std::move(coefficients), n));
}

}  // namespace

JointMotion::JointMotion(double from, double to, std::shared_ptr<JointReferenceSource> by, JointReference at_start,
                         JointReference at_end)
    : start(from), end(to), source(std::move(by)), first(std::move(at_start)), last(std::move(at_end)) {}

JointMotion::JointMotion(double from, std::shared_ptr<JointReferenceSource> by)
    : JointMotion(from, std::numeric_limits<double>::infinity(), by, by->blank(), by->blank()) {
  source->at(start, first);
}

bool JointMotion::rests() const noexcept { return largest(last.dq) < kRest; }

void JointMotion::at(double t, JointReference& reference) const noexcept {
  if (source != nullptr && t >= start && t < end) return source->at(t, reference);
  const bool before = source != nullptr && t < start;
  const double moves = before ? 1.0 : 0.0, h = before ? t - start : 0.0;
  reference.q = before ? first.q : last.q;
  reference.q += h * (first.dq + 0.5 * h * first.ddq);
  reference.dq = moves * first.dq + h * first.ddq;
  reference.ddq = moves * first.ddq;
}

void JointMotion::advance(double t) noexcept {
  if (source != nullptr && t < end) source->advance(t);
}

void JointQuintic::set(double start, double duration, const JointReference& from) noexcept {
  const double T = duration, T2 = T * T, T3 = T2 * T;
  start_ = start;
  end_ = start + duration;
  for (Eigen::Index i = 0; i < coefficients_.cols(); ++i) {
    const double x = from.q[i], v = from.dq[i], a = from.ddq[i];
    coefficients_.col(i) << x, v, 0.5 * a, -10.0 * x / T3 - 6.0 * v / T2 - 1.5 * a / T,
        15.0 * x / (T3 * T) + 8.0 * v / T3 + 1.5 * a / T2, -6.0 * x / (T3 * T2) - 3.0 * v / (T2 * T2) - 0.5 * a / T3;
  }
}

void JointQuintic::add_to(double t, JointReference& reference) const noexcept {
  if (t >= end_) return;
  const double h = t - start_;
  for (Eigen::Index i = 0; i < coefficients_.cols(); ++i) {
    double x = 0.0, dx = 0.0, half_ddx = 0.0;
    for (int k = 5; k >= 0; --k) {
      half_ddx = half_ddx * h + dx;
      dx = dx * h + x;
      x = x * h + coefficients_(k, i);
    }
    reference.q[i] += x;
    reference.dq[i] += dx;
    reference.ddq[i] += 2.0 * half_ddx;
  }
}

JointFollower::JointFollower(int n, MotionLimits limits, Eigen::VectorXd speed)
    : limits_(std::move(limits)),
      speed_(std::move(speed)),
      fade_{JointQuintic(n), JointQuintic(n)},
      next_(fade_),
      last_(n),
      was_(n),
      sample_(n),
      place_gap_(n),
      rates_gap_(n) {
  for (const Eigen::VectorXd* values : {&limits_.lower, &limits_.upper, &limits_.velocity, &speed_})
    if (values->size() != n) throw std::invalid_argument("limits and speed must have " + std::to_string(n) + " entries");
  if (!(speed_.array() > 0.0).all()) throw std::invalid_argument("speed must be positive");
}

void JointFollower::reset() noexcept {
  drop(Reason::no_reference);
  refused_ = 0;
}

std::unique_ptr<JointMotion> JointFollower::follow(std::unique_ptr<JointMotion> motion) noexcept {
  retire(std::move(pending_));
  pending_ = std::move(motion);
  return std::move(retired_);
}

std::unique_ptr<JointMotion> JointFollower::refuse(std::unique_ptr<JointMotion> motion) noexcept {
  retire(std::move(motion));
  return std::move(retired_);
}

void JointFollower::retire(std::unique_ptr<JointMotion> motion) noexcept {
  if (motion == nullptr) return;
  motion->next = std::move(retired_);
  retired_ = std::move(motion);
}

void JointFollower::drop(Reason why) noexcept {
  why_ = why;
  retire(std::move(pending_));
  retire(std::move(motion_));
  fades_ = has_last_ = interrupted_ = false;
}

const JointReference* JointFollower::at(double t, const double* q, const double* dq) noexcept {
  if (interrupted_) resume(t, q, dq);
  if (pending_ != nullptr) begin(std::move(pending_), t, q, dq);
  if (motion_ == nullptr) return nullptr;
  if (t > motion_->end && !motion_->rests()) {
    drop(Reason::reference_ended);
    return nullptr;
  }
  motion_->advance(t);
  if (!has_last_) {
    measure(q, dq);
    motion_->at(t, sample_);
    was_.ddq = sample_.ddq;
    if (!join(*motion_, t, false)) {
      ++refused_;
      drop(Reason::reference_ended);
      return nullptr;
    }
  }
  reference_at(t, last_);
  return &last_;
}

/// Starts a motion in place of the present one.
void JointFollower::begin(std::unique_ptr<JointMotion> motion, double t, const double* q, const double* dq) noexcept {
  measure(q, dq);
  const bool follows = motion_ != nullptr && has_last_;
  if (follows) reference_at(t, was_);
  if (!(follows && continues(*motion, t)) && !join(*motion, t, false)) {
    ++refused_;
    return retire(std::move(motion));
  }
  retire(std::move(motion_));
  motion_ = std::move(motion);
}

/// True if the present motion could be followed instead, so that its fading difference can fade on: in a stream of segments
/// it would begin to fade anew with each of them.
bool JointFollower::continues(const JointMotion& motion, double t) noexcept {
  if (!fades_ || t >= fade_.place.end() || motion.start - t > kImminent) return false;
  motion_->at(t, place_gap_);
  motion.at(t, sample_);
  return std::max(largest(place_gap_.q - sample_.q), largest(place_gap_.dq - sample_.dq)) < kSame &&
         fits(motion, t, fade_, false);
}

/// Goes on after an interruption, in which the reference moved on and the arm did not follow it.
///
/// The reference is where it would be without, and what fades has faded on, unless that is too far from the arm for the
/// controller. Then it begins nearer, and the part that is left fades as well.
void JointFollower::resume(double t, const double* q, const double* dq) noexcept {
  interrupted_ = false;
  if (motion_ == nullptr || !has_last_) return;
  if (t > motion_->end && !motion_->rests()) {
    has_last_ = false;  // what comes next begins at the arm
    return;
  }
  motion_->advance(t);
  reference_at(t, was_);
  bool far = false;
  for (Eigen::Index i = 0; i < speed_.size(); ++i) {
    const double leash = kLeash * speed_[i];
    const double place = std::clamp(was_.q[i], q[i] - leash, q[i] + leash);
    const double rate = std::clamp(was_.dq[i], dq[i] - speed_[i], dq[i] + speed_[i]);
    far = far || place != was_.q[i] || rate != was_.dq[i];
    was_.q[i] = place;
    was_.dq[i] = rate;
  }
  if (far) has_last_ = join(*motion_, t, true);
}

/// The arm as what was before a motion.
void JointFollower::measure(const double* q, const double* dq) noexcept {
  was_.q = Eigen::Map<const Eigen::VectorXd>(q, was_.q.size());
  was_.dq = Eigen::Map<const Eigen::VectorXd>(dq, was_.dq.size());
  was_.ddq.setZero();
}

/// Joins a motion to what was before by a fading difference; false where that would leave the limits.
///
/// A difference to a motion of the future fades until then. Else one of positions fades with at most the given speed. One of
/// velocities and accelerations fades over the shortest time, because it would lead far away otherwise; a larger acceleration
/// jumps. If what was before `keeps` its pace, positions begin to fade with the velocity at which they are fading, as far as the
/// quintic stays monotone and within the speed: at the start of a quintic to rest at zero over T from g with a velocity
/// towards zero, that is up to kPeakOverMean |g| / T.
bool JointFollower::join(const JointMotion& motion, double t, bool keeps) noexcept {
  const double ahead = motion.start - t;
  const bool leads = ahead > kImminent;
  motion.at(t, sample_);
  place_gap_.q = was_.q - sample_.q;
  place_gap_.dq.setZero();
  place_gap_.ddq.setZero();
  rates_gap_.dq = was_.dq - sample_.dq;
  rates_gap_.ddq = was_.ddq - sample_.ddq;
  const double most = std::max(largest(place_gap_.q), largest(rates_gap_.dq));
  const double longest = (place_gap_.q.array().abs() / speed_.array()).maxCoeff();
  const double duration = leads ? ahead : std::max(kJoining, kPeakOverMean * longest);
  for (Eigen::Index i = 0; i < speed_.size() && !leads; ++i) {
    const double steepest = kSteepest * speed_[i] / kJoining, most_rate = -kPeakOverMean * place_gap_.q[i] / duration;
    rates_gap_.ddq[i] = std::clamp(rates_gap_.ddq[i], -steepest, steepest);
    if (keeps) place_gap_.dq[i] = std::clamp(rates_gap_.dq[i], std::min(most_rate, 0.0), std::max(most_rate, 0.0));
    rates_gap_.dq[i] -= place_gap_.dq[i];
  }
  next_.place.set(t, duration, place_gap_);
  next_.rates.set(t, leads ? ahead : kJoining, rates_gap_);
  if ((leads || most > kSmallJump) && !fits(motion, t, next_, leads)) return false;
  std::swap(fade_, next_);
  fades_ = leads || most > kNoJump;
  last_ = was_;
  return has_last_ = true;
}

/// True if a motion with a difference that fades is within the position limits, or not further beyond them than at its start;
/// one that leads to it is within those of velocities, too.
bool JointFollower::fits(const JointMotion& motion, double t, const Fade& fade, bool leads) noexcept {
  for (int k = 0; k < kInstants; ++k) {
    const double at = t + (fade.place.end() - t) * k / (kInstants - 1);
    motion.at(at, sample_);
    fade.place.add_to(at, sample_);
    fade.rates.add_to(at, sample_);
    for (Eigen::Index i = 0; i < speed_.size(); ++i) {
      const double slack = leads ? 0.0 : kSmallJump;
      const double low = std::min(limits_.lower[i], was_.q[i]) - slack, high = std::max(limits_.upper[i], was_.q[i]) + slack;
      if (!(sample_.q[i] >= low && sample_.q[i] <= high)) return false;
      if (leads && std::abs(sample_.dq[i]) > kSlack * limits_.velocity[i]) return false;
    }
  }
  return true;
}

/// What is followed at time t, with what fades.
void JointFollower::reference_at(double t, JointReference& reference) const noexcept {
  motion_->at(t, reference);
  if (!fades_) return;
  fade_.place.add_to(t, reference);
  fade_.rates.add_to(t, reference);
}

void JointFollower::archive(StateArchive& state) {
  const int n = static_cast<int>(speed_.size());
  archive_motion(state, n, pending_);
  archive_motion(state, n, motion_);
  state(fade_.place, fade_.rates, fades_, has_last_, interrupted_);
  archive_reference(state, last_);
  state.bounded(why_, 0.0, kReasons - 1);
  archive_count(state, refused_);
}

}  // namespace thunder::realtime
