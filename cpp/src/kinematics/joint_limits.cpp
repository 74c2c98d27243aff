#include "thunder/kinematics/joint_limits.hpp"

#include <algorithm>
#include <cmath>

namespace thunder {

double largest_velocity(double distance, double acceleration, double period) noexcept {
  if (!(distance > 0.0)) return 0.0;
  const double straight = distance / period;  // stops after one period
  const double decrement = acceleration * period;
  if (!(straight > decrement) || std::isinf(straight)) return straight;
  const double x = straight / decrement;  // k (k + 1) / 2 + (k + 1) f
  double k = std::floor(0.5 * (std::sqrt(1.0 + 8.0 * x) - 1.0));
  while (0.5 * k * (k + 1.0) > x) k -= 1.0;  // rounding errors of the root
  return decrement * (k + std::min(1.0, (x - 0.5 * k * (k + 1.0)) / (k + 1.0)));
}

void JointLimits::velocity_bounds(int order, double period, const double* q, const double* dq, JointVector& least,
                                  JointVector& most) const noexcept {
  const Eigen::Index n = lower.size();
  least.resize(n);
  most.resize(n);
  // velocities away from a limit at `room`; a body that starts with the velocity towards it goes on for half a period
  const auto away = [&](double room, double towards, double a) {
    const double c = order == 2 ? room - 0.5 * period * towards : room;
    if (order == 2 && c < 0.0 && room >= 0.0) return 2.0 * c / period;  // too fast to stop: back at the end
    return largest_velocity(c, a, period);
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    const double v = dq != nullptr ? dq[i] : 0.0, a = acceleration[i];
    double low = -away(q[i] - lower[i], -v, a), high = away(upper[i] - q[i], v, a);
    low = std::min(low, high);
    const auto within = [&low, &high](double x) { return std::clamp(x, low, high); };
    const double slowest = within(-velocity[i]), fastest = within(velocity[i]);
    low = slowest;
    high = fastest;
    const double step = a * period;
    least[i] = std::isfinite(step) ? within(v - step) : low;
    most[i] = std::isfinite(step) ? within(v + step) : high;
  }
}

}  // namespace thunder
