// References given by a formula.
#pragma once

#include "reference.hpp"

namespace thunder {

/// Joints at rest.
class SetPoint final : public JointReferenceSource {
 public:
  explicit SetPoint(const Eigen::VectorXd& q);
  JointReference blank() const override { return reference_; }
  void at(double t, JointReference& reference) const noexcept override;

 private:
  JointReference reference_;
};

/// q_i = center_i + amplitude_i sin(2 pi frequency_i t + phase_i)
class Sinusoid final : public JointReferenceSource {
 public:
  Sinusoid(Eigen::VectorXd center, Eigen::VectorXd amplitude, Eigen::VectorXd frequency, Eigen::VectorXd phase);
  JointReference blank() const override { return JointReference(static_cast<int>(center_.size())); }
  void at(double t, JointReference& reference) const noexcept override;

 private:
  Eigen::VectorXd center_, amplitude_, frequency_, phase_;
};

/// A pose at rest.
class SetPose final : public TaskReferenceSource {
 public:
  SetPose(const Eigen::Vector3d& p, const Eigen::Matrix3d& R);
  TaskReference blank() const override { return {}; }
  void at(double t, TaskReference& reference) const noexcept override;

 private:
  TaskReference reference_;
};

/// Lissajous curve at constant orientation (Thunder article, section 5):
/// p = center + (A sin 2 pi a (t - t0), B cos 2 pi b (t - t0), C sin 2 pi c (t - t0)).
class Lissajous final : public TaskReferenceSource {
 public:
  Lissajous(const Eigen::Vector3d& center, const Eigen::Matrix3d& R, const Eigen::Vector3d& amplitude,
            const Eigen::Vector3d& frequency, double t0);

  /// The curve that is at `p` at t0. Because of its cosine that is center + (0, B, 0), not the center (errata T-15).
  static Lissajous starting_at(const Eigen::Vector3d& p, const Eigen::Matrix3d& R, const Eigen::Vector3d& amplitude,
                               const Eigen::Vector3d& frequency, double t0);

  TaskReference blank() const override { return {}; }
  void at(double t, TaskReference& reference) const noexcept override;

  const Eigen::Vector3d& center() const { return center_; }

 private:
  Eigen::Vector3d center_, amplitude_, frequency_;
  Eigen::Matrix3d R_;
  double t0_;
};

}  // namespace thunder
