// Joint trajectories made of polynomials: point to point, splines, blends.
#pragma once

#include "../../kinematics/reference.hpp"
#include "piecewise_polynomial.hpp"

namespace thunder {

class JointTrajectory final : public JointReferenceSource {
 public:
  explicit JointTrajectory(PiecewisePolynomial polynomial) : polynomial_(std::move(polynomial)) {}
  JointReference blank() const override { return JointReference(polynomial_.dimension()); }
  void at(double t, JointReference& reference) const noexcept override {
    polynomial_.at(t, reference.q.data(), reference.dq.data(), reference.ddq.data(), reference.d3q.data(),
                   reference.d4q.data());
  }

  const PiecewisePolynomial& polynomial() const noexcept { return polynomial_; }

 private:
  PiecewisePolynomial polynomial_;
};

}  // namespace thunder
