// Descends the potential of an arm among obstacles, with random walks out of local minima.
#pragma once

#include <cstdint>

#include "potential_field.hpp"

namespace thunder {

enum class PlanStatus : int { reached, local_minimum, max_iterations };

struct DescentSettings {
  double step;       // longest way in joint space per iteration [rad or m]
  double tolerance;  // the goal is reached when |q - q_goal| is less and the straight motion to it is free
  double margin;     // least clearance [m]
  int max_iterations;
  int walk_steps, max_walks;
  std::uint64_t seed;
};

struct Plan {
  PlanStatus status = PlanStatus::max_iterations;
  std::vector<double> path;  // k x n
  int iterations = 0, walks = 0;
};

/// q' = q - alpha grad U(q), with a step that is cut until U falls and the motion is free. Joints stay within limits.
Plan descend(PotentialField& field, const Eigen::VectorXd& start, const Eigen::VectorXd& lower,
             const Eigen::VectorXd& upper, const DescentSettings& settings);

}  // namespace thunder
