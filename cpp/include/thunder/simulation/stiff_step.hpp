// A step over which friction, springs or drives are faster than an explicit integrator can follow.
#pragma once

#include "plant.hpp"

namespace thunder {

/// Integrates M(q) w' = g(t, y, w) - f(w) + s(y, w) + z, y' = w, T z' = u - d w - z, of which the friction f, the springs s
/// or the drives z are stiff for the step h. With M at the start of the step, F = M w' + f - s - z changes slowly, and two
/// problems with constant forces approximate the equation to second order (infinitesimal steps of the explicit midpoint
/// rule: Knoth and Wolke 1998):
///   M w' = F(0) - f + s + z over the first half, then M w' = 2 F(h/2) - F(0) - f + s + z over the second.
/// An L-stable Runge-Kutta method of order 3 (Alexander 1977), whose steps follow its error, solves these. Where joints
/// stick, each of its stages is an inclusion: a joint is at rest where its friction can hold it.
class StiffStep {
 public:
  explicit StiffStep(const Plant& plant);
  /// False for plants that never need it.
  bool active() const noexcept { return active_; }
  /// Advances x from t to t + dt if that is stiff, and returns whether it is. `x_dot` is the derivative at t. A step whose
  /// equations are not solved makes the state NaN.
  bool step(Plant& plant, double t, double dt, const double* tau, double* x, const double* x_dot);

 private:
  /// A torque with a lag T, or none, on a velocity.
  struct Drive {
    int joint, row, state;  // row: of the velocities; state: of the drives, or -1
    double T, d;
    double start = 0.0, base = 0.0, value = 0.0, first = 0.0;  // of the substep, of a stage, now, and the first stage's change
  };

  bool stiff(Plant& plant, double dt, const double* x);
  void half_steps(Plant& plant, double t, double h, const double* tau, double* x);
  bool relax(const Plant& plant, double span, const double* tau);
  bool substep(const Plant& plant, double k, const double* tau);
  bool solve(const Plant& plant, double c, const double* tau, Eigen::VectorXd& w);
  bool solve_sticking(const Plant& plant, double c, const double* tau, Eigen::VectorXd& w);
  bool descend(double c, Eigen::VectorXd& w);
  bool factor_moving(double c, const Eigen::VectorXd& w);
  void couple(const Plant& plant, double c, const double* tau, const Eigen::VectorXd& w);
  void add_springs(double c, Eigen::MatrixXd& A) const noexcept;
  static void predict(const Eigen::VectorXd& w, const Eigen::VectorXd& change, double share, Eigen::VectorXd& guess);
  bool factor(double c);
  double error();
  void read(const double* x, Eigen::VectorXd& velocities) const noexcept;
  void read_state(const double* x) noexcept;
  void write(double* x) const noexcept;
  void smooth_force(const Plant& plant, const double* tau, const double* x_dot, Eigen::VectorXd& force);

  bool active_, rubs_ = false;
  int n_, motors_;
  long steps_ = 0;
  bool stiff_ = false, stiff_springs_ = false;
  const JointFriction* sticking_ = nullptr;
  std::vector<int> motor_joints_;
  std::vector<Drive> drives_;
  Eigen::MatrixXd M_, factor_, A_;  // of the velocities of joints and motors
  Eigen::VectorXd position_, velocity_, force_, second_force_, rate_;
  Eigen::VectorXd steepest_;                         // slopes at rest
  Eigen::VectorXd first_, second_, last_;            // velocities at the stages of a substep
  Eigen::VectorXd momentum_, first_momentum_, rhs_, first_rhs_, first_change_, base_, base_position_;
  Eigen::VectorXd acceleration_, friction_, slope_, change_, slow_, fast_;
  Eigen::VectorXd coupling_, drive_slope_, spring_slope_;  // force of springs and drives, and its derivatives, at c
  Eigen::VectorXd factored_slope_, factored_spring_, target_;
  double factored_c_ = 0.0;  // of the factorization in force, 0 for none
};

}  // namespace thunder
