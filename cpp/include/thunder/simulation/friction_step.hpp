// A step over which friction decays faster than an explicit integrator can follow.
#pragma once

#include "plant.hpp"

namespace thunder {

/// Integrates M(q) w' = g(t, y, w) - f(w), y' = w, of which the friction f is stiff for the step h. With M at the start
/// of the step, F = M w' + f(w) changes slowly, and two problems with constant forces approximate the equation to second
/// order (infinitesimal steps of the explicit midpoint rule: Knoth and Wolke 1998):
///   M w' = F(0) - f(w) over the first half, then M w' = 2 F(h/2) - F(0) - f(w) over the second.
/// An L-stable Runge-Kutta method of order 3 (Alexander 1977), whose steps follow its error, solves these.
class FrictionStep {
 public:
  explicit FrictionStep(const Plant& plant);
  /// Advances x from t to t + dt if friction is stiff for that, and returns whether it is. `x_dot` is the derivative at
  /// t. A step whose equations are not solved makes the state NaN.
  bool step(Plant& plant, double t, double dt, const double* tau, double* x, const double* x_dot);

 private:
  bool stiff(Plant& plant, double dt, const double* x);
  void half_steps(Plant& plant, double t, double h, const double* tau, double* x);
  bool relax(const Plant& plant, double span);
  bool substep(const Plant& plant, double k);
  bool solve(const Plant& plant, double c, Eigen::VectorXd& w);
  static void predict(const Eigen::VectorXd& w, const Eigen::VectorXd& change, double share, Eigen::VectorXd& guess);
  bool factor(double c);
  double error();
  void read(const double* x, Eigen::VectorXd& velocities) const noexcept;
  void write(double* x) const noexcept;
  void smooth_force(const Plant& plant, const double* x_dot, Eigen::VectorXd& force);

  bool active_;
  int n_, motors_, parts_;
  Eigen::MatrixXd M_, factor_;  // of the velocities of joints and motors
  Eigen::VectorXd position_, velocity_, force_, second_force_, rate_, drives_;
  Eigen::VectorXd steepest_;                         // slopes at rest
  Eigen::VectorXd first_, second_, last_;            // velocities at the stages of a substep
  Eigen::VectorXd momentum_, first_momentum_, rhs_, first_rhs_, first_change_, base_;
  Eigen::VectorXd acceleration_, friction_, slope_, change_, slow_, fast_;
  Eigen::VectorXd factored_slope_;
  double factored_c_ = 0.0;  // of the factorization in force, 0 for none
};

}  // namespace thunder
