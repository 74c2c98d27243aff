// Finite Fourier series in every joint: the excitation trajectories of identification.
#pragma once

#include "../../kinematics/reference.hpp"

namespace thunder {

/// q_i = q0_i + sum_k a_ik / (w k) sin(w k t) - b_ik / (w k) cos(w k t), k = 1 ... N, w = 2 pi fundamental, so that a and b
/// are amplitudes of velocity (Swevers et al. 1997). Periodic, without end.
class FourierSeries final : public JointReferenceSource {
 public:
  /// a, b: joints x harmonics; fundamental in Hz.
  FourierSeries(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::VectorXd q0, double fundamental);
  JointReference blank() const override { return JointReference(static_cast<int>(q0_.size())); }
  void at(double t, JointReference& reference) const noexcept override;

 private:
  Eigen::MatrixXd a_, b_;  // a column for each harmonic: `at` goes through joints inside
  Eigen::VectorXd q0_;
  double w_;
};

}  // namespace thunder
