#include "thunder/simulation/friction_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

/// Largest product of step and rate of decay that is left to the integrator.
constexpr double kMostDecay = 0.7;
/// Longest time over which the torques besides friction are followed to second order [s].
constexpr double kLongestPart = 2.5e-3;
// Alexander's method of order 3: gamma is the middle root of x^3 - 3 x^2 + 3 x / 2 = 1 / 6
constexpr double kGamma = 0.43586652150845899942;
constexpr double kSecond = 0.5 * (1.0 + kGamma);  // time of the second stage
constexpr double kA21 = 0.5 * (1.0 - kGamma);
constexpr double kA31 = -1.5 * kGamma * kGamma + 4.0 * kGamma - 0.25, kA32 = 1.5 * kGamma * kGamma - 5.0 * kGamma + 1.25;
constexpr double kFrictionTolerance = 0.01;             // of a substep, relative to the velocity
constexpr double kSlowestSliding = 1e-2;               // velocity that counts as such [rad/s or m/s]
constexpr int kMostSubsteps = 4;  // of half a step
constexpr double kConverged = 1e-2, kConvergedAtRest = 1e-5;  // last change of a velocity, whose error is of its square
constexpr double kKept = 0.02;  // relative change of slopes with which a factorization is kept
constexpr int kMostNewtonSteps = 40;

}  // namespace

FrictionStep::FrictionStep(const Plant& plant)
    : active_(plant.has_friction()), n_(plant.n()), motors_(plant.motors()) {
  if (!active_) return;
  // explicit for springs and drives, of a lower order than the integrator
  parts_ = motors_ > 0 || plant.actuator_states() > 0 ? 2 : 1;
  const int m = n_ + motors_;
  M_ = factor_ = Eigen::MatrixXd::Zero(m, m);
  rate_ = Eigen::VectorXd::Zero(plant.state_size());
  drives_ = Eigen::VectorXd::Zero(plant.actuator_states());
  for (Eigen::VectorXd* v : {&position_, &velocity_, &force_, &second_force_, &steepest_, &first_, &second_, &last_, &momentum_,
                             &first_momentum_, &rhs_, &first_rhs_, &first_change_, &base_,
                             &acceleration_, &friction_, &slope_, &change_, &slow_, &factored_slope_,
                             &fast_})
    *v = Eigen::VectorXd::Zero(m);
  plant.friction_slope(slow_.data(), fast_.data(), steepest_.data());
}

void FrictionStep::read(const double* x, Eigen::VectorXd& velocities) const noexcept {
  std::copy_n(x + n_, n_, velocities.data());
  std::copy_n(x + 2 * n_ + motors_, motors_, velocities.data() + n_);
}

void FrictionStep::write(double* x) const noexcept {
  std::copy_n(position_.data(), n_, x);
  std::copy_n(velocity_.data(), n_, x + n_);
  std::copy_n(position_.data() + n_, motors_, x + 2 * n_);
  std::copy_n(velocity_.data() + n_, motors_, x + 2 * n_ + motors_);
}

bool FrictionStep::step(Plant& plant, double t, double dt, const double* tau, double* x, const double* x_dot) {
  if (!active_) return false;
  read(x, velocity_);
  read(x_dot, acceleration_);
  if (!stiff(plant, dt, x)) return false;
  std::copy_n(x_dot, rate_.size(), rate_.data());
  const int parts = std::max(parts_, static_cast<int>(std::ceil(dt / kLongestPart)));
  const double h = dt / parts;
  for (int k = 0; k < parts; ++k) {
    if (k > 0) {
      plant.derivative(t + k * h, x, tau, rate_.data());
      plant.velocity_inertia(x, M_);
    }
    half_steps(plant, t + k * h, h, tau, x);
  }
  return true;
}

/// Whether the largest eigenvalue of M^-1 D is above its bound, with the largest slopes D that the step may meet.
bool FrictionStep::stiff(Plant& plant, double dt, const double* x) {
  for (Eigen::Index i = 0; i < velocity_.size(); ++i) {
    const double speed = std::abs(velocity_[i]), change = dt * std::abs(acceleration_[i]);
    slow_[i] = std::max(0.0, speed - change);
    fast_[i] = speed + change;
  }
  plant.friction_slope(slow_.data(), fast_.data(), slope_.data());
  plant.velocity_inertia(x, M_);
  factor_ = M_;
  factor_.diagonal() -= dt / kMostDecay * slope_;
  return !factor_positive_definite(static_cast<int>(M_.rows()), factor_.data());
}

/// F = M w' + f(w) at the velocities `velocity_`.
void FrictionStep::smooth_force(const Plant& plant, const double* x_dot, Eigen::VectorXd& force) {
  read(x_dot, acceleration_);
  plant.friction(velocity_.data(), force.data(), slope_.data());
  add_product(M_, acceleration_.data(), force.data());
}

void FrictionStep::half_steps(Plant& plant, double t, double h, const double* tau, double* x) {
  factored_c_ = 0.0;
  Eigen::Map<Eigen::VectorXd> drives(x + 2 * (n_ + motors_), drives_.size());
  std::copy_n(x, n_, position_.data());
  std::copy_n(x + 2 * n_, motors_, position_.data() + n_);
  read(x, velocity_);
  smooth_force(plant, rate_.data(), force_);
  bool solved = relax(plant, 0.5 * h);
  drives_ = drives;
  drives += 0.5 * h * rate_.tail(drives_.size());
  write(x);
  plant.derivative(t + 0.5 * h, x, tau, rate_.data());
  smooth_force(plant, rate_.data(), second_force_);
  force_ = 2.0 * second_force_ - force_;
  solved = solved && relax(plant, 0.5 * h);
  if (!solved) velocity_.setConstant(std::numeric_limits<double>::quiet_NaN());
  drives = drives_ + h * rate_.tail(drives_.size());
  write(x);
}

/// Integrates M w' = force - f(w) and the positions.
bool FrictionStep::relax(const Plant& plant, double span) {
  double left = span, k = span;
  while (left > 0.0) {
    const bool solved = substep(plant, k);
    const double share = solved ? error() / kFrictionTolerance : std::numeric_limits<double>::infinity();
    if (!(share <= 1.0) && k * kMostSubsteps > span) {
      k *= 0.5;
      continue;
    }
    if (!solved) return false;
    position_ += k * (kA31 * first_ + kA32 * second_ + kGamma * last_);
    acceleration_ = (last_ - velocity_) / k;
    velocity_ = last_;
    left -= k;
    if (share < 0.1) k *= 2.0;
    k = k * 1.000001 > left ? left : k;
  }
  return true;
}

/// Velocities at the stages, of which the last is at k.
bool FrictionStep::substep(const Plant& plant, double k) {
  const double c = kGamma * k;
  momentum_.setZero();
  add_product(M_, velocity_.data(), momentum_.data());
  rhs_ = first_rhs_ = momentum_ + c * force_;
  predict(velocity_, acceleration_, c, first_);
  if (!solve(plant, c, first_)) return false;
  first_momentum_.setZero();
  add_product(M_, first_.data(), first_momentum_.data());
  first_change_ = (first_momentum_ - momentum_) / kGamma;
  base_ = momentum_ + kA21 * first_change_;
  rhs_ = base_ + c * force_;
  change_ = first_ - velocity_;
  predict(first_, change_, (kSecond - kGamma) / kGamma, second_);
  if (!solve(plant, c, second_)) return false;
  base_ *= -1.0;
  add_product(M_, second_.data(), base_.data());
  rhs_ = momentum_ + kA31 * first_change_ + kA32 / kGamma * base_ + c * force_;
  change_ = second_ - first_;
  predict(second_, change_, (1.0 - kSecond) / (kSecond - kGamma), last_);
  return solve(plant, c, last_);
}

/// A first value of Newton's method: goes on as before, and at most to rest, where friction is steep.
void FrictionStep::predict(const Eigen::VectorXd& w, const Eigen::VectorXd& change, double share, Eigen::VectorXd& guess) {
  for (Eigen::Index i = 0; i < w.size(); ++i) {
    guess[i] = w[i] + share * change[i];
    if (guess[i] * w[i] < 0.0) guess[i] = 0.0;
  }
}

/// Newton's method for M w + c f(w) = rhs. Friction is steep at rest only, so a step may not cross rest.
bool FrictionStep::solve(const Plant& plant, double c, Eigen::VectorXd& w) {
  for (int iteration = 0; iteration < kMostNewtonSteps; ++iteration) {
    plant.friction(w.data(), friction_.data(), slope_.data());
    change_ = rhs_ - c * friction_;
    add_product(M_, w.data(), change_.data(), -1.0);
    if (!factor(c)) return false;
    solve_positive_definite(static_cast<int>(w.size()), factor_.data(), change_.data());
    bool converged = true;
    for (Eigen::Index i = 0; i < w.size(); ++i) {
      const double next = w[i] + change_[i];
      const bool crosses = next * w[i] < 0.0 && steepest_[i] > 1.5 * slope_[i];
      converged = converged && !crosses && std::abs(change_[i]) <= kConverged * std::abs(next) + kConvergedAtRest;
      w[i] = crosses ? 0.0 : next;
    }
    if (converged) return true;
  }
  return false;
}

/// Factors M + c D, or keeps the factorization for slopes close to the present D.
bool FrictionStep::factor(double c) {
  bool kept = c == factored_c_;
  for (Eigen::Index i = 0; kept && i < slope_.size(); ++i)
    kept = std::abs(slope_[i] - factored_slope_[i]) <= kKept * (factored_slope_[i] + M_(i, i) / c);
  if (kept) return true;
  factor_ = M_;
  factor_.diagonal() += c * slope_;
  factored_slope_ = slope_;
  factored_c_ = factor_positive_definite(static_cast<int>(slope_.size()), factor_.data()) ? c : 0.0;
  return factored_c_ > 0.0;
}

/// Largest change of a velocity by that of the friction between the stages, relative to it.
double FrictionStep::error() {
  momentum_.setZero();
  add_product(M_, last_.data(), momentum_.data());
  change_ = (rhs_ - momentum_) - (first_rhs_ - first_momentum_);
  solve_positive_definite(static_cast<int>(change_.size()), factor_.data(), change_.data());
  double largest = 0.0;
  for (Eigen::Index i = 0; i < change_.size(); ++i)
    largest = std::max(largest, std::abs(change_[i]) / (std::max(std::abs(first_[i]), std::abs(last_[i])) + kSlowestSliding));
  return largest;
}

}  // namespace thunder
