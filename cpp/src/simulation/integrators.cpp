#include "thunder/simulation/integrators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

// of the residual, relative to 1 plus the largest entry of the solution
constexpr double kTolerance = 1e-13;
constexpr double kRoundingAtMost = 1e-9;  // accepted where the residual no longer falls
constexpr int kMostIterations = 50;

}  // namespace

struct ImplicitMidpoint::Step {
  Plant& plant;
  double t, dt;
  const double* tau;
  double* x;
};

ImplicitMidpoint::ImplicitMidpoint(const Plant& plant)
    : stiff_(plant),
      n_(plant.n()),
      motors_(plant.motors()),
      actuators_(plant.actuator_states()),
      M_(n_, n_),
      M_dot_(n_, n_),
      inverse_(n_ + motors_ + actuators_, n_ + motors_ + actuators_),
      momentum_(n_),
      middle_(plant.state_size()),
      rate_(plant.state_size()),
      y_(inverse_.rows()),
      f_(y_),
      last_f_(y_),
      change_(y_),
      update_(y_),
      row_(y_) {}

void ImplicitMidpoint::step(Plant& plant, double t, double dt, const double* tau, double* x) {
  if (stiff_.active()) {
    plant.derivative(t, x, tau, rate_.data());
    if (stiff_.step(plant, t, dt, tau, x, rate_.data())) return;
  }
  const Step step{plant, t, dt, tau, x};
  plant.inertia(x, x + n_, M_.data(), nullptr);
  momentum_.setZero();
  add_product(M_, x + n_, momentum_.data());
  if (solve(step))
    finish(step);
  else
    std::fill_n(x, plant.state_size(), std::numeric_limits<double>::quiet_NaN());
}

/// Broyden's method. It starts with the Jacobian of a step of length 0, the identity, and needs no derivatives.
bool ImplicitMidpoint::solve(const Step& step) {
  y_ << Eigen::Map<Eigen::VectorXd>(step.x + n_, n_), Eigen::Map<Eigen::VectorXd>(step.x + 2 * n_ + motors_, motors_),
      Eigen::Map<Eigen::VectorXd>(step.x + 2 * (n_ + motors_), actuators_);
  inverse_.setIdentity();
  double size = residual(step);
  for (int k = 0; k < kMostIterations && std::isfinite(size); ++k) {
    const double scale = 1.0 + y_.lpNorm<Eigen::Infinity>(), last = size;
    if (size <= kTolerance * scale) return true;
    update_.setZero();
    add_product(inverse_, f_.data(), update_.data(), -1.0);
    y_ += update_;
    if (!all_finite(y_.data(), y_.size())) return false;
    last_f_ = f_;
    size = residual(step);
    if (size <= kRoundingAtMost * scale && !(size < 0.5 * last)) return true;
    update_inverse();
  }
  return false;
}

/// f = y - F(y), where F is the rule's right side solved for y; returns its largest entry, NaN where F has no value.
double ImplicitMidpoint::residual(const Step& step) {
  const double half = 0.5 * step.dt;
  const Eigen::Map<const Eigen::VectorXd> x(step.x, middle_.size());
  const int links = n_, motors = 2 * n_, speeds = motors + motors_, rest = speeds + motors_;
  middle_.head(n_) = x.head(n_) + half * y_.head(n_);
  middle_.segment(links, n_) = y_.head(n_);
  middle_.segment(motors, motors_) = x.segment(motors, motors_) + half * y_.segment(n_, motors_);
  middle_.segment(speeds, motors_) = y_.segment(n_, motors_);
  middle_.tail(actuators_) = y_.tail(actuators_);
  step.plant.derivative(step.t + half, middle_.data(), step.tau, rate_.data());
  step.plant.inertia(middle_.data(), y_.data(), M_.data(), M_dot_.data());
  // p' = M ddq + M_dot dq, so M v = p0 + dt / 2 p'
  f_.head(n_) = momentum_;
  add_product(M_dot_, y_.data(), f_.data(), half);
  if (!factor_positive_definite(n_, M_.data())) return std::numeric_limits<double>::quiet_NaN();
  solve_positive_definite(n_, M_.data(), f_.data());
  f_.head(n_) += half * rate_.segment(links, n_);
  f_.segment(n_, motors_) = x.segment(speeds, motors_) + half * rate_.segment(speeds, motors_);
  f_.tail(actuators_) = x.tail(actuators_) + half * rate_.segment(rest, actuators_);
  f_ = y_ - f_;
  return all_finite(f_.data(), f_.size()) ? f_.lpNorm<Eigen::Infinity>() : std::numeric_limits<double>::quiet_NaN();
}

/// H += (s - H d) s' H / (s' H d) for the step s and the change d of the residual.
void ImplicitMidpoint::update_inverse() {
  last_f_ = f_ - last_f_;
  change_ = update_;
  add_product(inverse_, last_f_.data(), change_.data(), -1.0);
  row_.noalias() = inverse_.transpose() * update_;
  const double divisor = row_.dot(last_f_);
  if (divisor == 0.0) return;
  change_ /= divisor;
  inverse_.noalias() += change_ * row_.transpose();
}

/// q1 = q0 + dt v and p1 = 2 M v - p0; what has constant inertia or none is reflected at the midpoint.
void ImplicitMidpoint::finish(const Step& step) {
  Eigen::Map<Eigen::VectorXd> x(step.x, middle_.size());
  step.plant.inertia(middle_.data(), y_.data(), M_.data(), nullptr);
  momentum_ *= -1.0;
  add_product(M_, y_.data(), momentum_.data(), 2.0);
  x.head(n_) += step.dt * y_.head(n_);
  step.plant.inertia(step.x, step.x + n_, M_.data(), nullptr);
  if (!factor_positive_definite(n_, M_.data())) momentum_.setConstant(std::numeric_limits<double>::quiet_NaN());
  solve_positive_definite(n_, M_.data(), momentum_.data());
  x.segment(n_, n_) = momentum_;
  x.segment(2 * n_, motors_) += step.dt * y_.segment(n_, motors_);
  auto speeds = x.segment(2 * n_ + motors_, motors_);
  speeds = 2.0 * y_.segment(n_, motors_) - speeds;
  x.tail(actuators_) = 2.0 * y_.tail(actuators_) - x.tail(actuators_);
}

}  // namespace thunder
