// Modified adaptive computed torque in joint space (D4.2, eqs. 63 and 64).
#pragma once

#include "adaptive_controller.hpp"
#include "prediction_error.hpp"

namespace thunder {

class MACT final : public AdaptiveController<JointReference> {
 public:
  /// K_p and K_d: n x n, symmetric positive definite.
  MACT(AdaptiveModel adaptive_model, PredictionError prediction_error, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d);

  void reset() noexcept override;
  void archive(StateArchive& state) override {
    AdaptiveController::archive(state);
    state(prediction_error_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;
  void freeze() noexcept override;

 private:
  PredictionError prediction_error_;
  Eigen::MatrixXd K_p_;
  Eigen::VectorXd e_, e_dot_;
};

}  // namespace thunder
