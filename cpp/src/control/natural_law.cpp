#include "thunder/control/natural_law.hpp"

#include <algorithm>

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::Matrix4d;
using Eigen::VectorXd;

/// Pseudo-inertia of [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz].
Matrix4d pseudo_inertia(const double* pi) {
  const double half_trace = 0.5 * (pi[4] + pi[7] + pi[9]);
  Matrix4d P;
  P << half_trace - pi[4], -pi[5], -pi[6], pi[1],  //
      -pi[5], half_trace - pi[7], -pi[8], pi[2],   //
      -pi[6], -pi[8], half_trace - pi[9], pi[3],   //
      pi[1], pi[2], pi[3], pi[0];
  return P;
}

void to_parameters(const Matrix4d& P, double* pi) {
  const double xx = P(0, 0), yy = P(1, 1), zz = P(2, 2);
  const double values[10] = {P(3, 3), P(0, 3), P(1, 3), P(2, 3), yy + zz, -P(0, 1), -P(0, 2), xx + zz, -P(1, 2), xx + yy};
  std::copy_n(values, 10, pi);
}

/// The symmetric B with tr(B P(pi)) = g' pi for every pi.
Matrix4d dual_of(const double* g) {
  Matrix4d B;
  B << g[7] + g[9], -0.5 * g[5], -0.5 * g[6], 0.5 * g[1],   //
      -0.5 * g[5], g[4] + g[9], -0.5 * g[8], 0.5 * g[2],    //
      -0.5 * g[6], -0.5 * g[8], g[4] + g[7], 0.5 * g[3],    //
      0.5 * g[1], 0.5 * g[2], 0.5 * g[3], g[0];
  return B;
}

/// exp(X) for symmetric X of norm up to kLargestStep, by the [2/2] Pade quotient: to 6e-4, and positive definite for
/// every X, because neither its numerator nor its denominator has a real root.
Matrix4d exponential(const Matrix4d& X) {
  const Matrix4d even = Matrix4d::Identity() + X.lazyProduct(X) / 12.0, odd = 0.5 * X;
  const Matrix4d quotient = (even - odd).llt().solve(even + odd);
  return 0.5 * (quotient + quotient.transpose());
}

/// One step of P' = P B P / gamma, the direction of +Y_i' s, along the geodesic. False where P is not a pseudo-inertia.
bool move(const double* gradient, double step, double* pi) {
  const Eigen::LLT<Matrix4d> factors(pseudo_inertia(pi));
  if (factors.info() != Eigen::Success) return false;
  const Matrix4d L = factors.matrixL();
  Matrix4d X = step * (L.transpose() * dual_of(gradient) * L);
  const double size = X.norm();
  if (!(size < 1e300)) return false;
  X *= NaturalLaw::kLargestStep / std::max(size, NaturalLaw::kLargestStep);
  to_parameters(L * exponential(X) * L.transpose(), pi);
  return true;
}

}  // namespace

NaturalLaw::NaturalLaw(VectorXd gamma, const VectorXd& others)
    : gamma_(std::move(gamma)), inverse_others_(others.cwiseInverse()) {}

bool NaturalLaw::integrate(const double* gradient, double dt, double* unknown) noexcept {
  for (Eigen::Index i = 0; i < gamma_.size(); ++i)
    if (!move(gradient + 10 * i, dt / gamma_[i], unknown + 10 * i)) return false;
  const Eigen::Index first = 10 * gamma_.size(), count = inverse_others_.size();
  Map<VectorXd> others(unknown + first, count);
  others += dt * inverse_others_.cwiseProduct(Map<const VectorXd>(gradient + first, count));
  others = others.cwiseMax(0.0);
  return true;
}

double NaturalLaw::rate_bound(const double* squares, const double* unknown) const noexcept {
  double bound = 0.0;
  for (Eigen::Index i = 0; i < gamma_.size(); ++i) {
    // |B| <= sqrt(3) |g|, and as much again from P to its parameters
    const double size = pseudo_inertia(unknown + 10 * i).squaredNorm();
    bound += 3.0 * size * Map<const VectorXd>(squares + 10 * i, 10).sum() / gamma_[i];
  }
  const Eigen::Index first = 10 * gamma_.size();
  return bound + inverse_others_.dot(Map<const VectorXd>(squares + first, inverse_others_.size()));
}

bool NaturalLaw::separable(const std::vector<bool>& moving) const noexcept {
  for (Eigen::Index i = 0; i < gamma_.size(); ++i)
    for (int k = 1; k < 10; ++k)
      if (moving[10 * i + k] != moving[10 * i]) return false;
  return true;
}

}  // namespace thunder
