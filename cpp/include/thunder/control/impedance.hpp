// Impedance control in task space (Hogan, 1985; Ott, 2008).
#pragma once

#include "control_task.hpp"
#include "controller.hpp"
#include "task_inertia.hpp"

namespace thunder {

class Impedance final : public TaskController {
 public:
  /// m x m for the m rows of the task; an empty inertia keeps the arm's own, which needs no measured wrench.
  struct Gains {
    Eigen::MatrixXd K, D, inertia;
  };

  Impedance(std::shared_ptr<const Model> model, TaskSetup task, Gains gains);

  bool shapes_inertia() const noexcept { return shapes_inertia_; }
  /// Measured wrench of the environment on the controlled frame: force and moment about its origin, world axes.
  const Vector6d& wrench() const noexcept { return wrench_; }
  void set_wrench(const Vector6d& wrench) noexcept { wrench_ = wrench; }
  void archive(StateArchive& state) override {
    Controller::archive(state);
    state(wrench_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;

 private:
  Vector6d with_own_inertia(const double* dq) noexcept;
  Vector6d with_desired_inertia() noexcept;

  NullSpace null_space_;
  ControlTask motion_;
  TaskInertia inertia_;
  RowMajor M_, C_;
  Matrix6d K_, D_, inverse_inertia_;
  bool shapes_inertia_;
  Vector6d wrench_ = Vector6d::Zero();
  Eigen::VectorXd zero_, torque_, free_;
};

}  // namespace thunder
