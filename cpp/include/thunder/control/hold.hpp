// Joint-space hold of an arm whose law gives no torque, against loads that the model does not have.
#pragma once

#include "../math/matrices.hpp"
#include "../model/model.hpp"
#include "clock.hpp"
#include "integral_action.hpp"

namespace thunder {

/// Slotine and Li's law along q_h(t). With dq_r = dq_h + rate (q_h - q), s = dq_r - dq and D = 2 rate M the torque is
///   M (ddq_r + 2 rate s) + C dq_r + G + load,   load' = rate / 10 D(q_0) s;
/// V = 1/2 (s' M s + ...) falls by s' D s, whatever constant load acts on the joints. Velocities are damped by 3 rate M: the
/// rate is that of the period, see `braking_rate`, and of no gain. q_h begins where the arm is, q_0.
/// There it stays, or it goes on with the arm's velocity and comes to rest, dq_h = dq_0 (1 + b t) exp(-b t): s and ddq_h
/// begin with zero, so that the loss of a reference for some periods hardly disturbs a motion.
class Hold {
 public:
  explicit Hold(int n);

  bool active() const noexcept { return active_; }
  /// False where the next `advance` needs a `start` before: after a pause the arm may be elsewhere.
  bool continues(double t) const noexcept { return active_ && clock_.recent(t); }
  /// The arm is at rest, and a law that was singular may take it over.
  bool resting() const noexcept;
  /// Begins where the arm is; M is its mass matrix there. q_h goes on with `dq` and ends within the joint limits, or
  /// stays where `dq` is null.
  void start(const Model& model, const double* q, const double* dq, const RowMajor& M, double rate,
             bool knows_period) noexcept;
  /// False where it was started at the slowest rate.
  bool knows_period() const noexcept { return knows_period_; }
  /// The rate for torques that are held for a period, 0 where that is not known [s].
  static double rate(double period) noexcept;
  /// Of an elastic joint: 3 rate M is a quarter of what `ElasticDamping` allows.
  static constexpr double kElasticShare = 0.25 / 3.0;
  /// s and the reference's derivatives; the load's estimate at time t, from the last step's torque.
  void advance(double t, const double* q, const double* dq, const Eigen::VectorXd& last_torque,
               const Eigen::VectorXd& torque_limits) noexcept;
  /// Makes a law's torque continue after a hold; the difference decays. It is that to the last torque, or the load where
  /// the arm still moves, since the law shall not brake.
  void hand_over(double t, const Eigen::VectorXd& last_torque, double* tau) noexcept;
  /// For a while after a hold, as long as it lasted but 0.05 s at most: the law's errors are those of the hold.
  bool settling() const noexcept { return settling_ > 0.0; }
  void reset() noexcept;
  void archive(StateArchive& state);

  const double* dq_r() const noexcept { return dq_r_.data(); }
  const double* ddq_r() const noexcept { return ddq_r_.data(); }  // 2 rate s included
  const double* s() const noexcept { return s_.data(); }
  const Eigen::VectorXd& load() const noexcept { return load_.torque(); }

 private:
  void stop_within_limits(const ModelData& model) noexcept;

  bool active_ = false, knows_period_ = false;
  double rate_, since_start_ = 0.0, settling_ = 0.0;
  Eigen::VectorXd q_0_, dq_0_, stop_, dq_h_, dq_r_, ddq_r_, s_, offset_;
  Eigen::MatrixXd load_gain_;
  IntegralAction load_;
  StepClock clock_;
};

}  // namespace thunder
