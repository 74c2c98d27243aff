// Modified adaptive computed torque in task space (D4.2, eqs. 68 and 69, corrected: errata D-12).
#pragma once

#include "adaptive_controller.hpp"
#include "control_task.hpp"
#include "prediction_error.hpp"

namespace thunder {

class CartesianMACT final : public AdaptiveController<TaskReference> {
 public:
  /// K_p: m x m for the m rows of the task. `task.null_space.K_d` is the law's own.
  CartesianMACT(AdaptiveModel adaptive_model, PredictionError prediction_error, TaskSetup task,
                const Eigen::MatrixXd& K_p);

  void reset() noexcept override;
  void archive(StateArchive& state) override {
    AdaptiveController::archive(state);
    state(prediction_error_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;
  void freeze() noexcept override;

 private:
  PredictionError prediction_error_;
  NullSpace null_space_;
  ControlTask motion_;
  Matrix6d K_p_;
  Eigen::VectorXd beta_, alpha_, s_;
};

}  // namespace thunder
