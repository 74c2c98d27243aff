#include "thunder/control/repulsion.hpp"

#include <algorithm>

namespace thunder {

Eigen::Vector3d Repulsion::force(const Eigen::Vector3d& point) const noexcept {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const Sphere& sphere : spheres_) {
    const Eigen::Vector3d away = point - sphere.centre;
    const double length = away.norm(), distance = length - sphere.radius;
    if (!(length > 0.0) || distance >= shape_.influence) continue;  // at the centre no way out is the nearest
    const double pushed = distance > 0.0 ? shape_.gain * (1.0 / distance - 1.0 / shape_.influence)
                                         : std::numeric_limits<double>::infinity();
    sum += std::min(pushed, shape_.largest_force) / length * away;
  }
  return sum;
}

void Repulsion::add_torque(const Model& model, const double* q, Eigen::VectorXd& tau) noexcept {
  if (spheres_.empty() || points_.empty()) return;
  const ChainView<double> chain = model.view();
  Joints<Pose, double> poses;
  joint_frames(chain, q, chain.n, poses);
  for (const Frame<double>& point : points_) {
    const Vec3<double> p = frame_pose(poses, point).p;
    const Eigen::Vector3d F = force({p.x, p.y, p.z});
    if (F.isZero(0.0)) continue;
    write_jacobian(chain, poses, point.joint, p, J_.data());
    tau += J_.topRows<3>().transpose().lazyProduct(F);
  }
}

}  // namespace thunder
