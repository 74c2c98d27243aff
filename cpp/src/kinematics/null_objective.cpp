#include "thunder/kinematics/null_objective.hpp"

#include <cmath>

#include "thunder/math/dual.hpp"

namespace thunder {

void ManipulabilityObjective::velocity(const double* q, double* dq_0) const noexcept {
  const int n = model_->n();
  Dual<double> x[kMaxJoints], w;
  for (int i = 0; i < n; ++i) x[i] = {q[i], 0.0};
  for (int i = 0; i < n; ++i) {
    x[i].b = 1.0;
    manipulability(model_->view(), x, frame_, rows_, &w);
    x[i].b = 0.0;
    dq_0[i] = std::isfinite(w.b) ? gain_ * w.b : 0.0;  // w has no gradient where it is zero
  }
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

void JointLimitObjective::velocity(const double* q, double* dq_0) const noexcept {
  for (Eigen::Index i = 0; i < middle_.size(); ++i) dq_0[i] = slope_[i] * (middle_[i] - q[i]);
}

void PostureObjective::velocity(const double* q, double* dq_0) const noexcept {
  for (Eigen::Index i = 0; i < posture_.size(); ++i) dq_0[i] = gain_ * (posture_[i] - q[i]);
}

}  // namespace thunder
