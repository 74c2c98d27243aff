// Inverse dynamics in task space with integral action (SCARA report, 4.3).
#pragma once

#include "clock.hpp"
#include "control_task.hpp"
#include "controller.hpp"
#include "task_inertia.hpp"

namespace thunder {

class OperationalSpace final : public TaskController {
 public:
  /// m x m for the m rows of the task; K_I and integral_limit (m positive entries) are empty without integral action.
  struct Gains {
    Eigen::MatrixXd K_0, K_1, K_I;
    Eigen::VectorXd integral_limit;
  };

  OperationalSpace(std::shared_ptr<const Model> model, TaskSetup task, Gains gains);

  void reset() noexcept override;
  void archive(StateArchive& state) override {
    Controller::archive(state);
    state(clock_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;
  void freeze() noexcept override { clock_.reset(); }

 private:
  void integrate(double t) noexcept;

  NullSpace null_space_;
  ControlTask motion_;
  TaskInertia inertia_;
  Matrix6d K_0_, K_1_, K_I_;
  bool integrates_;
  Eigen::VectorXd limit_, integral_;  // of e, in the rows of the task
  StepClock clock_;
  Eigen::VectorXd y_, free_;
};

}  // namespace thunder
