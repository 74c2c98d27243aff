#include "thunder/simulation/stiff_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

/// Largest product of step and rate of decay that is left to the integrator, and of step and frequency of springs, of drives.
constexpr double kMostDecay = 0.7, kMostTurn = 1.8, kMostDrive = 1.0;
/// Steps after which springs and drives are looked at again where there is no friction.
constexpr long kLookEvery = 16;
/// Longest time over which the other torques are followed to second order [s].
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
constexpr int kMostNewtonSteps = 40, kMostSweeps = 200;

}  // namespace

StiffStep::StiffStep(const Plant& plant)
    : active_(false), rubs_(plant.has_friction()), n_(plant.n()), motors_(plant.motors()), motor_joints_(plant.motor_joints()) {
  if (const Drives* drives = plant.drives())
    for (int i = 0, state = 0; i < n_; ++i) {
      if (drives->T[i] == 0.0 && drives->d[i] == 0.0) continue;
      const int in_x = plant.drive_velocity(i), row = in_x < 2 * n_ ? in_x - n_ : in_x - n_ - motors_;
      drives_.push_back({i, row, drives->T[i] > 0.0 ? state++ : -1, drives->T[i], drives->d[i]});
    }
  active_ = rubs_ || ((motors_ > 0 || !drives_.empty()) && plant.has_inertia());
  if (!active_) return;
  const JointFriction* friction = plant.joint_friction();
  if (friction != nullptr && friction->stiction()) sticking_ = friction;
  const int m = n_ + motors_;
  M_ = factor_ = A_ = Eigen::MatrixXd::Zero(m, m);
  rate_ = Eigen::VectorXd::Zero(plant.state_size());
  spring_slope_ = factored_spring_ = Eigen::VectorXd::Zero(motors_);
  for (Eigen::VectorXd* v : {&position_, &velocity_, &force_, &second_force_, &steepest_, &first_, &second_, &last_, &momentum_,
                             &first_momentum_, &rhs_, &first_rhs_, &first_change_, &base_, &base_position_, &acceleration_,
                             &friction_, &slope_, &change_, &slow_, &fast_, &coupling_, &drive_slope_, &factored_slope_, &target_})
    *v = Eigen::VectorXd::Zero(m);
  if (rubs_) plant.friction_slope(slow_.data(), fast_.data(), steepest_.data());
}

void StiffStep::read(const double* x, Eigen::VectorXd& velocities) const noexcept {
  std::copy_n(x + n_, n_, velocities.data());
  std::copy_n(x + 2 * n_ + motors_, motors_, velocities.data() + n_);
}

void StiffStep::read_state(const double* x) noexcept {
  std::copy_n(x, n_, position_.data());
  std::copy_n(x + 2 * n_, motors_, position_.data() + n_);
  read(x, velocity_);
  for (Drive& drive : drives_) drive.value = drive.state < 0 ? 0.0 : x[2 * (n_ + motors_) + drive.state];
}

void StiffStep::write(double* x) const noexcept {
  std::copy_n(position_.data(), n_, x);
  std::copy_n(velocity_.data(), n_, x + n_);
  std::copy_n(position_.data() + n_, motors_, x + 2 * n_);
  std::copy_n(velocity_.data() + n_, motors_, x + 2 * n_ + motors_);
  for (const Drive& drive : drives_)
    if (drive.state >= 0) x[2 * (n_ + motors_) + drive.state] = drive.value;
}

bool StiffStep::step(Plant& plant, double t, double dt, const double* tau, double* x, const double* x_dot) {
  if (!active_) return false;
  const bool look = rubs_ || stiff_ || steps_ % kLookEvery == 0;
  ++steps_;
  if (!look) return false;
  read(x, velocity_);
  read(x_dot, acceleration_);
  stiff_ = stiff(plant, dt, x);
  if (!stiff_) return false;
  std::copy_n(x_dot, rate_.size(), rate_.data());
  // explicit for springs that are not stiff, of a lower order than the integrator
  const int least = motors_ > 0 && !stiff_springs_ ? 2 : 1, parts = std::max(least, static_cast<int>(std::ceil(dt / kLongestPart)));
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

/// Whether an eigenvalue of M^-1 D, M^-1 K or 1 / T is above its bound, with the largest slopes D of friction that the step
/// may meet. Springs that are not stiff themselves belong to F.
bool StiffStep::stiff(Plant& plant, double dt, const double* x) {
  const int m = static_cast<int>(M_.rows());
  plant.velocity_inertia(x, M_);
  const double turn = dt * dt / (kMostTurn * kMostTurn);
  factor_ = M_;
  for (int k = 0; k < motors_; ++k) {
    const int joint = motor_joints_[static_cast<std::size_t>(k)], motor = n_ + k;
    const Spring spring = plant.spring(k, x[2 * n_ + k] - x[joint], velocity_[motor] - velocity_[joint]);
    spring_slope_[k] = -turn * spring.stiffness - dt / kMostDecay * spring.damping;
  }
  add_springs(1.0, factor_);
  stiff_springs_ = motors_ > 0 && !factor_positive_definite(m, factor_.data());
  if (stiff_springs_ || sticking_ != nullptr) return true;
  factor_ = M_;
  if (rubs_) {
    for (Eigen::Index i = 0; i < velocity_.size(); ++i) {
      const double speed = std::abs(velocity_[i]), change = dt * std::abs(acceleration_[i]);
      slow_[i] = std::max(0.0, speed - change);
      fast_[i] = speed + change;
    }
    plant.friction_slope(slow_.data(), fast_.data(), slope_.data());
    factor_.diagonal() -= dt / kMostDecay * slope_;
  }
  for (const Drive& drive : drives_) {
    if (drive.T > 0.0 && dt > kMostDrive * drive.T) return true;
    factor_(drive.row, drive.row) -= drive.T > 0.0 ? dt * dt / (kMostDrive * kMostDrive) * drive.d / drive.T : dt / kMostDecay * drive.d;
  }
  return !factor_positive_definite(m, factor_.data());
}

/// Springs and drives at the end of a stage of c with the velocities w: their torques, and the derivatives by w over c.
void StiffStep::couple(const Plant& plant, double c, const double* tau, const Eigen::VectorXd& w) {
  coupling_.setZero();
  drive_slope_.setZero();
  spring_slope_.setZero();
  for (int k = 0; stiff_springs_ && k < motors_; ++k) {
    const int joint = motor_joints_[static_cast<std::size_t>(k)], motor = n_ + k;
    const double rate = w[motor] - w[joint];
    const Spring spring = plant.spring(k, base_position_[motor] - base_position_[joint] + c * rate, rate);
    coupling_[joint] += spring.torque;
    coupling_[motor] -= spring.torque;
    spring_slope_[k] = c * spring.stiffness + spring.damping;
  }
  for (Drive& drive : drives_) {
    const double span = drive.T + c;
    drive.value = span > 0.0 ? (drive.T * drive.base + c * (tau[drive.joint] - drive.d * w[drive.row])) / span
                             : tau[drive.joint] - drive.d * w[drive.row];
    coupling_[drive.row] += drive.value;
    drive_slope_[drive.row] += span > 0.0 ? drive.d * c / span : drive.d;
  }
}

void StiffStep::add_springs(double c, Eigen::MatrixXd& A) const noexcept {
  for (int k = 0; k < motors_; ++k) {
    const int joint = motor_joints_[static_cast<std::size_t>(k)], motor = n_ + k;
    const double slope = c * spring_slope_[k];
    A(joint, joint) += slope;
    A(motor, motor) += slope;
    A(joint, motor) -= slope;
    A(motor, joint) -= slope;
  }
}

/// F = M w' + f - s - z in the state read last.
void StiffStep::smooth_force(const Plant& plant, const double* tau, const double* x_dot, Eigen::VectorXd& force) {
  read(x_dot, acceleration_);
  base_position_ = position_;
  for (Drive& drive : drives_) drive.base = drive.value;
  couple(plant, 0.0, tau, velocity_);
  force.setZero();
  if (rubs_) plant.friction(velocity_.data(), force.data(), slope_.data());
  force -= coupling_;
  add_product(M_, acceleration_.data(), force.data());
}

void StiffStep::half_steps(Plant& plant, double t, double h, const double* tau, double* x) {
  factored_c_ = 0.0;
  read_state(x);
  smooth_force(plant, tau, rate_.data(), force_);
  bool solved = relax(plant, 0.5 * h, tau);
  write(x);
  plant.derivative(t + 0.5 * h, x, tau, rate_.data());
  smooth_force(plant, tau, rate_.data(), second_force_);
  force_ = 2.0 * second_force_ - force_;
  solved = solved && relax(plant, 0.5 * h, tau);
  if (!solved) velocity_.setConstant(std::numeric_limits<double>::quiet_NaN());
  write(x);
}

/// Integrates M w' = force - f + s + z, the positions and the drives.
bool StiffStep::relax(const Plant& plant, double span, const double* tau) {
  double left = span, k = span;
  while (left > 0.0) {
    for (Drive& drive : drives_) drive.start = drive.value;
    const bool solved = substep(plant, k, tau);
    const double share = solved ? error() / kFrictionTolerance : std::numeric_limits<double>::infinity();
    if (!(share <= 1.0) && k * kMostSubsteps > span) {
      for (Drive& drive : drives_) drive.value = drive.start;
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
bool StiffStep::substep(const Plant& plant, double k, const double* tau) {
  const double c = kGamma * k;
  momentum_.setZero();
  add_product(M_, velocity_.data(), momentum_.data());
  rhs_ = first_rhs_ = momentum_ + c * force_;
  base_position_ = position_;
  for (Drive& drive : drives_) drive.base = drive.start;
  predict(velocity_, acceleration_, c, first_);
  if (!solve(plant, c, tau, first_)) return false;
  first_momentum_.setZero();
  add_product(M_, first_.data(), first_momentum_.data());
  first_change_ = (first_momentum_ - momentum_) / kGamma;
  base_ = momentum_ + kA21 * first_change_;
  rhs_ = base_ + c * force_;
  base_position_ = position_ + k * kA21 * first_;
  for (Drive& drive : drives_) {
    drive.first = (drive.value - drive.base) / kGamma;
    drive.base = drive.start + kA21 * drive.first;
  }
  change_ = first_ - velocity_;
  predict(first_, change_, (kSecond - kGamma) / kGamma, second_);
  if (!solve(plant, c, tau, second_)) return false;
  base_ *= -1.0;
  add_product(M_, second_.data(), base_.data());
  rhs_ = momentum_ + kA31 * first_change_ + kA32 / kGamma * base_ + c * force_;
  base_position_ = position_ + k * (kA31 * first_ + kA32 * second_);
  for (Drive& drive : drives_)
    drive.base = drive.start + kA31 * drive.first + kA32 / kGamma * (drive.value - drive.base);
  change_ = second_ - first_;
  predict(second_, change_, (1.0 - kSecond) / (kSecond - kGamma), last_);
  return solve(plant, c, tau, last_);
}

/// A first value of Newton's method: goes on as before, and at most to rest, where friction is steep.
void StiffStep::predict(const Eigen::VectorXd& w, const Eigen::VectorXd& change, double share, Eigen::VectorXd& guess) {
  for (Eigen::Index i = 0; i < w.size(); ++i) {
    guess[i] = w[i] + share * change[i];
    if (guess[i] * w[i] < 0.0) guess[i] = 0.0;
  }
}

/// Newton's method for M w + c (f - s - z) = rhs. Friction is steep at rest only, so a step may not cross rest.
bool StiffStep::solve(const Plant& plant, double c, const double* tau, Eigen::VectorXd& w) {
  if (sticking_ != nullptr) return solve_sticking(plant, c, tau, w);
  for (int iteration = 0; iteration < kMostNewtonSteps; ++iteration) {
    if (rubs_) plant.friction(w.data(), friction_.data(), slope_.data());
    couple(plant, c, tau, w);
    change_ = rhs_ + c * (coupling_ - friction_);
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
    if (converged) {
      if (!drives_.empty()) couple(plant, c, tau, w);  // the drives' values at w
      return true;
    }
  }
  return false;
}

/// The same where joints stick. Springs, drives and the damping of motors are linear about w, which is exact for most.
bool StiffStep::solve_sticking(const Plant& plant, double c, const double* tau, Eigen::VectorXd& w) {
  for (int iteration = 0; iteration < kMostNewtonSteps; ++iteration) {
    couple(plant, c, tau, w);
    if (motors_ > 0) {
      plant.friction(w.data(), friction_.data(), slope_.data());
      coupling_.tail(motors_) -= friction_.tail(motors_);
      drive_slope_.tail(motors_) += slope_.tail(motors_);
    }
    A_ = M_;
    A_.diagonal() += c * drive_slope_;
    add_springs(c, A_);
    target_ = rhs_ + c * coupling_;
    add_product(M_, w.data(), target_.data(), -1.0);
    add_product(A_, w.data(), target_.data());
    change_ = w;
    if (!descend(c, w)) return false;
    change_ -= w;
    if (motors_ == 0 || change_.lpNorm<Eigen::Infinity>() <= kConvergedAtRest) {
      couple(plant, c, tau, w);
      return factor_moving(c, w);
    }
  }
  return false;
}

/// A w + c f(w) = target by coordinates, which converges for every positive definite A, since the friction of a joint is
/// that of its own velocity. Newton's method for the joints that move goes before each further sweep.
bool StiffStep::descend(double c, Eigen::VectorXd& w) {
  constexpr double kRounding = 1e-12;
  const int m = static_cast<int>(w.size());
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double largest = 0.0;
    for (int i = 0; i < m; ++i) {
      double rest = target_[i] + A_(i, i) * w[i];
      for (int j = 0; j < m; ++j) rest -= A_(i, j) * w[j];
      const double next = i < n_ ? sticking_->solve(i, A_(i, i), c, rest) : rest / A_(i, i);
      largest = std::max(largest, std::abs(next - w[i]));
      w[i] = next;
    }
    if (largest <= kRounding * (1.0 + w.lpNorm<Eigen::Infinity>())) return true;
    if (!factor_moving(c, w)) continue;
    fast_ = target_;
    add_product(A_, w.data(), fast_.data(), -1.0);
    for (int i = 0; i < n_; ++i) fast_[i] = w[i] == 0.0 ? 0.0 : fast_[i] - c * sticking_->torque(i, w[i]);
    solve_positive_definite(m, factor_.data(), fast_.data());
    bool turns = !all_finite(fast_.data(), m);
    for (int i = 0; i < n_; ++i) turns = turns || (w[i] != 0.0 && !((w[i] + fast_[i]) * w[i] > 0.0));
    if (!turns) w += fast_;
  }
  return false;
}

/// Factors A + c D without the joints at rest, which get a row of the identity. Where the Stribeck effect outweighs the
/// inertia, its slopes are left out.
bool StiffStep::factor_moving(double c, const Eigen::VectorXd& w) {
  for (const double least : {std::numeric_limits<double>::lowest(), 0.0}) {
    factor_ = A_;
    for (int i = 0; i < n_; ++i) {
      if (w[i] != 0.0) {
        factor_(i, i) += c * std::max(sticking_->slope(i, w[i]), least);
        continue;
      }
      factor_.row(i).setZero();
      factor_.col(i).setZero();
      factor_(i, i) = 1.0;
    }
    if (factor_positive_definite(static_cast<int>(w.size()), factor_.data())) return true;
  }
  return false;
}

/// Factors M + c D with springs and drives, or keeps the factorization for slopes close to the present ones.
bool StiffStep::factor(double c) {
  slow_ = slope_ + drive_slope_;
  bool kept = c == factored_c_;
  const auto close = [&](double now, double before, double inertia) {
    return std::abs(now - before) <= kKept * (before + inertia / c);
  };
  for (Eigen::Index i = 0; kept && i < slow_.size(); ++i) kept = close(slow_[i], factored_slope_[i], M_(i, i));
  for (int k = 0; kept && k < motors_; ++k) kept = close(spring_slope_[k], factored_spring_[k], M_(n_ + k, n_ + k));
  if (kept) return true;
  factor_ = M_;
  factor_.diagonal() += c * slow_;
  add_springs(c, factor_);
  factored_slope_ = slow_;
  factored_spring_ = spring_slope_;
  factored_c_ = factor_positive_definite(static_cast<int>(slow_.size()), factor_.data()) ? c : 0.0;
  return factored_c_ > 0.0;
}

/// Largest change of a velocity by that of friction, springs and drives between the stages, relative to it.
double StiffStep::error() {
  momentum_.setZero();
  add_product(M_, last_.data(), momentum_.data());
  change_ = (rhs_ - momentum_) - (first_rhs_ - first_momentum_);
  for (int i = 0; sticking_ != nullptr && i < n_; ++i)
    if (last_[i] == 0.0) change_[i] = 0.0;
  solve_positive_definite(static_cast<int>(change_.size()), factor_.data(), change_.data());
  double largest = 0.0;
  for (Eigen::Index i = 0; i < change_.size(); ++i)
    largest = std::max(largest, std::abs(change_[i]) / (std::max(std::abs(first_[i]), std::abs(last_[i])) + kSlowestSliding));
  return largest;
}

}  // namespace thunder
