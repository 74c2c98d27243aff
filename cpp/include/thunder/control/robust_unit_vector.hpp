// Robust control: computed torque with a unit-vector term that dominates model uncertainty.
//
// Technical project on a SCARA arm, section 4.1, with errata S-5; B. Siciliano et al., "Robotics", section 8.5.3.
#pragma once

#include "controller.hpp"

namespace thunder {

class RobustUnitVector final : public JointController {
 public:
  struct Gains {
    Eigen::MatrixXd K_0, K_1;  // n x n, symmetric positive definite, in 1/s^2 and 1/s
    Eigen::MatrixXd P;         // 2n x 2n, symmetric positive definite: a Lyapunov function of e' = H e, H = [0 1; -K_0 -K_1]
    double rho, epsilon;       // acceleration of the unit vector, width of the boundary layer in |z|; both positive
  };

  /// Throws std::invalid_argument where rho or epsilon is not positive.
  RobustUnitVector(std::shared_ptr<const Model> model, Gains gains);

  /// P; the report calls it Q.
  const Eigen::MatrixXd& lyapunov_matrix() const noexcept { return gains_.P; }

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;

 private:
  Gains gains_;
  Eigen::MatrixXd P_e_, P_v_;  // D' P = [P_e P_v], its lower n rows
  Eigen::VectorXd e_, e_dot_, z_, w_, ddq_;
};

}  // namespace thunder
