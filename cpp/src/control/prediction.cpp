#include "thunder/control/prediction.hpp"

#include <cmath>
#include <stdexcept>

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

Prediction::Prediction(std::shared_ptr<const Model> model, double cutoff)
    : dynamics_(std::move(model)),
      lambda_(cutoff),
      W_(RowMajor::Zero(n(), dynamics_.model().parameter_count())),
      y_(VectorXd::Zero(n())) {
  if (!(cutoff > 0.0 && std::isfinite(cutoff))) throw std::invalid_argument("cutoff must be positive");
}

void Prediction::update(double dt, const double* q, const double* dq, const double* tau) noexcept {
  if (started_ && dt > 0.0) {
    const double decay = std::exp(-lambda_ * dt);
    y_ = decay * y_ + (1.0 - decay) * Map<const VectorXd>(tau, n());
    advance(dt, decay, q, dq);
  } else if (!started_) {
    start(q, dq);
    started_ = true;
  }
}

void Prediction::restart() noexcept {
  started_ = false;
  W_.setZero();
  y_.setZero();
}

FilteredAcceleration::FilteredAcceleration(std::shared_ptr<const Model> model, double cutoff)
    : Prediction(std::move(model), cutoff) {
  for (VectorXd* v : {&last_q_, &last_dq_, &q_, &dq_, &ddq_, &mean_ddq_}) v->setZero(n());
}

void FilteredAcceleration::start(const double* q, const double* dq) noexcept {
  q_ = last_q_ = Map<const VectorXd>(q, n());
  dq_ = last_dq_ = Map<const VectorXd>(dq, n());
  ddq_.setZero();
  weight_ = 0.0;
}

void FilteredAcceleration::advance(double dt, double decay, const double* q, const double* dq) noexcept {
  const Map<const VectorXd> now(q, n()), velocity(dq, n());
  const double gain = 1.0 - decay;
  weight_ = decay * weight_ + gain;
  ddq_ = decay * ddq_ + gain / dt * (velocity - last_dq_);  // the mean over the step, which tau was constant over
  q_ = decay * q_ + 0.5 * gain * (now + last_q_);
  dq_ = decay * dq_ + 0.5 * gain * (velocity + last_dq_);
  last_q_ = now;
  last_dq_ = velocity;
  mean_ddq_ = ddq_ / weight_;
  dynamics_.regressor(q_.data(), dq_.data(), mean_ddq_.data(), W_.data());
  W_ *= weight_;  // y has this total weight
}

FilteredRegressor::FilteredRegressor(std::shared_ptr<const Model> model, double cutoff)
    : Prediction(std::move(model), cutoff), P_(W_), F_(W_), last_P_(W_), last_F_(W_), G_(W_) {}

void FilteredRegressor::parts(const double* q, const double* dq) noexcept {
  dynamics_.momentum_regressors(q, dq, P_.data(), F_.data(), G_.data());
  F_ += lambda_ * P_ - G_;
}

void FilteredRegressor::start(const double* q, const double* dq) noexcept {
  parts(q, dq);
  last_P_.swap(P_);
  last_F_.swap(F_);
}

void FilteredRegressor::advance(double dt, double decay, const double* q, const double* dq) noexcept {
  parts(q, dq);
  // weights of F at the ends of the step, where it is taken as linear
  const double mean = (1.0 - decay) / (lambda_ * dt), before = mean - decay, after = 1.0 - mean;
  W_ = decay * W_ + lambda_ * (P_ - decay * last_P_) - after * F_ - before * last_F_;
  last_P_.swap(P_);
  last_F_.swap(F_);
}

}  // namespace thunder
