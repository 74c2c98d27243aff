#include "thunder/kinematics/null_objective.hpp"

#include <cmath>

namespace thunder {

void ManipulabilityObjective::velocity(Workspace work, const double* q, double* dq_0) const noexcept {
  double w;
  kernels().manipulability_gradient(model_->view(), work, q, frame_, rows_, &w, dq_0);
  for (int i = 0; i < model_->n(); ++i)
    dq_0[i] = std::isfinite(dq_0[i]) ? gain_ * dq_0[i] : 0.0;  // w has no gradient where it is zero
}

JointLimitObjective::JointLimitObjective(const Eigen::VectorXd& lower, const Eigen::VectorXd& upper, double gain)
    : middle_(0.5 * (lower + upper)), slope_(lower.size()) {
  const auto n = static_cast<double>(lower.size());
  for (Eigen::Index i = 0; i < lower.size(); ++i) {
    const double range = upper[i] - lower[i];
    const bool limited = std::isfinite(range) && range > 0.0;
    if (!limited) middle_[i] = 0.0;
    slope_[i] = limited ? gain / (n * range * range) : 0.0;
  }
}

void JointLimitObjective::velocity(Workspace, const double* q, double* dq_0) const noexcept {
  for (Eigen::Index i = 0; i < middle_.size(); ++i) dq_0[i] = slope_[i] * (middle_[i] - q[i]);
}

void PostureObjective::velocity(Workspace, const double* q, double* dq_0) const noexcept {
  for (Eigen::Index i = 0; i < posture_.size(); ++i) dq_0[i] = gain_ * (posture_[i] - q[i]);
}

}  // namespace thunder
