#include "thunder/control/hold.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/control/brake.hpp"

namespace thunder {

namespace {

constexpr double kHoldRate = 30.0;  // of errors and of the handover [1/s]; as the ROS nodes' hold
constexpr double kStop = 0.1;           // q_h goes on for this time times its first velocity, which is 2 / b [s]
constexpr double kShortestStopAtLimit = 1e-3;  // the same for a joint at its limit
constexpr double kLongestSettling = 0.05;  // [s]
constexpr double kRestingSpeed = 0.05;    // below this s and the velocity of the motion that comes to rest [rad/s or m/s]
constexpr double kLoadShare = 0.1;   // rate of the load's estimate: slow, because the load's inertia is unknown too

}  // namespace

using Eigen::Map;
using Eigen::VectorXd;

Hold::Hold(int n)
    : rate_(kHoldRate),
      q_0_(VectorXd::Zero(n)),
      dq_0_(q_0_),
      stop_(q_0_),
      dq_h_(q_0_),
      dq_r_(q_0_),
      ddq_r_(q_0_),
      s_(q_0_),
      offset_(q_0_),
      load_gain_(Eigen::MatrixXd::Zero(n, n)),
      load_(load_gain_, {}, n) {}

bool Hold::resting() const noexcept {
  return s_.lpNorm<Eigen::Infinity>() <= kRestingSpeed && dq_h_.lpNorm<Eigen::Infinity>() <= kRestingSpeed;
}

double Hold::rate(double period) noexcept {
  return std::min(kHoldRate, (period > 0.0 ? braking_rate(period) / 3.0 : kHoldRate));
}

void Hold::start(const Model& model, const double* q, const double* dq, const RowMajor& M, double rate,
                 bool knows_period) noexcept {
  reset();
  active_ = true;
  since_start_ = 0.0;
  q_0_ = Map<const VectorXd>(q, q_0_.size());
  dq_0_.setZero();
  if (dq) dq_0_ = Map<const VectorXd>(dq, q_0_.size());
  stop_within_limits(model.data());
  rate_ = rate;
  knows_period_ = knows_period;
  load_gain_ = M;
  load_gain_ *= 2.0 * kLoadShare * rate_ * rate_;
  load_.set_gain(load_gain_);
}

void Hold::stop_within_limits(const ModelData& model) noexcept {
  stop_.setConstant(kStop);
  for (Eigen::Index j = 0; j < stop_.size(); ++j) {
    const std::vector<double>& limits = dq_0_[j] > 0.0 ? model.upper : model.lower;
    if (limits.empty() || dq_0_[j] == 0.0) continue;
    stop_[j] = std::clamp((limits[j] - q_0_[j]) / dq_0_[j], kShortestStopAtLimit, kStop);
  }
}

void Hold::advance(double t, const double* q_, const double* dq_, const VectorXd& last_torque,
                   const VectorXd& torque_limits) noexcept {
  const Map<const VectorXd> q(q_, q_0_.size()), dq(dq_, q_0_.size());
  since_start_ += clock_.advance(t);
  for (Eigen::Index j = 0; j < stop_.size(); ++j) {
    const double b = 2.0 / stop_[j], x = b * since_start_, decay = std::exp(-x);
    const double q_h = q_0_[j] + dq_0_[j] * (2.0 - (2.0 + x) * decay) / b, ddq_h = -b * x * decay * dq_0_[j];
    dq_h_[j] = (1.0 + x) * decay * dq_0_[j];
    dq_r_[j] = dq_h_[j] + rate_ * (q_h - q[j]);
    s_[j] = dq_r_[j] - dq[j];
    ddq_r_[j] = ddq_h + rate_ * (dq_h_[j] - dq[j]) + 2.0 * rate_ * s_[j];
  }
  load_.advance(t, s_, last_torque, torque_limits);
}

void Hold::hand_over(double t, const VectorXd& last_torque, double* tau_) noexcept {
  Map<VectorXd> tau(tau_, offset_.size());
  const bool held = continues(t);
  const double dt = clock_.advance(t);
  offset_ *= std::exp(-kHoldRate * dt);
  settling_ = held ? std::min(since_start_ + dt, kLongestSettling) : std::max(settling_ - dt, 0.0);
  if (held && resting())
    offset_ = last_torque - tau;
  else if (held)
    offset_ = load_.torque();
  active_ = false;
  if (offset_.isZero(1e-9))
    offset_.setZero();
  else
    tau += offset_;
}

void Hold::reset() noexcept {
  active_ = false;
  settling_ = 0.0;
  offset_.setZero();
  load_.reset();
  clock_.reset();
}

void Hold::archive(StateArchive& state) {
  state(active_, knows_period_, rate_, since_start_, settling_, q_0_, dq_0_, stop_, dq_h_, s_, offset_, load_gain_, load_, clock_);
  if (state.reading()) load_.set_gain(load_gain_);
}

}  // namespace thunder
