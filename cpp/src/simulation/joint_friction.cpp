#include "thunder/simulation/joint_friction.hpp"

namespace thunder {

double JointFriction::solve(int i, double M, double c, double r) const noexcept {
  const bool positive = r > 0.0;
  const double sign = positive ? 1.0 : -1.0, push = std::abs(r), scale = c_.velocity[i];
  const double coulomb = c_.coulomb(i, positive), excess = c_.stribeck[i];
  if (!(push > c * (coulomb + excess))) return 0.0;
  const double rate = M + c * c_.viscous(i, positive), most = (push - c * std::min(coulomb, coulomb + excess)) / rate;
  if (excess == 0.0) return sign * most;
  // the Stribeck effect bends the equation: Newton's method within bounds of the speed
  constexpr int kMostSteps = 60;
  double low = 0.0, high = most, speed = most;
  for (int k = 0; k < kMostSteps && high - low > 1e-15 * most; ++k) {
    const double s = speed / scale, bell = excess * std::exp(-s * s);
    const double left = rate * speed + c * (coulomb + bell) - push;
    (left > 0.0 ? high : low) = speed;
    const double slope = rate - 2.0 * c * speed / (scale * scale) * bell, next = speed - left / slope;
    const double before = speed;
    speed = next > low && next < high ? next : 0.5 * (low + high);
    if (std::abs(speed - before) <= 1e-14 * most) break;
  }
  return sign * speed;
}

}  // namespace thunder
