#include "thunder/control/hold.hpp"

#include <cmath>

namespace thunder {

namespace {

constexpr double kHoldRate = 30.0;  // of errors and of the handover [1/s]; as the ROS nodes' hold
constexpr double kLoadRate = 3.0;   // of the load's estimate [1/s]: slow, because the load's inertia is unknown too

}  // namespace

using Eigen::Map;
using Eigen::VectorXd;

Hold::Hold(int n)
    : q_h_(VectorXd::Zero(n)),
      dq_r_(q_h_),
      ddq_r_(q_h_),
      s_(q_h_),
      offset_(q_h_),
      load_gain_(Eigen::MatrixXd::Zero(n, n)),
      load_(load_gain_, {}, n) {}

void Hold::start(const double* q, const Eigen::MatrixXd& K_d, const RowMajor& M) noexcept {
  reset();
  active_ = true;
  q_h_ = Map<const VectorXd>(q, q_h_.size());
  load_gain_ = M;
  load_gain_ = kLoadRate * (K_d + kHoldRate * load_gain_);
  load_.set_gain(load_gain_);
}

void Hold::advance(double t, const double* q_, const double* dq_, const VectorXd& last_torque,
                   const VectorXd& torque_limits) noexcept {
  const Map<const VectorXd> q(q_, q_h_.size()), dq(dq_, q_h_.size());
  dq_r_ = kHoldRate * (q_h_ - q);
  s_ = dq_r_ - dq;
  ddq_r_ = kHoldRate * (s_ - dq);
  load_.advance(t, s_, last_torque, torque_limits);
}

void Hold::hand_over(double t, const VectorXd& last_torque, double* tau_) noexcept {
  Map<VectorXd> tau(tau_, offset_.size());
  offset_ *= std::exp(-kHoldRate * clock_.advance(t));
  if (active_) offset_ = last_torque - tau;
  active_ = false;
  if (offset_.isZero(1e-9))
    offset_.setZero();
  else
    tau += offset_;
}

void Hold::reset() noexcept {
  active_ = false;
  offset_.setZero();
  load_.reset();
  clock_.reset();
}

void Hold::archive(StateArchive& state) {
  state(active_, q_h_, offset_, load_gain_, load_, clock_);
  if (state.reading()) load_.set_gain(load_gain_);
}

}  // namespace thunder
