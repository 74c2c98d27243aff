// Integral part of a control law with anti-windup.
#pragma once

#include <Eigen/Dense>

#include "clock.hpp"

namespace thunder {

class IntegralAction {
 public:
  /// K_i: n x n, or empty for a law without integral part. `limit` bounds the torque of the integral; n positive
  /// entries, or none for no bound.
  IntegralAction(Eigen::MatrixXd K_i, Eigen::VectorXd limit, int n);

  bool active() const noexcept { return K_i_.size() > 0; }
  /// Replaces K_i, n x n, where there is one.
  void set_gain(const Eigen::MatrixXd& K_i) noexcept { K_i_ = K_i; }
  /// Contribution to the law, n values, at a fixed address.
  const Eigen::VectorXd& torque() const noexcept { return torque_; }
  /// torque' = K_i e up to time t. A joint whose last torque was clipped is not pushed further beyond its limit; it may
  /// come back, which holding the integral as a whole would prevent.
  void advance(double t, const Eigen::VectorXd& e, const Eigen::VectorXd& last_torque,
               const Eigen::VectorXd& torque_limits) noexcept;
  /// The time until the next `advance` does not count.
  void pause() noexcept { clock_.reset(); }
  void reset() noexcept;
  void archive(StateArchive& state) { state(torque_, clock_); }

 private:
  Eigen::MatrixXd K_i_;
  Eigen::VectorXd limit_, torque_, rate_;
  StepClock clock_;
};

}  // namespace thunder
