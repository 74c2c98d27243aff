// Friction of a plant's joints that depends on the direction of motion, has a Stribeck effect and may stick.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace thunder {

/// Of joint i at velocity v: F_v v + (F_c + F_s exp(-(v / v_s)^2)) sgn(v), with F_v and F_c of the direction of v. The sign
/// is v / (|v| + delta), or with stiction set-valued: at rest it takes any value from -1 to 1.
class JointFriction {
 public:
  struct Coefficients {
    Eigen::MatrixX2d viscous, coulomb;  // n rows: for negative and for positive velocities
    Eigen::VectorXd stribeck, velocity;
    double delta = 1e-2;
    bool stiction = false;
  };

  explicit JointFriction(Coefficients coefficients) : c_(std::move(coefficients)) {}

  int n() const noexcept { return static_cast<int>(c_.stribeck.size()); }
  bool stiction() const noexcept { return c_.stiction; }

  /// With stiction, zero at rest.
  double torque(int i, double v) const noexcept {
    const double sign = c_.stiction ? (v > 0.0) - (v < 0.0) : v / (std::abs(v) + c_.delta);
    return c_.viscous(i, v > 0.0) * v + level(i, v) * sign;
  }
  double slope(int i, double v) const noexcept {
    const double speed = std::abs(v), s = v / c_.velocity[i], excess = c_.stribeck[i] * std::exp(-s * s);
    const double width = c_.stiction ? 0.0 : c_.delta, sum = speed + width;
    const double sign = sum > 0.0 ? speed / sum : 0.0, bend = sum > 0.0 ? width / (sum * sum) : 0.0;
    return c_.viscous(i, v > 0.0) + level(i, v) * bend - 2.0 * speed / (c_.velocity[i] * c_.velocity[i]) * excess * sign;
  }
  /// The largest slope over speeds from `slow`, in both directions; the Stribeck effect makes it smaller only.
  double largest_slope(int i, double slow) const noexcept {
    const double sum = slow + c_.delta, bend = c_.stiction ? 0.0 : c_.delta / (sum * sum);
    return c_.viscous.row(i).maxCoeff() + (c_.coulomb.row(i).maxCoeff() + std::max(c_.stribeck[i], 0.0)) * bend;
  }
  /// v of M v + c torque(v) = r, an inclusion: a joint stays at rest where |r| is within c times the breakaway torque.
  double solve(int i, double M, double c, double r) const noexcept;

 private:
  /// Of Coulomb and Stribeck friction together.
  double level(int i, double v) const noexcept {
    const double s = v / c_.velocity[i];
    return c_.coulomb(i, v > 0.0) + c_.stribeck[i] * std::exp(-s * s);
  }

  Coefficients c_;
};

}  // namespace thunder
