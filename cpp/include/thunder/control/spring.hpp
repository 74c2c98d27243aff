// One spring of an elastic joint, for laws: its torque with derivatives, and its inverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "../dynamics/elastic.hpp"
#include "../math/dual.hpp"

namespace thunder {

/// Torque of a spring at the deflection d that changes with v, and its derivatives by time without the share of d'':
/// tau, tau' = slope v, tau'' = slope d'' + curve.
struct SpringMotion {
  double tau, rate, slope, curve;
};

inline SpringMotion spring_motion(const ElasticView<double>& elastic, int motor, double d, double v) noexcept {
  using Twice = Dual<Dual<double>>;  // d + v s to second order in s
  const Twice torque = spring_torque(elastic, motor, Twice({d, v}, {v, 0.0}));
  return {torque.a.a, torque.a.b, spring_torque(elastic, motor, Dual<double>(d, 1.0)).b, torque.b.b};
}

/// Deflection at which a spring has the torque tau; no K is negative. Newton's method from above: each term alone needs
/// more deflection, and the torque is convex, so that the steps do not pass the solution.
inline double spring_deflection(const ElasticView<double>& elastic, int motor, double tau) noexcept {
  constexpr int kIterations = 100;
  const double* const K = elastic.K + motor * elastic.K_order;
  double d = std::numeric_limits<double>::infinity();
  for (int k = 0; k < elastic.K_order; ++k)
    if (K[k] > 0.0) d = std::min(d, std::pow(std::abs(tau) / K[k], 1.0 / (2 * k + 1)));
  for (int i = 0; i < kIterations && d > 0.0; ++i) {
    const SpringMotion at = spring_motion(elastic, motor, d, 0.0);
    const double step = (at.tau - std::abs(tau)) / at.slope;
    if (!(step > 1e-15 * d)) break;
    d -= step;
  }
  return std::copysign(d, tau);
}

}  // namespace thunder
