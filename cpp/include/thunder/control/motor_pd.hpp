// PD control of the motors of elastic joints with gravity compensation.
//
// P. Tomei, "A simple PD controller for robots with elastic joints", 1991; A. De Luca, B. Siciliano and L. Zollo, "PD
// control with on-line gravity compensation for robots with elastic joints", 2005.
#pragma once

#include "elastic_controller.hpp"

namespace thunder {

/// tau = K_p (theta_d - theta) + K_d (dq_d - dtheta) + G, where theta_d = q_d + d and the springs deflected by d carry
/// G(q_d). G is G(q_d), or on-line G(theta - d).
class MotorPD final : public ElasticController<JointController> {
 public:
  enum class Gravity { desired, online };

  /// K_p and K_d: n x n, symmetric positive definite.
  MotorPD(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d, Gravity compensated);

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired, double* tau) noexcept override;

 private:
  Eigen::MatrixXd K_p_;
  Gravity compensated_;
  Eigen::VectorXd e_, e_dot_, deflection_, error_, biased_;
};

}  // namespace thunder
