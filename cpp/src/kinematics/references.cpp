#include "thunder/kinematics/references.hpp"

#include <cmath>

namespace thunder {

SetPoint::SetPoint(const Eigen::VectorXd& q) : reference_(static_cast<int>(q.size())) { reference_.q = q; }

void SetPoint::at(double, JointReference& reference) const noexcept { reference = reference_; }

Sinusoid::Sinusoid(Eigen::VectorXd center, Eigen::VectorXd amplitude, Eigen::VectorXd frequency, Eigen::VectorXd phase)
    : center_(std::move(center)),
      amplitude_(std::move(amplitude)),
      frequency_(std::move(frequency)),
      phase_(std::move(phase)) {}

void Sinusoid::at(double t, JointReference& reference) const noexcept {
  for (Eigen::Index i = 0; i < center_.size(); ++i) {
    const double w = 2.0 * kPi * frequency_[i], angle = w * t + phase_[i];
    const double x = amplitude_[i] * std::sin(angle);
    reference.q[i] = center_[i] + x;
    reference.dq[i] = amplitude_[i] * w * std::cos(angle);
    reference.ddq[i] = -w * w * x;
    reference.d3q[i] = -w * w * reference.dq[i];
    reference.d4q[i] = w * w * w * w * x;
  }
}

SetPose::SetPose(const Eigen::Vector3d& p, const Eigen::Matrix3d& R) {
  reference_.p = p;
  reference_.R = R;
}

void SetPose::at(double, TaskReference& reference) const noexcept { reference = reference_; }

Lissajous::Lissajous(const Eigen::Vector3d& center, const Eigen::Matrix3d& R, const Eigen::Vector3d& amplitude,
                     const Eigen::Vector3d& frequency, double t0)
    : center_(center), amplitude_(amplitude), frequency_(frequency), R_(R), t0_(t0) {}

Lissajous Lissajous::starting_at(const Eigen::Vector3d& p, const Eigen::Matrix3d& R, const Eigen::Vector3d& amplitude,
                                 const Eigen::Vector3d& frequency, double t0) {
  return {p - Eigen::Vector3d(0.0, amplitude.y(), 0.0), R, amplitude, frequency, t0};
}

void Lissajous::at(double t, TaskReference& reference) const noexcept {
  constexpr double kQuarterTurn = 0.5 * kPi;  // makes the cosine of y a sine
  reference.R = R_;
  reference.xi.setZero();
  reference.xi_dot.setZero();
  for (int i = 0; i < 3; ++i) {
    const double w = 2.0 * kPi * frequency_[i], angle = w * (t - t0_) + (i == 1 ? kQuarterTurn : 0.0);
    const double x = amplitude_[i] * std::sin(angle);
    reference.p[i] = center_[i] + x;
    reference.xi[i] = amplitude_[i] * w * std::cos(angle);
    reference.xi_dot[i] = -w * w * x;
  }
}

}  // namespace thunder
