#include "thunder/control/parameter_estimator.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

ParameterEstimator::ParameterEstimator(AdaptiveModel model, PredictionError prediction_error, Eigen::MatrixXd K_d)
    : model_(std::move(model)),
      prediction_error_(std::move(prediction_error)),
      K_d_(std::move(K_d)),
      dynamics_(model_.nominal()),
      chain_(*model_.nominal()),
      M_(RowMajor::Zero(n(), n())) {
  for (VectorXd* v : {&q_, &dq_, &measured_, &v_, &s_, &v_dot_, &tau_, &torque_}) v->setZero(n());
}

void ParameterEstimator::reset() noexcept {
  model_.reset();
  restart();
}

void ParameterEstimator::restart() noexcept {
  model_.freeze();
  prediction_error_.restart();
  clock_.reset();
  s_.setZero();
  excess_ = 1.0;
}

Status ParameterEstimator::step(double t, const double* q_now, const double* dq_now, const double* tau,
                                double hold) noexcept {
  const Map<const VectorXd> q(q_now, n()), dq(dq_now, n()), torque(tau, n());
  const bool recent = clock_.recent(t);
  if (!(std::isfinite(t) && q.allFinite() && dq.allFinite() && torque.allFinite())) {
    restart();
    return Status::invalid_input;
  }
  double dt = clock_.advance(t);
  tau_ = measured_ + 0.5 * std::max(1.0 - hold / dt, 0.0) * (torque - measured_);  // mean since the last step
  if (!recent || dt == 0.0) {
    restart();
    dt = clock_.advance(t);
    v_ = dq;
  } else if (K_d_.size() != 0) {
    track(dt);
  }
  if (!model_.advance(t)) return Status::diverged;
  prediction_error_.update(t, q_now, dq_now, tau_);
  prediction_error_.adapt(model_);
  q_ = q;
  dq_ = dq;
  measured_ = torque;
  if (K_d_.size() != 0) s_ = v_ - dq_;
  return Status::ok;
}

/// Moves v over the step that ends now, and prepares the adaptation along it. Implicit in K_d, and so stable with any.
void ParameterEstimator::track(double dt) noexcept {
  kernels().mass_matrix(chain_.with(*model(), model_.estimate().data()), dynamics_.work(), q_.data(), M_.data());
  v_dot_.setZero();
  model_.torque(q_.data(), dq_.data(), v_.data(), v_dot_.data(), torque_.data());
  v_dot_ = tau_ - torque_;
  add_product(K_d_, s_.data(), v_dot_.data(), -1.0);
  M_ += dt * K_d_;
  if (!factor_positive_definite(n(), M_.data())) return model_.mark_diverged();
  solve_positive_definite(n(), M_.data(), v_dot_.data());
  model_.torque(q_.data(), dq_.data(), v_.data(), v_dot_.data(), torque_.data());
  model_.adapt(s_.data());
  excess_ = 1.0 / model_.limit_rate(K_d_, 1.0 / dt);  // of Euler's rule
  v_ += dt * v_dot_;
}

}  // namespace thunder
