// One spring of an elastic joint, for laws: its torque with derivatives, and its inverse.
#pragma once

#include <cmath>

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

/// Deflection at which a spring has the torque tau, by Newton's method from that of its linear part; false if there is none.
inline bool spring_deflection(const ElasticView<double>& elastic, int motor, double tau, double& d) noexcept {
  constexpr int kIterations = 50;
  constexpr double kTolerance = 1e-12;
  d = tau / elastic.K[motor * elastic.K_order];
  for (int i = 0; i < kIterations; ++i) {
    const SpringMotion at = spring_motion(elastic, motor, d, 0.0);
    if (std::abs(at.tau - tau) <= kTolerance * (1.0 + std::abs(tau))) return true;
    d -= (at.tau - tau) / at.slope;
  }
  return false;
}

}  // namespace thunder
