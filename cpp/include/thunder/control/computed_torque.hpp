// Computed torque control, or feedback linearization, in two forms that differ in where the gains act.
//
// Lecture notes, lecture 28 (J. J. Craig's form); DARKO D4.2, eq. 53, of which the errata (D-5) say that it is not
// asymptotically stable in general.
#pragma once

#include "controller.hpp"

namespace thunder {

class ComputedTorque final : public JointController {
 public:
  enum class Form {
    craig,      // M (ddq_d + K_v de + K_p e) + C dq + friction + G: gains in 1/s and 1/s^2
    impedance,  // M ddq_d + C dq + friction + G + K_v de + K_p e: gains in N m s/rad and N m/rad
  };

  /// K_p and K_v: n x n, symmetric positive definite.
  ComputedTorque(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_v, Form form);

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;

 private:
  Eigen::MatrixXd K_p_, K_v_;
  Form form_;
  Eigen::VectorXd e_, e_dot_, feedback_, ddq_;
};

}  // namespace thunder
