#include "thunder/kinematics/clik.hpp"

#include <stdexcept>
#include <string>

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::VectorXd;

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace

Clik::Clik(std::shared_ptr<const Model> model, const Frame<double>& frame, TaskRows chosen, OrientationKind kind,
           Settings settings)
    : dynamics_(std::move(model)),
      task_(n(), frame, chosen, kind),
      settings_(std::move(settings)),
      e_(TaskVector::Zero(rows())),
      J_(CompactJacobian::Zero(rows(), n())),
      zero_(JointVector::Zero(n())),
      null_(zero_),
      x_(zero_) {
  const int m = rows();
  const std::string sizes = std::to_string(m) + " rows and " + std::to_string(n()) + " joints";
  const Settings& s = settings_;
  require(s.order == 1 || s.order == 2, "order must be 1 or 2, got " + std::to_string(s.order));
  require(s.method != Method::inverse || m == n(),
          "method 'inverse' needs as many rows as joints, got " + sizes + "; choose rows= or another method");
  require(s.method != Method::pseudoinverse || m <= n(),
          "method 'pseudoinverse' needs at least as many joints as rows, got " + sizes +
              "; choose fewer with rows= or method 'damped'");
  require(s.method != Method::transpose || s.order == 1, "method 'transpose' is of order 1, got order 2");
  require(s.method != Method::damped || s.damping > 0.0, "damping must be positive for method 'damped'");
  require(s.velocity_limits.size() == 0 || (s.velocity_limits.size() == n() && s.velocity_limits.minCoeff() > 0.0),
          "velocity_limits must be " + std::to_string(n()) + " positive numbers");
  require(!s.objective || s.objective->n() == n(),
          "objective must be of " + std::to_string(n()) + " joints, got one of " +
              std::to_string(s.objective ? s.objective->n() : 0));
  K_ = s.K;
  K_D_ = s.K_D;
  svd_.compute(J_);
}

Status Clik::step(const double* q, const double* dq, const TaskReference& desired, const double* dq_0,
                  double* out) noexcept {
  const bool second = settings_.order == 2;
  Map<const VectorXd> q_(q, n()), dq_(second ? dq : zero_.data(), n());
  const bool valid = q_.allFinite() && dq_.allFinite() && desired.valid() &&
                     (dq_0 == nullptr || Map<const VectorXd>(dq_0, n()).allFinite());
  status_ = valid ? law(q, dq_.data(), desired, dq_0) : Status::invalid_input;
  if (status_ == Status::ok && !x_.allFinite()) status_ = Status::singular;
  if (status_ != Status::ok) {
    x_.setZero(n());
    if (second && dq_.allFinite()) x_ = -settings_.null_damping * dq_;
  } else if (!second && limit(x_.data())) {
    status_ = Status::saturated;
  }
  Map<VectorXd>(out, n()) = x_;
  return status_;
}

Status Clik::law(const double* q, const double* dq, const TaskReference& desired, const double* dq_0) noexcept {
  const bool regular = task_.update(dynamics_, q, dq, desired);
  const TaskError& error = task_.error;
  gather(task_.rows(), error.e, e_);
  gather(task_.rows(), task_.J, J_);
  if (!regular) return Status::singular;
  if (settings_.method == Method::transpose) {
    const TaskVector force = K_.lazyProduct(e_);
    x_ = J_.transpose().lazyProduct(force);
    return Status::ok;
  }
  TaskVector v = K_.lazyProduct(e_), wanted;
  if (settings_.order == 1) {
    gather(task_.rows(), error.f, wanted);
  } else {
    TaskVector e_dot;
    gather(task_.rows(), error.f - task_.J.lazyProduct(Map<const VectorXd>(dq, n())), e_dot);
    gather(task_.rows(), error.f_dot - task_.bias, wanted);
    v += K_D_.lazyProduct(e_dot);  // of the error, not of the position (errata S-5)
  }
  v += wanted;
  svd_.compute(J_);
  const Status status = invert(q, v);
  if (status == Status::ok) add_null_motion(q, dq, dq_0);
  return status;
}

Status Clik::invert(const double* q, const TaskVector& v) noexcept {
  if (settings_.method == Method::damped) {
    svd_.solve(v, damping_squared(q), x_);
    return Status::ok;
  }
  const double limit = settings_.largest_condition * task_.error.orientation.condition;
  if (!(svd_.largest() <= limit * svd_.smallest()) || svd_.largest() == 0.0)
    return Status::singular;
  svd_.solve(v, 0.0, x_);
  return Status::ok;
}

double Clik::damping_squared(const double* q) const noexcept {
  const double lambda_squared = settings_.damping * settings_.damping;
  if (settings_.threshold <= 0.0) return lambda_squared;
  const double distance =
      settings_.measure == Measure::singular_value ? svd_.smallest() : manipulability(q);
  const double part = distance / settings_.threshold;
  return part < 1.0 ? lambda_squared * (1.0 - part * part) : 0.0;
}

void Clik::add_null_motion(const double* q, const double* dq, const double* dq_0) noexcept {
  const bool second = settings_.order == 2;
  if (dq_0 != nullptr)
    null_ = Map<const VectorXd>(dq_0, n());
  else if (settings_.objective)
    settings_.objective->velocity(dynamics_.work(), q, null_.data());
  else if (second)
    null_.setZero(n());
  else
    return;
  if (second) null_ = settings_.null_damping * (null_ - Map<const VectorXd>(dq, n()));
  svd_.project_to_null_space(null_);
  x_ += null_;
}

bool Clik::limit(double* dq) const noexcept {
  if (settings_.velocity_limits.size() == 0) return false;
  Map<VectorXd> velocity(dq, n());
  const double excess = velocity.cwiseQuotient(settings_.velocity_limits).lpNorm<Eigen::Infinity>();
  if (!(excess > 1.0)) return false;
  velocity /= excess;
  return true;
}

}  // namespace thunder
