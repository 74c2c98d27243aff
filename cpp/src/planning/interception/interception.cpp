#include "thunder/planning/interception/interception.hpp"

#include <limits>

namespace thunder {

using Strategy = InterceptionSettings::Strategy;

double arrival_time(const InterceptionSettings& settings, const MovingTarget& target) noexcept {
  const double speed = settings.direction.dot(target.velocity);
  const double way = settings.direction.dot(settings.reference - target.position);
  return speed > 0.0 ? target.time + way / speed : std::numeric_limits<double>::infinity();
}

bool misses(const InterceptionSettings& settings, const MovingTarget& target, const Eigen::Vector3d& goal,
            double arrival) noexcept {
  return !((goal - target.at(arrival)).norm() <= settings.threshold);
}

double new_arrival(const InterceptionSettings& settings, const MovingTarget& target,
                   const ReplanSituation& situation) noexcept {
  const double at_reference = arrival_time(settings, target);
  if (settings.strategy == Strategy::variable_structure) {
    const double past = settings.direction.dot(target.at(situation.arrival) - settings.reference);
    const bool inside = past >= -settings.behind && past <= settings.ahead;
    return inside ? situation.arrival : at_reference;
  }
  if (settings.strategy == Strategy::time_augmentation) {
    const double gap = settings.direction.dot(target.at(situation.now) - situation.hand);
    const double correction = settings.lead + settings.rate * (situation.frequency - situation.old_frequency) +
                              settings.lag * gap;
    return at_reference + settings.scale * situation.remaining * correction;
  }
  return at_reference;
}

}  // namespace thunder
