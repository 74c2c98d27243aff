// Damping of the safe torque for laws whose velocity gain K_v [1/s] acts through the mass matrix.
#pragma once

#include "../kernels/evaluator.hpp"
#include "../math/dense.hpp"

namespace thunder {

class MassDamping {
 public:
  explicit MassDamping(const Eigen::MatrixXd& K_v) : slowest_(smallest_eigenvalue(K_v)) {}

  /// K_d = k M(q), k the smallest eigenvalue of K_v. M K_v itself need not be dissipative, this is, and at no sampling
  /// rate is it stiffer than the law. n x n, row or column by column as it is symmetric.
  void at(const Evaluator& dynamics, const Eigen::VectorXd& q, Eigen::MatrixXd& K_d) const noexcept {
    dynamics.mass_matrix(q.data(), K_d.data());
    K_d *= slowest_;
  }

 private:
  double slowest_;
};

}  // namespace thunder
