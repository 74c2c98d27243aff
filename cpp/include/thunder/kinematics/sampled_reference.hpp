// A joint-space reference through samples.
#pragma once

#include "reference.hpp"

namespace thunder {

/// Cubic Hermite curves through positions and velocities at equal distances in time, from t = 0; position, velocity and
/// acceleration are those of the curve. Rests where it begins and ends before and after.
class SampledJointReference final : public JointReferenceSource {
 public:

  /// One row for each instant, two at least.
  SampledJointReference(double dt, RowMajor q, RowMajor dq);
  JointReference blank() const override { return JointReference(static_cast<int>(q_.cols())); }
  void at(double t, JointReference& reference) const noexcept override;

 private:
  double dt_;
  RowMajor q_, dq_;
};

}  // namespace thunder
