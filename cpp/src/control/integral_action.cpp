#include "thunder/control/integral_action.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/math/dense.hpp"

namespace thunder {

IntegralAction::IntegralAction(Eigen::MatrixXd K_i, Eigen::VectorXd limit, int n)
    : K_i_(std::move(K_i)), limit_(std::move(limit)), torque_(Eigen::VectorXd::Zero(n)), rate_(torque_) {
  if (limit_.size() == 0) limit_.setConstant(n, std::numeric_limits<double>::infinity());
}

void IntegralAction::advance(double t, const Eigen::VectorXd& e, const Eigen::VectorXd& last_torque,
                             const Eigen::VectorXd& torque_limits) noexcept {
  if (!active()) return;
  const double dt = clock_.advance(t);
  rate_.setZero();
  add_product(K_i_, e.data(), rate_.data());
  for (Eigen::Index i = 0; i < rate_.size(); ++i) {
    const bool at_limit = torque_limits.size() > 0 && std::abs(last_torque[i]) >= torque_limits[i];
    if (at_limit && rate_[i] * last_torque[i] > 0.0) continue;
    torque_[i] = std::clamp(torque_[i] + dt * rate_[i], -limit_[i], limit_[i]);
  }
}

void IntegralAction::reset() noexcept {
  torque_.setZero();
  clock_.reset();
}

}  // namespace thunder
