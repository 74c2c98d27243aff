// The model inside an adaptive controller: the linear form Y_r pihat, and the estimate that moves.
#pragma once

#include <Eigen/Dense>
#include <limits>
#include <memory>

#include "../model/model.hpp"
#include "adaptation.hpp"
#include "parameter_subset.hpp"

namespace thunder {

class AdaptiveModel {
 public:
  /// An estimate beyond this (SI units) has diverged.
  static constexpr double kBound = 1e6;
  /// Longest time one step may adapt over: after a pause the last gradient says nothing any more.
  static constexpr double kLongestGap = 0.1;

  /// The estimate starts at the nominal parameters; without a law it stays there.
  AdaptiveModel(std::shared_ptr<const Model> nominal, ParameterSubset unknown, std::unique_ptr<AdaptationLaw> law);

  const std::shared_ptr<const Model>& nominal() const noexcept { return nominal_; }
  const ParameterSubset& unknown() const noexcept { return unknown_; }
  /// All p parameters: the known ones and the current estimate of the others.
  const Eigen::VectorXd& estimate() const noexcept { return estimate_; }
  /// Sets all p parameters, known ones too; `reset` will come back here.
  void start_from(const double* parameters) noexcept;
  void reset() noexcept;

  /// Brings the estimate to time t under the last gradient; false once it has diverged, until `reset`.
  bool advance(double t) noexcept;
  /// tau = Y_r(q, dq, dq_r, ddq_r) pihat
  void torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r, double* tau) noexcept;
  /// From now on adapt along Y_u' s, with the regressor of the last `torque`.
  void adapt(const double* s) noexcept;
  /// From now on stay.
  void freeze() noexcept { gradient_.setZero(); }
  /// Gravity torque of the estimate; of the nominal parameters if the estimate has diverged.
  void gravity(const double* q, double* G) noexcept;

 private:
  std::shared_ptr<const Model> nominal_;
  ParameterSubset unknown_;
  std::unique_ptr<AdaptationLaw> law_;
  Eigen::VectorXd start_, estimate_, estimate_unknown_, gradient_, rest_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> Y_;
  double last_time_ = std::numeric_limits<double>::quiet_NaN();
  bool diverged_ = false;
};

}  // namespace thunder
