#include "thunder/control/impedance.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

Matrix6d spread_inverse(TaskRows rows, const Eigen::MatrixXd& inertia) {
  if (inertia.size() == 0) return Matrix6d::Zero();
  return spread_rows(rows, positive_definite_inverse(inertia, "inertia"));
}

}  // namespace

Impedance::Impedance(std::shared_ptr<const Model> model, TaskSetup task, Gains gains)
    : TaskController(std::move(model), task.null_space.K_d),
      null_space_(std::move(task.null_space)),
      motion_(n(), task.frame, task.rows, task.kind),
      inertia_(n()),
      M_(RowMajor::Zero(n(), n())),
      C_(M_),
      K_(spread_rows(task.rows, gains.K)),
      D_(spread_rows(task.rows, gains.D)),
      inverse_inertia_(spread_inverse(task.rows, gains.inertia)),
      shapes_inertia_(gains.inertia.size() > 0),
      zero_(Eigen::VectorXd::Zero(n())),
      torque_(zero_),
      free_(zero_) {
  publish("error", motion_.error_rows.data(), row_names(motion_.rows()));
}

/// Lambda e'' + mu e' + D e' + K e = -F, where Lambda_dot - 2 mu is skew: mu = Jbar' C Jbar - Lambda J_dot Jbar with
/// the dynamically consistent inverse Jbar = M^-1 J' Lambda.
Vector6d Impedance::with_own_inertia(const double* dq) noexcept {
  const TaskError& error = motion_.error;
  const Vector6d momentum = inertia_.Lambda * error.velocity;
  free_.setZero();
  add_transposed(inertia_.J_over_M, momentum, free_.data());  // Jbar e'
  torque_ = C_.lazyProduct(free_);
  const Vector6d coriolis = inertia_.J_over_M.lazyProduct(torque_);
  free_ += Eigen::Map<const Eigen::VectorXd>(dq, n());
  const Vector6d bias = motion_.J_dot.lazyProduct(free_);
  return K_ * error.e + D_ * error.velocity + inertia_.Lambda * (error.f_dot - bias + coriolis);
}

/// inertia e'' + D e' + K e = -F, F the measured wrench in task coordinates.
Vector6d Impedance::with_desired_inertia() noexcept {
  const TaskError& error = motion_.error;
  free_.setZero();
  add_transposed(motion_.frame.J, wrench_, free_.data());
  const Vector6d task_wrench = inertia_.Lambda * inertia_.J_over_M.lazyProduct(free_);
  const Vector6d wanted =
      error.f_dot - motion_.bias + inverse_inertia_ * (K_ * error.e + D_ * error.velocity + task_wrench);
  return inertia_.Lambda * wanted - task_wrench;
}

Status Impedance::law(double, const double* q, const double* dq, const TaskReference& desired, double* tau_) noexcept {
  dynamics_.mass_coriolis(q, dq, M_.data(), C_.data());
  if (!motion_.update(dynamics_, q, dq, desired, holding()) || !inertia_.update(M_, motion_.J, motion_.rows()))
    return Status::singular;
  const Vector6d force = shapes_inertia_ ? with_desired_inertia() : with_own_inertia(dq);
  Eigen::Map<Eigen::VectorXd> tau(tau_, n());
  dynamics_.inverse_dynamics(q, dq, zero_.data(), tau_);  // n
  add_transposed(motion_.J, force, tau_);
  if (!motion_.redundant()) return Status::ok;

  null_space_.torque(q, dq, free_);
  inertia_.project(motion_.J, free_);
  tau += free_;
  return Status::ok;
}

}  // namespace thunder
