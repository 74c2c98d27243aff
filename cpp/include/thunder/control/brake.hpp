// The braking torque of an arm: damping in proportion to the mass matrix, within the limits of the torques.
#pragma once

#include <Eigen/Dense>

#include "../kernels/evaluator.hpp"
#include "elastic_damping.hpp"

namespace thunder {

/// Rate of braking [1/s] for torques that are held for a period [s], 0.4 / period: with one more period of delay, the
/// velocity v' = -rate v decays by 37 % in each, and is stable up to rate * period = 1; with two, up to 0.62. At most
/// 150/s, for loops that are late by some milliseconds.
double braking_rate(double period) noexcept;

/// The largest part, 0 to 1, of `change` that keeps base + part * change within plus and minus the limits. A joint that the
/// base leaves less than a tenth of its limit counts with a tenth, and is to be clipped alone: the others must brake. Without
/// limits the part is 1.
double largest_part(const Eigen::VectorXd& limits, const double* base, const double* change) noexcept;

/// tau = G(q) + C(q, dq) dq - rho M(q) dq: all joints slow down by the same factor, dq' = -rho dq, and the arm moves along a
/// straight line in joint space, q + sigma dq, on which no joint speeds up whatever the inertial coupling. rho is the rate,
/// or less: the whole torque -rho M dq is scaled down to the torque limits, which keeps it dissipative, and to what the
/// torque rate R can bring back to zero in time, rho^2 |M dq| <= R. With a spring to y_h, tau has M k (y_h - q), too.
///
/// The row of an elastic joint has the inertia of its motor in the place of M, and its motor's state y in the place of q.
class Brake {
 public:
  /// n positive entries each, infinite for no limit; `rate` is positive [1/s].
  Brake(std::shared_ptr<const Model> model, double rate, Eigen::VectorXd torque_limits, Eigen::VectorXd torque_rate);

  int n() const noexcept { return dynamics_.n(); }
  const std::shared_ptr<const Model>& model() const noexcept { return dynamics_.shared_model(); }
  const Eigen::VectorXd& torque_limits() const noexcept { return torque_limits_; }

  struct Feedback {
    const double* dy = nullptr;     // velocities that are damped; null for dq
    const double* away = nullptr;   // y_h - y; null without a spring
    const double* load = nullptr;   // torque beside the model's gravity, null for none
  };
  /// Writes the torque, returns rho. Never throws, never allocates.
  double torque(const double* q, const double* dq, const Feedback& feedback, double* tau) noexcept;
  double torque(const double* q, const double* dq, double* tau) noexcept { return torque(q, dq, {}, tau); }
  /// Torque that holds the arm at rest, within the limits.
  void rest(const double* q, const double* load, double* tau) noexcept;
  /// Largest damping of an elastic joint whose motor is not measured, in parts of that of its row.
  void damping_parts(const double* q, double* parts) noexcept;

 private:
  void times_inertia(const double* q, const double* v, Eigen::VectorXd& product) noexcept;
  double allowed_rate() const noexcept;

  Evaluator dynamics_;
  ElasticDamping elastic_damping_;
  double rate_, spring_rate_;
  Eigen::VectorXd torque_limits_, torque_rate_, base_, change_, momentum_, pull_, v_, drift_, friction_;
  const Eigen::VectorXd zero_;
};

/// The stop that `Brake` needs: for the time `reaction` the arm goes on as before, then the torque changes within its rate to
/// that of the brake, and the arm stops along a straight line, in steps of equal loss of speed.
class BrakingPath {
 public:
  static constexpr int kRamp = 8, kPoints = 8;

  /// `reaction`: time before the brake acts [s].
  BrakingPath(std::shared_ptr<const Model> model, double rate, const Eigen::VectorXd& torque_limits,
              Eigen::VectorXd torque_rate, double reaction);

  /// The stop of an arm on whose joints `applied` acts now, null where that is not known. Never throws, never allocates.
  void predict(const double* q, const double* dq, const double* applied) noexcept;
  /// Number of the points before the straight line.
  int before() const noexcept { return before_; }
  /// Positions along the stop, 0 to before() + kPoints; the last one is where it ends.
  void point(int k, double* q) const noexcept;

 private:
  void change_torque() noexcept;
  void move(double time) noexcept;

  Brake brake_;
  Evaluator dynamics_;
  double reaction_;
  Eigen::VectorXd torque_rate_, q_, dq_, ahead_, slower_, tau_, target_, mean_, ddq_;
  Eigen::VectorXd friction_, present_;  // at first, and now
  Eigen::MatrixXd ramp_;  // positions while the torque changes, a column each
  int before_ = 0;
  double sigma_[kPoints + 1] = {};
};

}  // namespace thunder
