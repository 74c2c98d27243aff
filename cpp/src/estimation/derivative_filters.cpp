#include "thunder/estimation/derivative_filters.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

double checked_cutoff(double cutoff) {
  if (!(cutoff > 0.0) || !std::isfinite(cutoff))
    throw std::invalid_argument("cutoff must be positive and finite, got " + std::to_string(cutoff));
  return cutoff;
}

}  // namespace

DerivativeEstimator::DerivativeEstimator(int width, double cutoff)
    : cutoff_(cutoff), dq_(Eigen::VectorXd::Zero(width)), ddq_(dq_), last_(dq_), between_(dq_) {}

void DerivativeEstimator::reset() noexcept {
  started_ = false;
  missing_ = 0;
  dq_.setZero();
  ddq_.setZero();
}

void DerivativeEstimator::archive(StateArchive& state) {
  state(dq_, ddq_, dt_, started_, last_);
  state.bounded(missing_, 0.0, kLongestGap + 1.0);
}

void DerivativeEstimator::require_period(double dt) const {
  if (cutoff_ * dt >= 0.5)
    throw std::invalid_argument("cutoff must be below half of the sampling rate, " + std::to_string(0.5 / dt) +
                                " Hz, got " + std::to_string(cutoff_));
}

void DerivativeEstimator::step(double dt, const double* values) noexcept {
  const Sample q(values, width());
  if (!q.allFinite()) {
    if (missing_ <= kLongestGap) ++missing_;
    return;
  }
  if (dt > 0.0 && dt != dt_) {
    dt_ = dt;
    prepare(dt);
  }
  if (!started_ || missing_ > kLongestGap)
    restart(q);
  else if (dt > 0.0)
    fill_gap(q);
  missing_ = 0;
  last_ = q;
  if (dt > 0.0) advance(q);
}

void DerivativeEstimator::restart(const Sample& q) noexcept {
  dq_.setZero();
  ddq_.setZero();
  start(q);
  started_ = true;
}

/// One long step in place of many short ones would need other coefficients, and could not show the cutoff.
void DerivativeEstimator::fill_gap(const Sample& q) noexcept {
  for (int k = 1; k <= missing_; ++k) {
    between_ = last_ + (q - last_) * (static_cast<double>(k) / (missing_ + 1));
    advance(Sample(between_.data(), width()));
  }
}

FirstOrderDerivative::FirstOrderDerivative(int width, double cutoff)
    : DerivativeEstimator(width, checked_cutoff(cutoff)), q_(dq_), dq_before_(dq_) {}

void FirstOrderDerivative::prepare(double dt) noexcept {
  const double tangent = std::tan(kPi * cutoff_ * dt);
  pole_ = (1.0 - tangent) / (1.0 + tangent);
  gain_ = 2.0 / dt * tangent / (1.0 + tangent);
}

void FirstOrderDerivative::advance(const Sample& q) noexcept {
  dq_before_ = dq_;
  dq_ = pole_ * dq_ + gain_ * (q - q_);
  ddq_ = pole_ * ddq_ + gain_ * (dq_ - dq_before_);
  q_ = q;
}

ButterworthDerivative::ButterworthDerivative(int width, double cutoff)
    : DerivativeEstimator(width, checked_cutoff(cutoff)) {
  for (Eigen::VectorXd* past : {&q1_, &q2_, &dq1_, &dq2_, &ddq1_, &ddq2_}) past->setZero(width);
}

void ButterworthDerivative::prepare(double dt) noexcept {
  const double tangent = std::tan(kPi * cutoff_ * dt), square = tangent * tangent;
  const double scale = 1.0 / (1.0 + std::sqrt(2.0) * tangent + square);
  a1_ = 2.0 * (square - 1.0) * scale;
  a2_ = (1.0 - std::sqrt(2.0) * tangent + square) * scale;
  velocity_gain_ = 2.0 / dt * square * scale;
  acceleration_gain_ = 4.0 / (dt * dt) * square * scale;
}

void ButterworthDerivative::start(const Sample& q) noexcept {
  q1_ = q2_ = q;
  for (Eigen::VectorXd* past : {&dq1_, &dq2_, &ddq1_, &ddq2_}) past->setZero();
}

void ButterworthDerivative::advance(const Sample& q) noexcept {
  dq_ = velocity_gain_ * (q - q2_) - a1_ * dq1_ - a2_ * dq2_;
  ddq_ = acceleration_gain_ * ((q - q1_) - (q1_ - q2_)) - a1_ * ddq1_ - a2_ * ddq2_;
  q2_ = q1_;
  q1_ = q;
  dq2_ = dq1_;
  dq1_ = dq_;
  ddq2_ = ddq1_;
  ddq1_ = ddq_;
}

SavitzkyGolayDerivative::SavitzkyGolayDerivative(int width, int window, int order)
    : DerivativeEstimator(width, 0.0),
      order_(order),
      first_(Eigen::VectorXd::Zero(window > 0 ? window : 0)),
      second_(first_),
      samples_(Eigen::MatrixXd::Zero(width, first_.size())) {
  if (order < 1 || window <= order)
    throw std::invalid_argument("window must be more than order, and order at least 1; got window " +
                                std::to_string(window) + " and order " + std::to_string(order));
  // abscissae from -1 (oldest) to 0: the columns stay of one size
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(window, -1.0, 0.0);
  Eigen::MatrixXd powers = Eigen::MatrixXd::Ones(window, order + 1);
  for (int k = 1; k <= order; ++k) powers.col(k) = powers.col(k - 1).cwiseProduct(x);
  const Eigen::MatrixXd fit = least_squares_inverse(powers);
  const double step = 1.0 / (window - 1);
  first_ = fit.row(1) * step;
  if (order >= 2) second_ = fit.row(2) * (2.0 * step * step);
}

void SavitzkyGolayDerivative::advance(const Sample& q) noexcept {
  samples_.col(next_) = q;
  next_ = next_ + 1 == samples_.cols() ? 0 : next_ + 1;
  const Eigen::Index older = samples_.cols() - next_;  // columns next_ .. end, then 0 .. next_
  // as differences to the newest sample: the weights sum to zero, and digits of a large angle would be lost
  dq_.setZero();
  ddq_.setZero();
  for (Eigen::Index k = 0; k < samples_.cols(); ++k) {
    const auto sample = samples_.col(k < older ? next_ + k : k - older);
    dq_ += first_[k] * (sample - q);
    ddq_ += second_[k] * (sample - q);
  }
  dq_ *= inverse_dt_;
  ddq_ *= inverse_dt_ * inverse_dt_;
}

}  // namespace thunder
