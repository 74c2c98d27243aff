#include "thunder/control/cartesian_computed_torque.hpp"

namespace thunder {

CartesianComputedTorque::CartesianComputedTorque(std::shared_ptr<const Model> model, TaskSetup task,
                                                 const Eigen::MatrixXd& K_0, const Eigen::MatrixXd& K_1,
                                                 Repulsion repulsion)
    : TaskController(std::move(model), task.null_space.K_d),
      null_space_(std::move(task.null_space)),
      motion_(n(), task.frame, task.rows, task.kind),
      inertia_(n()),
      K_0_(spread_rows(task.rows, K_0)),
      K_1_(spread_rows(task.rows, K_1)),
      repulsion_(std::move(repulsion)),
      zero_(Eigen::VectorXd::Zero(n())),
      free_(zero_) {
  publish("error", motion_.error_rows.data(), row_names(motion_.rows()));
}

Status CartesianComputedTorque::law(double, const double* q, const double* dq, const TaskReference& desired,
                                    double* tau_) noexcept {
  if (!motion_.update(dynamics_, q, dq, desired, holding()) || !inertia_.update(dynamics_, q, motion_.J, motion_.rows()))
    return Status::singular;
  const TaskError& error = motion_.error;
  const Vector6d force =
      inertia_.Lambda * (error.f_dot - motion_.bias + K_1_ * error.velocity + K_0_ * error.e);
  dynamics_.inverse_dynamics(q, dq, zero_.data(), tau_);  // h
  add_transposed(motion_.J, force, tau_);
  if (!motion_.redundant()) return Status::ok;

  null_space_.torque(q, dq, free_);
  repulsion_.add_torque(dynamics_, q, free_);
  inertia_.project(motion_.J, free_);
  Eigen::Map<Eigen::VectorXd>(tau_, n()) += free_;
  return Status::ok;
}

}  // namespace thunder
