// Slotine-Li adaptive control in joint space.
//
// J.-J. Slotine and W. Li, "On the adaptive control of robot manipulators", 1987; Thunder article, Appendix C, with
// its misprints corrected (errata T-1, T-2).
#pragma once

#include "adaptive_controller.hpp"

namespace thunder {

class SlotineLi final : public AdaptiveController<JointReference> {
 public:
  /// Lambda and K_d: n x n, symmetric positive definite.
  SlotineLi(AdaptiveModel adaptive_model, Eigen::MatrixXd Lambda, Eigen::MatrixXd K_d);

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;

 private:
  Eigen::MatrixXd Lambda_;
  Eigen::VectorXd e_, e_dot_, dq_r_, ddq_r_, s_;
};

}  // namespace thunder
