// Joint-space hold of an arm whose law gives no torque, against loads that the model does not have.
#pragma once

#include "../math/matrices.hpp"
#include "clock.hpp"
#include "integral_action.hpp"

namespace thunder {

/// Slotine and Li's law about the position q_h. With dq_r = rate (q_h - q), s = dq_r - dq and D = K_d + rate M the
/// torque is
///   Y_r(q, dq, dq_r, ddq_r + rate s) pihat + K_d s + load,   load' = rate / 10 D(q_h) s;
/// V = 1/2 (s' M s + ...) falls by s' D s, whatever constant load acts on the joints.
class Hold {
 public:
  explicit Hold(int n);

  bool active() const noexcept { return active_; }
  /// False where the next `advance` needs a `start` before: after a pause the arm may be elsewhere.
  bool continues(double t) const noexcept { return active_ && clock_.recent(t); }
  /// The arm is at rest, and a law that was singular may take it over.
  bool resting() const noexcept;
  /// Begins to hold where the arm is; M is its mass matrix there. Elastic joints bound the damping, K_d + 2 rate M: for
  /// them the rate is lower.
  void start(const double* q, const double* dq, const Eigen::MatrixXd& K_d, const RowMajor& M, bool elastic) noexcept;
  /// s and the reference's derivatives; the load's estimate at time t, from the last step's torque.
  void advance(double t, const double* q, const double* dq, const Eigen::VectorXd& last_torque,
               const Eigen::VectorXd& torque_limits) noexcept;
  /// Makes a law's torque continue after a hold; the difference decays. It is that to the last torque, or the load where
  /// the arm still moves, since the law shall not brake.
  void hand_over(double t, const Eigen::VectorXd& last_torque, double* tau) noexcept;
  void reset() noexcept;
  void archive(StateArchive& state);

  const double* dq_r() const noexcept { return dq_r_.data(); }
  const double* ddq_r() const noexcept { return ddq_r_.data(); }  // rate s included
  const double* s() const noexcept { return s_.data(); }
  const Eigen::VectorXd& load() const noexcept { return load_.torque(); }

 private:
  bool active_ = false;
  double rate_, since_start_ = 0.0;
  Eigen::VectorXd q_0_, dq_0_, dq_h_, dq_r_, ddq_r_, s_, offset_;
  Eigen::MatrixXd load_gain_;
  IntegralAction load_;
  StepClock clock_;
};

}  // namespace thunder
