// Natural adaptation: estimates on the manifold of physically consistent bodies.
//
// T. Lee, J. Kwon, F. C. Park, "A natural adaptive control law for robot manipulators", IROS 2018. The parameters of a
// link are its pseudo-inertia P = [ tr(I)/2 1 - I, h; h', m ], positive definite for every body with mass; with
// tr(B P) = g' pi for the gradient g = Y_i' s the law P' = P B P / gamma makes the Bregman divergence of -log det P
// fall as the gradient law makes |pi - pihat|^2 fall.
#pragma once

#include <Eigen/Dense>

#include "adaptation.hpp"

namespace thunder {

class NaturalLaw final : public AdaptationLaw {
 public:
  /// Most that a step may change P by, as a logarithm: the exponential of the step stays accurate, and P far from
  /// losing rank.
  static constexpr double kLargestStep = 1.0;

  /// The first entries are the ten parameters of each of `gamma.size()` links. The `others.size()` entries behind them,
  /// of friction and motors, follow the gradient law with gains `rest` and do not fall below zero. All gains positive;
  /// large is slow.
  NaturalLaw(Eigen::VectorXd gamma, const Eigen::VectorXd& others);

  std::unique_ptr<AdaptationLaw> clone() const override { return std::make_unique<NaturalLaw>(*this); }
  int size() const noexcept override { return static_cast<int>(10 * gamma_.size() + inverse_others_.size()); }
  bool integrate(const double* gradient, double dt, double* unknown) noexcept override;
  double rate_bound(const double* squares, const double* unknown) const noexcept override;
  /// Whole links only: adapting some parameters of a body can make it physically inconsistent.
  bool separable(const std::vector<bool>& moving) const noexcept override;

 private:
  Eigen::VectorXd gamma_, inverse_others_;
};

}  // namespace thunder
