#include "thunder/planning/primitives/quaternion_dmp.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "thunder/math/rotations.hpp"

namespace thunder {

namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

/// A step is cut until h sqrt(K) is less: there the method is exact to some 1e-8.
constexpr double kLongest = 0.05;

/// u' of exp(u) q where q turns by w.
Vector3d inverse_differential(const Vector3d& u, const Vector3d& w) noexcept {
  const Vector3d turned = u.cross(w);
  return w - 0.5 * turned + u.cross(turned) / 12.0;
}

}  // namespace

QuaternionDmp::QuaternionDmp(DmpBasis basis, const Settings& settings, const Eigen::MatrixXd& weights)
    : basis_(std::move(basis)), settings_(settings) {
  if (basis_.periodic()) throw std::invalid_argument("basis must not be periodic");
  if (weights.rows() != basis_.count() || weights.cols() != 3)
    throw std::invalid_argument("weights must be functions x 3");
  if (!(settings.K > 0.0) || !(settings.D > 0.0)) throw std::invalid_argument("K and D must be positive");
  for (Eigen::Index i = 0; i < weights.rows(); ++i)
    for (Eigen::Index d = 0; d < 3; ++d) weights_.push_back(weights(i, d));
  q_ = start_ = goal_ = Quaterniond::Identity();
}

void QuaternionDmp::reset(const Quaterniond& start, const Quaterniond& goal, double tau, const Vector3d& velocity) noexcept {
  q_ = start_ = start.normalized();
  goal_ = goal.normalized();
  tau_ = tau;
  eta_ = tau * velocity;
  time_ = elapsed_ = 0.0;
  x_ = 1.0;
}

void QuaternionDmp::set_tau(double tau) noexcept {
  eta_ *= tau / tau_;
  tau_ = tau;
}

Vector3d QuaternionDmp::slope(const Quaterniond& q, const Vector3d& eta, double elapsed) const noexcept {
  const double x = std::exp(-basis_.alpha() * elapsed);
  const Vector3d way = quaternion_log(goal_ * start_.conjugate());
  Vector3d f;
  basis_.forcing(weights_.data(), 3, x, f.data());
  const Vector3d forcing = settings_.paper ? Vector3d(way.cwiseProduct(f)) : Vector3d(settings_.K * (f - x * way));
  return settings_.K * quaternion_log(goal_ * q.conjugate()) - settings_.D * eta + forcing;
}

void QuaternionDmp::advance(double h) noexcept {
  static constexpr double kNodes[4] = {0.0, 0.5, 0.5, 1.0}, kWeights[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  Vector3d du = Vector3d::Zero(), deta = du, u_sum = du, eta_sum = du;
  for (int stage = 0; stage < 4; ++stage) {
    const double part = kNodes[stage] * h;
    const Vector3d u = part * du, eta = eta_ + part * deta;
    du = inverse_differential(u, eta);
    deta = slope(quaternion_exp(u) * q_, eta, elapsed_ + part);
    u_sum += kWeights[stage] * du;
    eta_sum += kWeights[stage] * deta;
  }
  q_ = (quaternion_exp(h * u_sum) * q_).normalized();
  eta_ += h * eta_sum;
  elapsed_ += h;
}

void QuaternionDmp::step(double dt) noexcept {
  if (!(dt > 0.0)) return;
  const double h = dt / tau_;
  const double pieces = std::ceil(std::min(1e4, h * std::sqrt(settings_.K) / kLongest));
  for (int k = 0; k < static_cast<int>(pieces); ++k) advance(h / pieces);
  x_ = std::exp(-basis_.alpha() * elapsed_);
  time_ += dt;
}

}  // namespace thunder
