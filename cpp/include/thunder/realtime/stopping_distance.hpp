// How far the brake of a loop lets an arm go.
#pragma once

#include "../simulation/integrators.hpp"
#include "safe_torque.hpp"
#include "safety.hpp"

namespace thunder::realtime {

/// Simulates the stop from states: the applied torque for some periods, then that of the brake within the torque limits and
/// rates. The model is the arm, friction included.
class StoppingDistance final : public Exclusive {
 public:
  /// Of the limits those of torques, and the period. `part`: of the torque limits; `reaction`: periods before the brake.
  StoppingDistance(std::shared_ptr<const Model> model, SafetyLimits limits, double part, int reaction);

  int n() const noexcept { return safety_.n(); }
  /// Raises the n distances to the largest of each joint from where it is, and `tip` to that of the end effector.
  void measure(const double* q, const double* dq, const double* applied, double* joints, double& tip) noexcept;

 private:
  Eigen::Vector3d end_effector() noexcept;

  RigidPlant plant_;
  RungeKutta4 integrator_;
  Safety safety_;
  SafeTorque brake_;
  Evaluator kinematics_;
  int reaction_;
  Eigen::VectorXd x_, tau_;
};

}  // namespace thunder::realtime
