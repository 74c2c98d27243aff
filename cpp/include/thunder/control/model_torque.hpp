// Torque of a model along a reference motion, in the form whose error dynamics are passive.
#pragma once

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"

namespace thunder {

class ModelTorque {
 public:
  explicit ModelTorque(int n) : M_(RowMajor::Zero(n, n)), C_(M_), friction_(Eigen::VectorXd::Zero(n)) {}

  /// tau = M ddq_r + C dq_r + G + friction(dq)
  void compute(const Evaluator& dynamics, const double* q, const double* dq, const double* dq_r, const double* ddq_r,
               double* tau) noexcept;

 private:
  RowMajor M_, C_;
  Eigen::VectorXd friction_;
};

}  // namespace thunder
