// The estimate of an adaptive controller from measured motion and torque: adaptation without a reference and a command.
#pragma once

#include "../kinematics/status.hpp"
#include "../threads/exclusive.hpp"
#include "prediction_error.hpp"

namespace thunder {

/// Adapts along gamma W' R_t (y - W pihat) and, with a gain K_d, along Y' s, s = v - dq, where v is the reference velocity for
/// which the law of Slotine and Li would have commanded the measured torque:
///
///   Mhat v' + Chat v + Ghat + friction = tau - K_d s,   hence   M s' + (C + K_d) s = Y(q, dq, v, v') (pi - pihat).
class ParameterEstimator final : public Exclusive {
 public:
  /// K_d: n x n, symmetric positive definite, or empty. The prediction error needs a prediction, of any weight.
  ParameterEstimator(AdaptiveModel model, PredictionError prediction_error, Eigen::MatrixXd K_d);

  AdaptiveModel& adaptive_model() noexcept { return model_; }
  const std::shared_ptr<const Model>& model() const noexcept { return model_.nominal(); }
  int n() const noexcept { return dynamics_.n(); }
  /// State and torque at time t; the torque is held for `hold` seconds and then changes evenly to the next one. What is not
  /// finite, time that does not advance, and a pause of `StepClock::kLongestGap` restart the filters; the estimate stays.
  Status step(double t, const double* q, const double* dq, const double* tau, double hold = 0.0) noexcept;
  const PredictionError& prediction_error() const noexcept { return prediction_error_; }
  /// v - dq, zero without K_d.
  const Eigen::VectorXd& s() const noexcept { return s_; }
  /// How many times too long the last step was for its gains, 1 if it was not: the estimate moved by that much less.
  double excess() const noexcept { return std::max(model_.excess(), excess_); }
  void reset() noexcept;
  void archive(StateArchive& state) {
    state(model_, prediction_error_, clock_, q_, dq_, measured_, v_, s_);
  }

 private:
  void restart() noexcept;
  void track(double dt) noexcept;

  AdaptiveModel model_;
  PredictionError prediction_error_;
  Eigen::MatrixXd K_d_;
  Evaluator dynamics_;
  EstimatedChain chain_;
  StepClock clock_;
  RowMajor M_;
  Eigen::VectorXd q_, dq_, measured_, v_, s_, v_dot_, tau_, torque_;
  double excess_ = 1.0;
};

}  // namespace thunder
