// Modified adaptive computed torque in task space (D4.2, eqs. 68 and 69, corrected: errata D-12).
#pragma once

#include "adaptive_controller.hpp"
#include "control_task.hpp"
#include "prediction_error.hpp"

namespace thunder {

class CartesianMACT final : public AdaptiveController<TaskReference> {
 public:
  /// K_xi: m x m for the m rows of the task. `task.null_space.K_d` is the law's K_v; its K_posture [1/s] is a speed.
  CartesianMACT(AdaptiveModel adaptive_model, PredictionError prediction_error, TaskSetup task,
                const Eigen::MatrixXd& K_xi);

  void reset() noexcept override;
  void archive(StateArchive& state) override {
    AdaptiveController::archive(state);
    state(prediction_error_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;
  void freeze() noexcept override;

 private:
  void reference_motion(const double* q, const double* dq) noexcept;

  PredictionError prediction_error_;
  NullSpace null_space_;
  ControlTask motion_;
  Matrix6d K_xi_;
  Eigen::VectorXd beta_, alpha_, s_, free_, free_dot_;
};

}  // namespace thunder
