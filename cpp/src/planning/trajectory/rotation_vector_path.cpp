#include "thunder/planning/trajectory/rotation_vector_path.hpp"

#include <stdexcept>
#include <string>

#include "thunder/math/rotations.hpp"

namespace thunder {

RotationVectorPath::RotationVectorPath(BezierPath path, const Eigen::Matrix3d& R_ref)
    : path_(std::move(path)), R_ref_(R_ref) {
  if (path_.dimension != 3 && path_.dimension != 6)
    throw std::invalid_argument("a path in task space must have 3 or 6 dimensions, got " +
                                std::to_string(path_.dimension));
}

void path_reference(const BezierPath& path, const Eigen::Matrix3d& R_ref, double t, TaskReference& reference) noexcept {
  double x[3][6];
  for (int derivative = 0; derivative < 3; ++derivative) path.at(t, derivative, x[derivative]);
  using Vector = Eigen::Map<const Eigen::Vector3d>;
  reference.p = Vector(x[0]);
  reference.xi.head<3>() = Vector(x[1]);
  reference.xi_dot.head<3>() = Vector(x[2]);
  reference.R = R_ref;
  reference.xi.tail<3>().setZero();
  reference.xi_dot.tail<3>().setZero();
  if (path.dimension == 3) return;
  const Eigen::Vector3d phi = Vector(x[0] + 3), rate = Vector(x[1] + 3);
  const Eigen::Matrix3d J = rotation_jacobian(phi);
  reference.R.noalias() = rotation_exp(phi) * R_ref;
  reference.xi.tail<3>().noalias() = J * rate;
  reference.xi_dot.tail<3>() = J.lazyProduct(Vector(x[2] + 3)) + rotation_bias(phi, rate);
}

void RotationVectorPath::at(double t, TaskReference& reference) const noexcept {
  path_reference(path_, R_ref_, t, reference);
}

}  // namespace thunder
