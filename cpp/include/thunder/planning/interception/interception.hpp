// Place and time of meeting an object on a belt: missing condition and strategies (D4.2, section 6.1).
#pragma once

#include <Eigen/Dense>
#include <limits>

namespace thunder {

struct InterceptionSettings {
  enum class Strategy { single_shot, variable_structure, time_augmentation };
  Strategy strategy = Strategy::time_augmentation;

  // the belt
  Eigen::Vector3d reference = Eigen::Vector3d::Zero();    // p_ref, about which objects are grasped
  Eigen::Vector3d direction = Eigen::Vector3d::UnitY();   // of motion
  Eigen::Vector3d low = Eigen::Vector3d::Constant(-1.0);  // grasping workspace of the hand: a box
  Eigen::Vector3d high = Eigen::Vector3d::Constant(1.0);
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();  // from the measured point of the object to the grasping hand

  double threshold = 0.01;                                  // p_th of the missing condition [m]
  double behind = 0.03, ahead = 0.08;                       // variable structure: the region about p_ref [m]
  double scale = 0.5, lead = 0.02, rate = 1e-3, lag = 0.1;  // time augmentation: alpha, p_o, lambda, phi of (116)

  // the motion
  int least_updates = 5;  // of the filter, before it is used
  double longest_reach = std::numeric_limits<double>::infinity();  // wait until this time before the arrival [s]
  double shortest_reach = 0.15;                                    // least duration of a new plan [s]
  double freeze = 0.1, closing_time = 0.25;                        // [s]
  double lift = 0.1, leave_time = 0.5;                             // after closing [m], [s]
  int order = 3;                                                   // of continuity where plans meet: 2 velocity, 3 and acceleration
  double max_condition_number = 1e4;

  // limits of the hand and of what it follows
  double velocity_limit = 1.0, acceleration_limit = 8.0;  // [m/s], [m/s^2]
  double braking = 4.0;                                   // deceleration that aborted motions end with [m/s^2]
  double least_speed = 0.03, greatest_speed = 0.6;        // of objects along the belt [m/s]
  double longest_silence = 0.5;                           // without a valid estimate [s]
  double patience = 0.25;                                 // with estimates for which the plan cannot be corrected [s]
};

/// Position and velocity of the grasping point at a time, moving uniformly.
struct MovingTarget {
  double time;
  Eigen::Vector3d position, velocity;

  Eigen::Vector3d at(double t) const noexcept { return position + (t - time) * velocity; }
};

/// Inputs of the strategies.
struct ReplanSituation {
  double now;
  double arrival;                   // t_f planned so far
  double remaining;                 // (N - F) / N: 1 at the start of the motion, 0 at its end
  Eigen::Vector3d hand;             // current position, p_EE
  double frequency, old_frequency;  // at which estimates come and came before [Hz]
};

/// When the target passes p_ref, as an absolute time: (113) with the time of the estimate added (errata D-26); infinite for
/// one that does not move along the belt.
double arrival_time(const InterceptionSettings& settings, const MovingTarget& target) noexcept;

/// The missing condition (114) with absolute times: true if the target will be farther than p_th from the goal at t_f.
bool misses(const InterceptionSettings& settings, const MovingTarget& target, const Eigen::Vector3d& goal,
            double arrival) noexcept;

/// The t_f that a strategy chooses; the goal is where the target is then (117).
double new_arrival(const InterceptionSettings& settings, const MovingTarget& target,
                   const ReplanSituation& situation) noexcept;

}  // namespace thunder
