// Adaptation laws of the unknown parameters.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <vector>

namespace thunder {

class AdaptationLaw {
 public:
  virtual ~AdaptationLaw() = default;
  virtual std::unique_ptr<AdaptationLaw> clone() const = 0;
  /// Number of unknown parameters.
  virtual int size() const noexcept = 0;
  /// Moves the unknown parameters over `dt` seconds under the gradient Y_u' s, constant meanwhile. False where the
  /// estimate has diverged.
  virtual bool integrate(const double* gradient, double dt, double* unknown) noexcept = 0;
  /// At least the largest eigenvalue of W_u G W_u', where the law moves along G times the gradient and `squares` are the
  /// squared lengths of the columns of W_u: how fast W pihat follows, for every unit of weight.
  virtual double rate_bound(const double* squares, const double* unknown) const noexcept = 0;

  /// True if the parameters outside `moving` may be held. `moving` has `size()` entries.
  virtual bool separable(const std::vector<bool>& /*moving*/) const noexcept { return true; }

  /// Errors s within plus and minus this, joint by joint, do not adapt, and others by as much as they are beyond; n
  /// entries of at least 0, or none for no dead zone.
  void set_dead_zone(Eigen::VectorXd dead_zone) { dead_zone_ = std::move(dead_zone); }
  const Eigen::VectorXd& dead_zone() const noexcept { return dead_zone_; }

 private:
  Eigen::VectorXd dead_zone_;
};

/// pihat' = Gamma^-1 Y_u' s (Thunder article, eq. 34); the sign goes with s = dq_r - dq (errata T-2). Entries that would
/// leave their bounds stay on them: with a diagonal Gamma this projection never raises the Lyapunov function as long as the
/// true parameters are within.
class GradientLaw final : public AdaptationLaw {
 public:
  /// Gamma symmetric positive definite; large is slow.
  explicit GradientLaw(const Eigen::MatrixXd& Gamma);
  /// Gamma diagonal; lower < upper, infinite where there is no bound.
  GradientLaw(const Eigen::MatrixXd& Gamma, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper);

  std::unique_ptr<AdaptationLaw> clone() const override { return std::make_unique<GradientLaw>(*this); }
  int size() const noexcept override {
    return static_cast<int>(diagonal_ ? inverse_diagonal_.size() : inverse_.rows());
  }
  bool integrate(const double* gradient, double dt, double* unknown) noexcept override;
  double rate_bound(const double* squares, const double* unknown) const noexcept override;

 private:
  bool diagonal_;
  Eigen::VectorXd inverse_diagonal_;
  Eigen::MatrixXd inverse_;        // empty where Gamma is diagonal
  double largest_inverse_ = 0.0;   // its largest eigenvalue
  Eigen::VectorXd lower_, upper_;  // empty without bounds
};

}  // namespace thunder
