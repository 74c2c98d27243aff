// Basis functions of the phase for forcing terms of dynamic movement primitives.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "../../math/dual.hpp"

namespace thunder {

/// Shape of a function over r = |a (x - c)|. All but Gaussians and von Mises functions are zero from r = 1 on.
enum class BasisKind {
  gaussian,     // exp(-r^2)
  mollifier,    // exp(-1 / (1 - r^2)): D4.2 (106)
  wendland_c2,  // (1 - r)^4 (4 r + 1): Wendland (1995), twice differentiable
  wendland_c4,  // (1 - r)^6 (35 r^2 + 18 r + 3) / 3, four times
  von_mises,    // exp(a (cos(x - c) - 1)) of an angle x: the Gaussian of a circle
};

/// One function at r >= 0. Outside a support nothing overflows: 1 / tiny is finite, and exp(-1 / tiny) is zero.
template <class S>
S basis_function(BasisKind kind, const S& r) {
  using std::exp;
  if (kind == BasisKind::gaussian) return exp(-(r * r));
  if (kind == BasisKind::mollifier) return exp(-1.0 / at_least(1.0 - r * r, 1e-150));
  const S rest = at_least(1.0 - r, 0.0), squared = rest * rest;
  if (kind == BasisKind::wendland_c2) return squared * squared * (4.0 * r + 1.0);
  return squared * squared * squared * ((35.0 * r + 18.0) * r + 3.0) * (1.0 / 3.0);
}

/// n functions, evenly spaced in time: centers c_i = exp(-alpha i / (n - 1)), i = 0 ... n - 1, and widths
/// a_i = 1 / (overlap (c_i - c_{i+1})), the last one as the one before it. Von Mises functions have the phase t / tau, an
/// angle, centers c_i = 2 pi i / n and widths a = 1 / (overlap^2 (1 - cos(2 pi / n))): at the center of its neighbor a function
/// has the value of a Gaussian with the same overlap.
class DmpBasis {
 public:
  static constexpr int kMostFunctions = 10000;

  /// Throws std::invalid_argument unless there are 2 to kMostFunctions functions and the numbers are positive.
  DmpBasis(BasisKind kind, int count, double alpha, double overlap);

  BasisKind kind() const noexcept { return kind_; }
  int count() const noexcept { return static_cast<int>(centers_.size()); }
  double alpha() const noexcept { return alpha_; }
  bool periodic() const noexcept { return kind_ == BasisKind::von_mises; }
  /// Phase at the normalized time t / tau, and its derivative.
  double phase(double u) const noexcept { return periodic() ? u : std::exp(-alpha_ * u); }
  double phase_rate(double x) const noexcept { return periodic() ? 1.0 : -alpha_ * x; }
  const std::vector<double>& centers() const noexcept { return centers_; }
  const std::vector<double>& widths() const noexcept { return widths_; }

  template <class S>
  S function(int i, const S& x) const {
    using std::abs, std::exp;
    const auto k = static_cast<std::size_t>(i);
    if (periodic()) {
      S s, c;
      sincos(S(x - centers_[k]), s, c);
      return exp((c - 1.0) * widths_[k]);
    }
    return basis_function<S>(kind_, abs((x - centers_[k]) * widths_[k]));
  }

  /// f = x sum_i w_i Phi_i(x) / sum_i Phi_i(x), (105), for weights count x dimension, row by row; without the factor x for a
  /// periodic basis. Outside all supports, where that is 0 / 0, it is zero.
  template <class S>
  void forcing(const double* weights, int dimension, const S& x, S* f) const {
    S sum(0.0);
    for (int d = 0; d < dimension; ++d) f[d] = S(0.0);
    for (int i = 0; i < count(); ++i, weights += dimension) {
      const S phi = function(i, x);
      sum = sum + phi;
      for (int d = 0; d < dimension; ++d) f[d] = f[d] + phi * weights[d];
    }
    const S share = 1.0 / at_least(sum, std::numeric_limits<double>::min()), gain = periodic() ? S(1.0) : x;
    for (int d = 0; d < dimension; ++d) f[d] = f[d] * share * gain;
  }

 private:
  BasisKind kind_;
  double alpha_;
  std::vector<double> centers_, widths_;
};

}  // namespace thunder
