// The part of an adaptation law that follows from y = W pi: gamma W' R_t (y - W pihat).
#pragma once

#include <memory>

#include "../math/dense.hpp"
#include "adaptive_model.hpp"
#include "clock.hpp"
#include "prediction.hpp"

namespace thunder {

class PredictionError {
 public:
  /// Without a prediction gamma is 0; with one it may be, and the error is known but does not count. R_t: n x n, symmetric positive definite.
  PredictionError(std::unique_ptr<Prediction> prediction, double gamma, const Eigen::MatrixXd& R_t)
      : prediction_(std::move(prediction)), weight_(gamma * R_t),
        largest_weight_(largest_eigenvalue(weight_)),
        error_(Eigen::VectorXd::Zero(R_t.rows())), weighted_(error_) {}

  /// Brings y and W to time t, up to which `tau` was applied.
  void update(double t, const double* q, const double* dq, const Eigen::VectorXd& tau) noexcept {
    if (prediction_) prediction_->update(clock_.advance(t), q, dq, tau.data());
  }
  /// Adapts the estimate along it, in addition to its other adaptation.
  void adapt(AdaptiveModel& model) noexcept {
    if (!prediction_) return;
    error_ = prediction_->y();
    error_.noalias() -= prediction_->W() * model.estimate();
    weighted_.setZero();
    add_product(weight_, error_.data(), weighted_.data());
    model.predict(prediction_->W(), weighted_, largest_weight_);
  }
  void restart() noexcept {
    clock_.reset();
    if (prediction_) prediction_->restart();
  }
  void archive(StateArchive& state) { state(prediction_, clock_, error_); }
  /// y - W pihat of the last `adapt`
  const Eigen::VectorXd& error() const noexcept { return error_; }
  const RowMajor& W() const noexcept { return prediction_->W(); }
  const Eigen::VectorXd& y() const noexcept { return prediction_->y(); }

 private:
  std::unique_ptr<Prediction> prediction_;
  StepClock clock_;
  Eigen::MatrixXd weight_;
  double largest_weight_;
  Eigen::VectorXd error_, weighted_;
};

}  // namespace thunder
