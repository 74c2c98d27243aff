// The safe torque: gravity of the nominal model, damping, and a spring to the position of rest.
#pragma once

#include "../control/elastic_damping.hpp"
#include "../control/pd_gravity.hpp"

namespace thunder::realtime {

/// tau = G(q) - D dy + K (y_h - y), clipped to the torque limits. y is the position of the joint, or of its motor if it is
/// elastic: feedback of the link's velocity beyond a spring is unstable with all but small gains. While the arm moves,
/// y_h = y; y_h is set once all joints are slower than 0.05 rad/s, after 0.5 s at the latest. Elastic joints whose motors
/// are not measured have no spring torque, and at most a quarter of the damping `elastic_damping` at the present position.
class SafeTorque final : public Exclusive {
 public:
  /// n entries each; stiffness and damping positive [N m/rad, N m s/rad].
  SafeTorque(std::shared_ptr<const Model> model, const Eigen::VectorXd& stiffness, Eigen::VectorXd damping,
             const Eigen::VectorXd& torque_limits);

  int n() const noexcept { return law_.n(); }
  const std::shared_ptr<const Model>& model() const noexcept { return law_.model(); }
  /// Number of motors of elastic joints.
  int motors() const noexcept { return law_.model()->elastic_count(); }
  /// Discards the held position.
  void leave() noexcept { started_ = held_ = false; }
  /// Never throws, never allocates. `motors` is empty where they are not measured.
  void step(double t, const double* q, const double* dq, const Motors& motors, double* tau) noexcept;
  /// Gravity at the last known position, for times without a state.
  void blind(const double* q, double* tau) noexcept;
  void archive(StateArchive& state);

 private:
  void read_feedback(const double* q, const double* dq, const Motors& motors) noexcept;

  PDGravity law_;
  ElasticDamping elastic_damping_;
  Eigen::VectorXd damping_, y_, dy_, point_, limits_, nan_;
  JointReference reference_;
  double started_at_ = 0.0;
  bool started_ = false, held_ = false, sees_motors_ = false;
};

}  // namespace thunder::realtime
