#include "thunder/planning/trajectory/fourier_series.hpp"

#include <cmath>

namespace thunder {

FourierSeries::FourierSeries(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Eigen::VectorXd q0, double fundamental)
    : a_(a), b_(b), q0_(std::move(q0)), w_(2.0 * kPi * fundamental) {}

void FourierSeries::at(double t, JointReference& reference) const noexcept {
  reference.q = q0_;
  reference.dq.setZero();
  reference.ddq.setZero();
  reference.d3q.setZero();
  reference.d4q.setZero();
  for (Eigen::Index k = 0; k < a_.cols(); ++k) {
    const double w = w_ * static_cast<double>(k + 1), s = std::sin(w * t), c = std::cos(w * t);
    reference.q += (s / w) * a_.col(k) - (c / w) * b_.col(k);
    reference.dq += c * a_.col(k) + s * b_.col(k);
    reference.ddq += (-w * s) * a_.col(k) + (w * c) * b_.col(k);
    reference.d3q += (-w * w * c) * a_.col(k) - (w * w * s) * b_.col(k);
    reference.d4q += (w * w * w * s) * a_.col(k) - (w * w * w * c) * b_.col(k);
  }
}

}  // namespace thunder
