// Planned paths as references: positions and rotation vectors that are polynomials of time.
#pragma once

#include "../../kinematics/reference.hpp"
#include "bezier_path.hpp"

namespace thunder {

/// Reference of a path of 3 or 6 dimensions at time t; see `RotationVectorPath`.
void path_reference(const BezierPath& path, const Eigen::Matrix3d& R_ref, double t, TaskReference& reference) noexcept;

/// Position from the first three degrees of freedom; orientation exp(phi) R_ref with phi from the next three, in world
/// axes, or R_ref where there are none.
class RotationVectorPath final : public TaskReferenceSource {
 public:
  /// Throws std::invalid_argument for a path of other than 3 or 6 dimensions.
  RotationVectorPath(BezierPath path, const Eigen::Matrix3d& R_ref);
  TaskReference blank() const override { return {}; }
  void at(double t, TaskReference& reference) const noexcept override;

  const BezierPath& path() const noexcept { return path_; }
  const Eigen::Matrix3d& reference_rotation() const noexcept { return R_ref_; }

 private:
  BezierPath path_;
  Eigen::Matrix3d R_ref_;
};

/// Joint-space reference along such a path.
class JointBezierPath final : public JointReferenceSource {
 public:
  explicit JointBezierPath(BezierPath path) : path_(std::move(path)) {}
  JointReference blank() const override { return JointReference(path_.dimension); }
  void at(double t, JointReference& reference) const noexcept override {
    path_.at(t, 0, reference.q.data());
    path_.at(t, 1, reference.dq.data());
    path_.at(t, 2, reference.ddq.data());
    path_.at(t, 3, reference.d3q.data());
    path_.at(t, 4, reference.d4q.data());
  }

  const BezierPath& path() const noexcept { return path_; }

 private:
  BezierPath path_;
};

}  // namespace thunder
