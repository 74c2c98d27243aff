// Computed torque in task space, with a posture and obstacles in the null space (D4.2, eqs. 108 to 112).
#pragma once

#include "control_task.hpp"
#include "controller.hpp"
#include "repulsion.hpp"
#include "task_inertia.hpp"

namespace thunder {

class CartesianComputedTorque final : public TaskController {
 public:
  /// K_0 and K_1: m x m for the m rows of the task.
  CartesianComputedTorque(std::shared_ptr<const Model> model, TaskSetup task, const Eigen::MatrixXd& K_0,
                          const Eigen::MatrixXd& K_1, Repulsion repulsion);

  Repulsion& repulsion() noexcept { return repulsion_; }
  void archive(StateArchive& state) override {
    Controller::archive(state);
    state(repulsion_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;

 private:
  NullSpace null_space_;
  ControlTask motion_;
  TaskInertia inertia_;
  Matrix6d K_0_, K_1_;
  Repulsion repulsion_;
  Eigen::VectorXd zero_, free_;
};

}  // namespace thunder
