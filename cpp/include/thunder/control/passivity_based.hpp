// Passivity-based control: the Slotine-Li law with a known model.
//
// Lecture notes, lecture 32, with errata N-8 (J.-J. Slotine and W. Li, 1987).
#pragma once

#include "controller.hpp"

namespace thunder {

class PassivityBased final : public JointController {
 public:
  /// Lambda and K: n x n, symmetric positive definite.
  PassivityBased(std::shared_ptr<const Model> model, Eigen::MatrixXd Lambda, Eigen::MatrixXd K_d);

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;

 private:
  Eigen::MatrixXd Lambda_;
  Eigen::VectorXd e_, e_dot_, dq_r_, ddq_r_, s_;
};

}  // namespace thunder
