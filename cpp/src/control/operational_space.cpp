#include "thunder/control/operational_space.hpp"

namespace thunder {

OperationalSpace::OperationalSpace(std::shared_ptr<const Model> model, TaskSetup task, Gains gains)
    : TaskController(std::move(model), task.null_space.K_d),
      null_space_(std::move(task.null_space)),
      motion_(n(), task.frame, task.rows, task.kind),
      inertia_(n()),
      K_0_(spread_rows(task.rows, gains.K_0)),
      K_1_(spread_rows(task.rows, gains.K_1)),
      integrates_(gains.K_I.size() > 0),
      limit_(std::move(gains.integral_limit)),
      integral_(Eigen::VectorXd::Zero(task.rows.count())),
      y_(Eigen::VectorXd::Zero(n())),
      free_(y_) {
  K_I_ = integrates_ ? spread_rows(task.rows, gains.K_I) : Matrix6d::Zero();
  publish("error", motion_.error_rows.data(), row_names(motion_.rows()));
  publish("integral", integral_.data(), row_names(motion_.rows()));
}

void OperationalSpace::reset() noexcept {
  Controller::reset();
  integral_.setZero();
  clock_.reset();
}

void OperationalSpace::integrate(double t) noexcept {
  const double dt = clock_.advance(t);
  if (!integrates_ || saturated()) return;
  integral_ += dt * motion_.error_rows;
  if (limit_.size() > 0) integral_ = integral_.cwiseMin(limit_).cwiseMax(-limit_);
}

Status OperationalSpace::law(double t, const double* q, const double* dq, const TaskReference& desired,
                             double* tau_) noexcept {
  if (!motion_.update(dynamics_, q, dq, desired, holding())) return Status::singular;
  integrate(t);
  Vector6d integral = Vector6d::Zero();
  for (int r = 0, i = 0; r < 6; ++r)
    if (motion_.rows().has(r)) integral[r] = integral_[i++];

  // e'' = f' - J_dot dq - J ddq becomes -K_1 e' - K_0 e - K_I (integral of e)
  const TaskError& error = motion_.error;
  const Vector6d wanted =
      error.f_dot - motion_.bias + K_1_ * error.velocity + K_0_ * error.e + K_I_ * integral;
  const Vector6d weights = motion_.gram_inverse * wanted;
  y_.setZero();
  add_transposed(motion_.J, weights, y_.data());
  dynamics_.inverse_dynamics(q, dq, y_.data(), tau_);  // M y + n
  if (!motion_.redundant()) return Status::ok;

  if (!inertia_.update(dynamics_, q, motion_.J, motion_.rows())) return Status::singular;
  null_space_.torque(q, dq, free_);
  inertia_.project(motion_.J, free_);
  Eigen::Map<Eigen::VectorXd>(tau_, n()) += free_;
  return Status::ok;
}

}  // namespace thunder
