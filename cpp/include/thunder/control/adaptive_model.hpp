// The model inside an adaptive controller: the linear form Y_r pihat and the estimate.
#pragma once

#include <memory>

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"
#include "adaptation.hpp"
#include "clock.hpp"
#include "estimated_chain.hpp"
#include "parameter_subset.hpp"

namespace thunder {

class AdaptiveModel {
 public:
  /// An estimate beyond this (SI units) has diverged.
  static constexpr double kBound = 1e6;

  /// The estimate starts at the nominal parameters; without a law it stays there.
  AdaptiveModel(std::shared_ptr<const Model> nominal, ParameterSubset unknown, std::unique_ptr<AdaptationLaw> law);

  const std::shared_ptr<const Model>& nominal() const noexcept { return nominal_.shared_model(); }
  const ParameterSubset& unknown() const noexcept { return unknown_; }
  /// All p parameters: the known ones and the current estimate of the others.
  const Eigen::VectorXd& estimate() const noexcept { return estimate_; }
  /// Sets all p parameters, known ones too; `reset` restores them.
  void start_from(const double* parameters) noexcept;
  void reset() noexcept;
  /// Selects the parameters (of all p) that adapt; the others keep their current estimate. Initially all unknown ones
  /// adapt, if there is a law. Throws std::invalid_argument, changing nothing, where a known parameter is selected or
  /// the law cannot adapt these alone. Unchanged by `reset`.
  ///
  /// With G = Gamma^-1, the moving entries follow the block G_mm of it: a gradient law with the gain G_mm^-1.
  void set_adapting(const std::vector<bool>& moving) { set_moving(check_adapting(moving)); }
  /// The same in two steps: a mask of the unknown parameters, which any thread may ask for, and its use, which neither
  /// throws nor allocates.
  Eigen::VectorXd check_adapting(const std::vector<bool>& moving) const;
  void set_moving(const Eigen::VectorXd& mask) noexcept { moving_ = mask; }
  std::vector<bool> adapting() const;
  void archive(StateArchive& state);

  /// Brings the estimate to time t under the last gradient; false once it has diverged, until `reset`.
  bool advance(double t) noexcept;
  /// tau = Y_r(q, dq, dq_r, ddq_r) pihat, with the initial estimate once it has diverged; without the regressor where nothing adapts
  void torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r, double* tau) noexcept;
  /// Adapts along the tracking error's Y_u' s, with the regressor of the last `torque`; s as it is beyond the
  /// law's dead zone.
  void adapt(const double* s) noexcept;
  /// Slows the last `adapt` so that the torque's rate, Y Gamma^-1 Y' s, is at most `rate` times the damping of s by the
  /// diagonal of D; returns the share that is left. A bound by the trace, so that the share may be too small.
  double limit_rate(const Eigen::MatrixXd& D, double rate) noexcept;
  /// The same along another regressor: W_u' x.
  void adapt_along(const RowMajor& W, const Eigen::VectorXd& x) noexcept;
  /// Also along a prediction error: W_u' R error, with `weighted` = R error and `weight` the largest eigenvalue of R.
  /// Where Euler's rule would overshoot W pihat = y, the step is shortened.
  void predict(const RowMajor& W, const Eigen::VectorXd& weighted, double weight) noexcept;
  /// For clipped torques: the tracking error carries no information on the parameters, only predictions count.
  void ignore_tracking() noexcept { tracking_.setZero(); }
  /// How many times too long for `predict` the last `advance` was, 1 if it was not.
  double excess() const noexcept { return excess_; }
  /// Marks the estimate as diverged until `reset`: it is physically impossible.
  void mark_diverged() noexcept { diverged_ = true; }
  /// Holds the estimate until the next `adapt` or `predict`.
  void freeze() noexcept {
    tracking_.setZero();
    prediction_.setZero();
  }

 private:
  void apply_dead_zone(const double* s) noexcept;
  void pull_back(const RowMajor& W, const Eigen::VectorXd& x, Eigen::VectorXd& gradient) noexcept;

  Evaluator nominal_;
  EstimatedChain chain_;  // of an estimate that does not adapt
  ParameterSubset unknown_;
  std::unique_ptr<AdaptationLaw> law_;
  Eigen::VectorXd start_, estimate_, estimate_unknown_, s_;
  Eigen::VectorXd tracking_, prediction_, gradient_, all_, squares_;  // gradients, and columns' squared lengths
  Eigen::VectorXd moving_;                                          // 1 where the estimate moves, else 0
  double prediction_rate_ = 0.0;                                    // of W pihat towards y [1/s], at most
  RowMajor Y_;  // n x p
  StepClock clock_;
  double excess_ = 1.0;
  bool diverged_ = false;
};

}  // namespace thunder
