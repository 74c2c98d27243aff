#include "thunder/kinematics/sampled_reference.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace thunder {

SampledJointReference::SampledJointReference(double dt, RowMajor q, RowMajor dq) : dt_(dt), q_(std::move(q)), dq_(std::move(dq)) {
  if (!(dt > 0.0) || q_.rows() < 2 || q_.rows() != dq_.rows() || q_.cols() != dq_.cols())
    throw std::invalid_argument("samples must be q and dq of the same shape, two instants at least, dt > 0 apart");
}

void SampledJointReference::at(double t, JointReference& reference) const noexcept {
  const auto intervals = static_cast<double>(q_.rows() - 1);
  const double x = t / dt_;
  // rounding of k dt must not end a run that stops at the last sample
  const double slack = 1e-9 * intervals;
  if (!(x >= 0.0 && x <= intervals + slack)) {
    const bool after = x > intervals;
    reference.q = q_.row(after ? q_.rows() - 1 : 0);
    reference.dq.setZero();
    reference.ddq.setZero();
    reference.d3q.setZero();
    return;
  }
  const double first = std::min(std::floor(x), intervals - 1.0);
  const auto k = static_cast<Eigen::Index>(first);
  const double s = x - first, h = dt_;
  for (Eigen::Index i = 0; i < q_.cols(); ++i) {
    const double q0 = q_(k, i), v0 = h * dq_(k, i), v1 = h * dq_(k + 1, i), way = q_(k + 1, i) - q0;
    const double a = v0 + v1 - 2.0 * way, b = 3.0 * way - 2.0 * v0 - v1;  // q0 + v0 s + b s^2 + a s^3
    reference.q[i] = q0 + s * (v0 + s * (b + s * a));
    reference.dq[i] = (v0 + s * (2.0 * b + s * 3.0 * a)) / h;
    reference.ddq[i] = (2.0 * b + s * 6.0 * a) / (h * h);
    reference.d3q[i] = 6.0 * a / (h * h * h);
  }
}

}  // namespace thunder
