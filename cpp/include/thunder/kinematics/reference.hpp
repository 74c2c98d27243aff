// References of controllers: values at one instant, and their sources.
#pragma once

#include "../math/matrices.hpp"

namespace thunder {

/// Joint position and its derivatives. Laws of rigid joints take those up to the acceleration; laws that linearize
/// elastic joints take all four.
struct JointReference {
  Eigen::VectorXd q, dq, ddq, d3q, d4q;

  explicit JointReference(int n) : q(Eigen::VectorXd::Zero(n)), dq(q), ddq(q), d3q(q), d4q(q) {}
  bool valid() const noexcept { return q.allFinite() && dq.allFinite() && ddq.allFinite(); }
};

/// Pose, twist and its derivative of the controlled frame; world axes, linear part first.
struct TaskReference {
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Vector6d xi = Vector6d::Zero(), xi_dot = Vector6d::Zero();

  bool valid() const noexcept {
    constexpr double kTolerance = 1e-6;  // of a rotation that went through a file or a message
    const bool rotation = (R.transpose().lazyProduct(R) - Eigen::Matrix3d::Identity()).norm() < kTolerance &&
                          R.determinant() > 0.0;
    return rotation && p.allFinite() && xi.allFinite() && xi_dot.allFinite();
  }
};

/// A reference over time.
template <class Reference>
class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;
  /// A reference of the right size, to pass to `at`.
  virtual Reference blank() const = 0;
  /// To be called before `at`, with times that do not go back: references that depend on more than the time, such as on
  /// measurements, change here and nowhere else.
  virtual void advance(double /*t*/) noexcept {}
  virtual void at(double t, Reference& reference) const noexcept = 0;
};

using JointReferenceSource = ReferenceSource<JointReference>;
using TaskReferenceSource = ReferenceSource<TaskReference>;

}  // namespace thunder
