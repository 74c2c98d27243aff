// The safe torque: braking, then a spring to the position of rest.
#pragma once

#include "../control/brake.hpp"
#include "../math/state_archive.hpp"
#include "../model/elastic.hpp"
#include "../threads/exclusive.hpp"

namespace thunder::realtime {

/// The torque of `Brake`, with its spring once the arm is at rest: y_h is set when all joints are slower than 0.05 rad/s,
/// after 0.5 s at the latest. y is the position of the joint, or of its motor if it is elastic: feedback of the link's
/// velocity beyond a spring is unstable with all but small gains. Elastic joints whose motors are not measured have no spring
/// torque, and at most a quarter of the damping `elastic_damping` at the present position.
class SafeTorque final : public Exclusive {
 public:
  /// See `Brake`.
  SafeTorque(std::shared_ptr<const Model> model, double rate, Eigen::VectorXd torque_limits, Eigen::VectorXd torque_rate);

  int n() const noexcept { return brake_.n(); }
  const std::shared_ptr<const Model>& model() const noexcept { return brake_.model(); }
  /// Number of motors of elastic joints.
  int motors() const noexcept { return model()->elastic_count(); }
  /// The arm has come to rest, and the spring is set.
  bool held() const noexcept { return held_; }
  /// Discards the held position.
  void leave() noexcept { started_ = held_ = false; }
  /// Never throws, never allocates. `motors` is empty where they are not measured; `load` is a torque that is added to the
  /// gravity of the model, or null.
  void step(double t, const double* q, const double* dq, const Motors& motors, double* tau, const double* load = nullptr) noexcept;
  /// Gravity at the last known position, for times without a state.
  void blind(const double* q, double* tau, const double* load = nullptr) noexcept { brake_.rest(q, load, tau); }
  void archive(StateArchive& state);

 private:
  void read_feedback(const double* q, const double* dq, const Motors& motors) noexcept;

  Brake brake_;
  Eigen::VectorXd y_, dy_, point_, away_, parts_;
  double started_at_ = 0.0;
  bool started_ = false, held_ = false, sees_motors_ = false;
};

}  // namespace thunder::realtime
