#include "thunder/realtime/joint_follower.hpp"

#include <algorithm>
#include <cmath>
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
constexpr int kInstants = 40, kPerPiece = 8;

/// Takes expressions, for a conversion to a vector would allocate.
template <typename Derived>
double largest(const Eigen::MatrixBase<Derived>& x) noexcept {
  return x.cwiseAbs().maxCoeff();
}

void set_zero(JointReference& r) noexcept {
  r.q.setZero();
  r.dq.setZero();
  r.ddq.setZero();
}

/// h before or after an instant with its acceleration.
void extrapolate(const JointReference& instant, double h, JointReference& reference) noexcept {
  reference.q = instant.q + h * (instant.dq + 0.5 * h * instant.ddq);
  reference.dq = instant.dq + h * instant.ddq;
  reference.ddq = instant.ddq;
}

void archive_reference(StateArchive& state, JointReference& r) { state(r.q, r.dq, r.ddq); }

/// Motions through points only: other sources have a state of their own.
void archive_motion(StateArchive& state, int n, std::unique_ptr<JointMotion>& motion) {
  bool given = motion != nullptr;
  state(given);
  if (state.reading()) motion.reset();
  if (!given) return;
  JointMotion::Parts parts = motion ? motion->parts() : JointMotion::Parts(n);
  state(parts.start, parts.end, parts.breaks, parts.coefficients);
  archive_reference(state, parts.first);
  archive_reference(state, parts.last);
  if (state.reading()) motion = std::make_unique<JointMotion>(std::move(parts));
}

std::shared_ptr<JointReferenceSource> make_source(JointMotion::Parts& parts) {
  if (parts.breaks.empty()) return nullptr;
  return std::make_shared<JointTrajectory>(
      PiecewisePolynomial(std::move(parts.breaks), std::move(parts.coefficients), parts.n));
}

}  // namespace

JointMotion::JointMotion(double start, double end, std::shared_ptr<JointReferenceSource> source, JointReference first,
                         JointReference last)
    : start_(start),
      end_(end),
      source_(std::move(source)),
      first_(std::move(first)),
      last_(std::move(last)),
      rests_(largest(last_.dq) < kRest) {}

JointMotion::JointMotion(double start, double end, std::shared_ptr<JointReferenceSource> source)
    : JointMotion(start, end, source, source->blank(), source->blank()) {
  source_->at(start, first_);
  if (std::isfinite(end)) source_->at(end, last_);
  rests_ = largest(last_.dq) < kRest;
}

JointMotion::JointMotion(Parts parts)
    : JointMotion(parts.start, parts.end, make_source(parts), std::move(parts.first), std::move(parts.last)) {}

JointMotion::JointMotion(const JointMotion& other)
    : JointMotion(other.start_, other.end_, other.source_, other.first_, other.last_) {}

JointMotion::Parts JointMotion::parts() const {
  Parts result(static_cast<int>(first_.q.size()));
  result.start = start_;
  result.end = end_;
  result.first = first_;
  result.last = last_;
  if (source_ == nullptr) return result;
  const auto* trajectory = dynamic_cast<const JointTrajectory*>(source_.get());
  if (trajectory == nullptr) throw std::invalid_argument("a motion must be a trajectory to be copied");
  result.breaks = trajectory->polynomial().breaks();
  result.coefficients = trajectory->polynomial().coefficients();
  return result;
}

void JointMotion::at(double t, JointReference& reference) const noexcept {
  if (source_ != nullptr && t < start_) return extrapolate(first_, t - start_, reference);
  if (source_ != nullptr && t < end_) return source_->at(t, reference);
  set_zero(reference);
  reference.q = last_.q;
}

void JointMotion::advance(double t) noexcept {
  if (source_ != nullptr && t < end_) source_->advance(t);
}

void JointQuintic::set(double start, double duration, const JointReference& from, const JointReference& to) noexcept {
  const double T = duration, T2 = T * T, T3 = T2 * T;
  start_ = start;
  end_ = start + duration;
  for (Eigen::Index i = 0; i < coefficients_.cols(); ++i) {
    const double D = to.q[i] - from.q[i], v0 = from.dq[i], v1 = to.dq[i], a0 = from.ddq[i], a1 = to.ddq[i];
    coefficients_.col(i) << from.q[i], v0, 0.5 * a0, 10.0 * D / T3 - (6.0 * v0 + 4.0 * v1) / T2 + (a1 - 3.0 * a0) / (2.0 * T),
        -15.0 * D / (T3 * T) + (8.0 * v0 + 7.0 * v1) / T3 + (1.5 * a0 - a1) / T2,
        6.0 * D / (T3 * T2) - 3.0 * (v0 + v1) / (T2 * T2) + (a1 - a0) / (2.0 * T3);
  }
}

void JointQuintic::add_to(double t, JointReference& reference) const noexcept {
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
      lead_(n),
      place_(n),
      rates_(n),
      next_lead_(n),
      next_place_(n),
      next_rates_(n),
      last_(n),
      was_(n),
      sample_(n),
      place_gap_(n),
      rates_gap_(n),
      zero_(n) {
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
  leads_ = fades_ = has_last_ = interrupted_ = false;
}

const JointReference* JointFollower::at(double t, const double* q, const double* dq) noexcept {
  if (interrupted_) resume(t, q, dq);
  if (pending_ != nullptr) begin(std::move(pending_), t, q, dq);
  if (motion_ == nullptr) return nullptr;
  if (t > motion_->end() && !motion_->rests()) {
    drop(Reason::reference_ended);
    return nullptr;
  }
  motion_->advance(t);
  if (!has_last_) {
    evaluate(*motion_, leads_, t, sample_);
    measure(q, dq);
    was_.ddq = sample_.ddq;
    if (!join(*motion_, leads_, t, false)) {
      ++refused_;
      drop(Reason::reference_ended);
      return nullptr;
    }
  }
  fades_ = fades_ && t < place_.end();
  reference_at(t, last_);
  return &last_;
}

/// Starts a motion in place of the present one.
void JointFollower::begin(std::unique_ptr<JointMotion> motion, double t, const double* q, const double* dq) noexcept {
  measure(q, dq);
  const bool follows = motion_ != nullptr && has_last_;
  if (follows) reference_at(t, was_);
  const double ahead = motion->start() - t;
  const bool leads = ahead > kImminent;
  if (leads) next_lead_.set(t, ahead, was_, motion->first());
  const bool joined = leads ? lead_fits() : (follows && continues(*motion, t)) || join(*motion, false, t, false);
  if (!joined) {
    ++refused_;
    return retire(std::move(motion));
  }
  retire(std::move(motion_));
  motion_ = std::move(motion);
  leads_ = leads;
  if (!leads) return;
  std::swap(lead_, next_lead_);
  fades_ = false;
  last_ = was_;
  has_last_ = true;
}

/// True if the present motion could be followed instead, so that its fading difference can fade on: in a stream of segments
/// it would begin to fade anew with each of them.
bool JointFollower::continues(const JointMotion& motion, double t) noexcept {
  if (!fades_ || t >= place_.end()) return false;
  evaluate(*motion_, leads_, t, place_gap_);
  evaluate(motion, false, t, sample_);
  return std::max(largest(place_gap_.q - sample_.q), largest(place_gap_.dq - sample_.dq)) < kSame &&
         fits(motion, false, t, place_, rates_);
}

/// Goes on after an interruption, in which the reference moved on and the arm did not follow it.
///
/// The reference is where it would be without, and what fades has faded on, unless that is too far from the arm for the
/// controller. Then it begins nearer, and the part that is left fades as well.
void JointFollower::resume(double t, const double* q, const double* dq) noexcept {
  interrupted_ = false;
  if (motion_ == nullptr || !has_last_) return;
  if (t > motion_->end() && !motion_->rests()) {
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
  if (far) has_last_ = join(*motion_, leads_, t, true);
}

/// The arm as what was before a motion.
void JointFollower::measure(const double* q, const double* dq) noexcept {
  was_.q = Eigen::Map<const Eigen::VectorXd>(q, was_.q.size());
  was_.dq = Eigen::Map<const Eigen::VectorXd>(dq, was_.dq.size());
  was_.ddq.setZero();
}

/// Joins a motion to what was before by a fading difference; false where that would leave the limits.
///
/// A difference of positions fades with at most the given speed. One of velocities and accelerations fades over the shortest
/// time, because it would lead far away otherwise; a larger acceleration jumps. If what was before `keeps` its pace, positions
/// begin to fade with the velocity at which they are fading, as far as the quintic stays monotone and within the speed: at the
/// start of a quintic to rest at zero over T from g with a velocity towards zero, that is up to kPeakOverMean |g| / T.
bool JointFollower::join(const JointMotion& motion, bool led, double t, bool keeps) noexcept {
  evaluate(motion, led, t, sample_);
  place_gap_.q = was_.q - sample_.q;
  rates_gap_.dq = was_.dq - sample_.dq;
  for (Eigen::Index i = 0; i < speed_.size(); ++i) {
    const double steepest = kSteepest * speed_[i] / kJoining;
    rates_gap_.ddq[i] = std::clamp(was_.ddq[i] - sample_.ddq[i], -steepest, steepest);
  }
  const double most = std::max(largest(place_gap_.q), largest(rates_gap_.dq));
  const bool fades = most > kNoJump;
  if (fades) {
    const double longest = (place_gap_.q.array().abs() / speed_.array()).maxCoeff();
    const double duration = std::max(kJoining, kPeakOverMean * longest);
    place_gap_.dq.setZero();
    place_gap_.ddq.setZero();
    for (Eigen::Index i = 0; keeps && i < speed_.size(); ++i) {
      const double most_rate = -kPeakOverMean * place_gap_.q[i] / duration;
      place_gap_.dq[i] = std::clamp(rates_gap_.dq[i], std::min(most_rate, 0.0), std::max(most_rate, 0.0));
    }
    rates_gap_.dq -= place_gap_.dq;
    next_place_.set(t, duration, place_gap_, zero_);
    next_rates_.set(t, kJoining, rates_gap_, zero_);
    if (most > kSmallJump && !fits(motion, led, t, next_place_, next_rates_)) return false;
    std::swap(place_, next_place_);
    std::swap(rates_, next_rates_);
  }
  fades_ = fades;
  last_ = was_;
  return has_last_ = true;
}

/// True if a motion with a difference that fades is within the position limits, or not further beyond them than at its start.
bool JointFollower::fits(const JointMotion& motion, bool led, double t, const JointQuintic& place,
                         const JointQuintic& rates) noexcept {
  for (int k = 0; k < kInstants; ++k) {
    const double at = t + (place.end() - t) * k / (kInstants - 1);
    evaluate(motion, led, at, sample_);
    add_fading(place, rates, at, sample_);
    for (Eigen::Index i = 0; i < speed_.size(); ++i) {
      const double low = std::min(limits_.lower[i], was_.q[i]) - kSmallJump;
      const double high = std::max(limits_.upper[i], was_.q[i]) + kSmallJump;
      if (!(sample_.q[i] >= low && sample_.q[i] <= high)) return false;
    }
  }
  return true;
}

bool JointFollower::lead_fits() noexcept {
  for (int k = 0; k <= kPerPiece; ++k) {
    set_zero(sample_);
    next_lead_.add_to(next_lead_.start() + (next_lead_.end() - next_lead_.start()) * k / kPerPiece, sample_);
    for (Eigen::Index i = 0; i < speed_.size(); ++i)
      if (!(sample_.q[i] >= limits_.lower[i] && sample_.q[i] <= limits_.upper[i]) ||
          std::abs(sample_.dq[i]) > kSlack * limits_.velocity[i])
        return false;
  }
  return true;
}

void JointFollower::evaluate(const JointMotion& motion, bool led, double t, JointReference& reference) const noexcept {
  if (!led || t >= lead_.end()) return motion.at(t, reference);
  set_zero(reference);
  lead_.add_to(t, reference);
}

/// What is followed at time t, with what fades.
void JointFollower::reference_at(double t, JointReference& reference) const noexcept {
  evaluate(*motion_, leads_, t, reference);
  if (fades_ && t < place_.end()) add_fading(place_, rates_, t, reference);
}

void JointFollower::add_fading(const JointQuintic& place, const JointQuintic& rates, double t,
                               JointReference& reference) noexcept {
  place.add_to(t, reference);
  if (t < rates.end()) rates.add_to(t, reference);
}

void JointFollower::archive(StateArchive& state) {
  const int n = static_cast<int>(speed_.size());
  archive_motion(state, n, pending_);
  archive_motion(state, n, motion_);
  state(lead_, place_, rates_, leads_, fades_, has_last_, interrupted_);
  archive_reference(state, last_);
  state.bounded(why_, 0.0, kReasons - 1);
  archive_count(state, refused_);
}

}  // namespace thunder::realtime
