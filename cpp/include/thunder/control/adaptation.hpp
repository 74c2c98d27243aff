// Adaptation laws: how the unknown parameters move.
#pragma once

#include <Eigen/Dense>

namespace thunder {

class AdaptationLaw {
 public:
  virtual ~AdaptationLaw() = default;
  /// Moves the unknown parameters over `dt` seconds under the gradient Y_u' s, constant meanwhile.
  virtual void integrate(const double* gradient, double dt, double* unknown) noexcept = 0;
  /// Forgets what the law remembers, if anything.
  virtual void reset() noexcept {}
};

/// pihat' = Gamma^-1 Y_u' s (Thunder article, eq. 34); the sign goes with s = dq_r - dq (errata T-2).
class GradientLaw final : public AdaptationLaw {
 public:
  /// Gamma symmetric positive definite; large is slow.
  explicit GradientLaw(const Eigen::MatrixXd& Gamma);
  void integrate(const double* gradient, double dt, double* unknown) noexcept override;

 private:
  bool diagonal_;
  Eigen::VectorXd inverse_diagonal_;
  Eigen::MatrixXd inverse_;  // empty where Gamma is diagonal
};

}  // namespace thunder
