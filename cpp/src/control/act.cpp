#include "thunder/control/act.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ACT::ACT(AdaptiveModel adaptive_model, std::unique_ptr<Prediction> prediction, Form form, Gains gains)
    : AdaptiveController(std::move(adaptive_model), std::move(gains.damping)),
      prediction_(std::move(prediction)),
      form_(form),
      K_p_(std::move(gains.K_p)),
      K_v_(std::move(gains.K_v)),
      BtP_(gains.P.bottomRows(n())),
      chain_(*model()),
      M_(MatrixXd::Zero(n(), n())),
      x_(VectorXd::Zero(2 * n())) {
  for (VectorXd* v : {&e_, &e_dot_, &feedback_, &ddq_, &along_}) v->setZero(n());
  publish("error", e_.data(), joint_names());
  publish("s", e_dot_.data(), joint_names());
}

void ACT::reset() noexcept {
  AdaptiveController::reset();
  freeze();
}

void ACT::freeze() noexcept {
  AdaptiveController::freeze();
  clock_.reset();
  if (prediction_) prediction_->restart();
}

/// False where the estimated mass matrix is not positive definite: the law inverts it.
bool ACT::factorize(const double* q) noexcept {
  kernels().mass_matrix(chain_.with(*model(), adaptive_model_.estimate().data()), dynamics_.work(), q, M_.data());
  return factor_positive_definite(n(), M_.data());
}

/// pihat' = R^-1 Y' Mhat^-1 B' P x
void ACT::adapt() noexcept {
  x_ << e_, e_dot_;
  along_.setZero();
  add_product(BtP_, x_.data(), along_.data());
  solve_positive_definite(n(), M_.data(), along_.data());
  adaptive_model_.adapt_along(prediction_->W(), along_);
}

Status ACT::law(double t, const double* q_, const double* dq_, const JointReference& desired,
                double* tau_) noexcept {
  const Map<const VectorXd> q(q_, n()), dq(dq_, n());
  Map<VectorXd> tau(tau_, n());
  e_ = desired.q - q;
  e_dot_ = desired.dq - dq;
  if (!adaptive_model_.advance(t)) return Status::diverged;
  if (prediction_) prediction_->update(clock_.advance(t), q_, dq_, last_torque().data());
  if (prediction_ && !factorize(q_)) {
    adaptive_model_.mark_diverged();
    return Status::diverged;
  }
  feedback_.setZero();
  add_product(K_p_, e_.data(), feedback_.data());
  add_product(K_v_, e_dot_.data(), feedback_.data());
  ddq_ = desired.ddq;
  if (form_ == Form::craig) ddq_ += feedback_;
  adaptive_model_.torque(q_, dq_, dq_, ddq_.data(), tau_);  // Y(q, dq, ddq) pihat
  if (form_ == Form::impedance) tau += feedback_;
  if (prediction_) adapt();
  return Status::ok;
}

}  // namespace thunder
