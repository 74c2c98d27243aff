// One step of y' = z, z' = -K y - D z + N, exact for N = 0 and any step length.
#pragma once

namespace thunder {

/// Coefficients of a step of length h (Cox and Matthews, 2002, "Exponential time differencing for stiff systems"): exponentials of
/// the linear part, and the contribution of N if it is constant (over half the step) or a parabola through its values at the
/// beginning, middle and end.
struct DampedStep {
  double h = 0.0;
  double full[2][2], half[2][2];
  double half_forcing[2];
  double push[3][2];

  /// K and D always those of the first call: nothing is done if only they could have changed.
  void prepare(double K, double D, double step) noexcept;

  void advance(double y, double z, const double N[3], double& y1, double& z1) const noexcept {
    y1 = full[0][0] * y + full[0][1] * z + push[0][0] * N[0] + push[1][0] * N[1] + push[2][0] * N[2];
    z1 = full[1][0] * y + full[1][1] * z + push[0][1] * N[0] + push[1][1] * N[1] + push[2][1] * N[2];
  }
  void advance_half(double y, double z, double N, double& y1, double& z1) const noexcept {
    y1 = half[0][0] * y + half[0][1] * z + half_forcing[0] * N;
    z1 = half[1][0] * y + half[1][1] * z + half_forcing[1] * N;
  }
};

}  // namespace thunder
