#include "thunder/control/repulsion.hpp"

#include <algorithm>

#include "thunder/math/rotations.hpp"

namespace thunder {

Eigen::Vector3d Repulsion::force(const Eigen::Vector3d& point) const noexcept {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const Sphere& sphere : spheres_) {
    const Eigen::Vector3d away = point - sphere.center;
    const double length = away.norm(), distance = length - sphere.radius;
    if (!(length > 0.0) || distance >= shape_.influence) continue;  // at the center the direction is undefined
    const double pushed = distance > 0.0 ? shape_.gain * (1.0 / distance - 1.0 / shape_.influence)
                                         : std::numeric_limits<double>::infinity();
    sum += std::min(pushed, shape_.largest_force) / length * away;
  }
  return sum;
}

void Repulsion::add_torque(const Evaluator& dynamics, const double* q, Eigen::VectorXd& tau) noexcept {
  if (spheres_.empty() || points_.empty()) return;
  const auto count = static_cast<int>(points_.size());
  dynamics.frame_poses(q, points_.data(), count, poses_.data(), J_.data());
  for (int k = 0; k < count; ++k) {
    tau += J_.middleRows<3>(6 * k).transpose().lazyProduct(force(to_eigen(poses_[k].p)));
  }
}

}  // namespace thunder
