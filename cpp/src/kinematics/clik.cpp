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
  const JointLimits& l = s.limits;
  for (const VectorXd* limit : {&l.lower, &l.upper, &l.velocity, &l.acceleration})
    require(limit->size() == l.lower.size() && (limit->size() == 0 || limit->size() == n()),
            "limits must have " + std::to_string(n()) + " entries each");
  require(s.period > 0.0 && (l.lower.array() <= l.upper.array()).all() && (l.velocity.array() >= 0.0).all() &&
              (l.acceleration.array() > 0.0).all(),
          "limits must be ordered and positive, and so must the period");
  accelerations_limited_ = l.acceleration.size() != 0 && l.acceleration.array().isFinite().any();
  require(!s.objective || s.objective->n() == n(),
          "objective must be of " + std::to_string(n()) + " joints, got one of " +
              std::to_string(s.objective ? s.objective->n() : 0));
  K_ = s.K;
  K_D_ = s.K_D;
  svd_.compute(J_);
}

Status Clik::step(const double* q, const double* dq, const TaskReference& desired, const double* dq_0, double period,
                  double* out) noexcept {
  const bool second = settings_.order == 2;
  Map<const VectorXd> q_(q, n()), dq_(needs_velocities() ? dq : zero_.data(), n());
  const bool state_valid = q_.allFinite() && dq_.allFinite();
  const bool valid =
      state_valid && desired.valid() && (dq_0 == nullptr || Map<const VectorXd>(dq_0, n()).allFinite());
  status_ = valid ? law(q, second ? dq_.data() : zero_.data(), desired, dq_0) : Status::invalid_input;
  if (status_ == Status::ok && !x_.allFinite()) status_ = Status::singular;
  const bool solved = status_ == Status::ok;
  if (!solved) {
    x_.setZero(n());
    if (second && dq_.allFinite()) x_ = -settings_.null_damping * dq_;
  }
  limited_ = false;
  if (state_valid && limit(q, dq_.data(), period, solved) && solved) status_ = Status::saturated;
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

bool Clik::within_positions(const double* q) const noexcept {
  const JointLimits& limits = settings_.limits;
  const Map<const VectorXd> q_(q, n());
  return limits.lower.size() == 0 ||
         ((q_.array() >= limits.lower.array()).all() && (q_.array() <= limits.upper.array()).all());
}

/// Moves x_ into the limits; true if that changes the motion of the task. Of order 1 the task is slowed down where the
/// velocity limits ask for it, which keeps its direction. Then the nearest motion within all limits is taken: first
/// nearest in the task, then in the joints.
bool Clik::limit(const double* q, const double* dq, double period, bool solved) noexcept {
  if (settings_.limits.lower.size() == 0) return false;
  const bool second = settings_.order == 2;
  settings_.limits.velocity_bounds(settings_.order, period, q, dq, least_, most_);
  if (second) {
    const Map<const VectorXd> dq_(dq, n());
    least_ = (least_ - dq_) / period;
    most_ = (most_ - dq_) / period;
  }
  if ((x_.array() >= least_.array()).all() && (x_.array() <= most_.array()).all()) return false;
  limited_ = true;
  if (!solved) {
    x_ = x_.cwiseMax(least_).cwiseMin(most_);
    return false;
  }
  const TaskVector v = J_.lazyProduct(x_);
  BoxLeastSquares::Vector x = x_;
  box_.solve(J_, second ? v : TaskVector(feasible_scale(v) * v), least_, most_, x);
  x_ = x;
  constexpr double kUnchanged = 1e-5;
  return !((J_.lazyProduct(x_) - v).norm() <= kUnchanged * v.norm());
}

/// The largest s up to 1 for which joint velocities within the velocity limits move the task by s v: of the variables
/// x and kScale (1 - s), bounded least squares.
double Clik::feasible_scale(const TaskVector& v) noexcept {
  const VectorXd& limits = settings_.limits.velocity;
  if ((x_.array().abs() <= limits.array()).all()) return 1.0;
  const double speed = v.norm();
  if (!(speed > 0.0)) return 1.0;
  // short enough that leaving the direction costs 1e6 times as much as slowing down
  const double column = 1e-3 * J_.norm(), whole = speed / column;
  BoxLeastSquares::Matrix A(rows(), n() + 1);
  A << J_, -column / speed * v;
  BoxLeastSquares::Vector lower(n() + 1), upper(n() + 1), x(n() + 1);
  lower << -limits, 0.0;
  upper << limits, whole;
  const BoxLeastSquares::Vector law = (BoxLeastSquares::Vector(n() + 1) << x_, whole).finished();
  TaskVector b = TaskVector::Zero(rows());
  constexpr int kPasses = 3;  // what is left of A x is added to b: each pass keeps the direction some 1000 times better
  for (int pass = 0; pass < kPasses; ++pass) {
    x = law;
    box_.solve(A, b, lower, upper, x);
    b -= A.lazyProduct(x);
  }
  return x[n()] / whole;
}

}  // namespace thunder
