// Via states that minimize the integral of squared jerk along the whole path.
#pragma once

#include <vector>

#include "thunder/planning/functional/functional_planner.hpp"
#include "thunder/planning/obstacles/via_chains.hpp"

namespace thunder {

/// Velocities and accelerations of via points between two known states. The quadratic costs of the segments add up to one
/// in all via states, block tridiagonal and positive definite. For a planner with independent degrees of freedom,
/// one via point has two unknowns in each: two equations.
class ViaStates {
 public:
  explicit ViaStates(const FunctionalPlanner& planner);

  /// n via points, whose positions must be set; `durations` has n + 1.
  void optimize(const FunctionalPlanner& planner, const BoundaryState& from, BoundaryState* vias, int n,
                const BoundaryState& to, const double* durations) const noexcept;

 private:
  /// Cost of one degree of freedom in unit time, as JerkCost, with the contribution of the end positions to g.
  struct Axis {
    double H[4][4], g[4], from[4], to[4];
  };

  void optimize_one(const BoundaryState& from, BoundaryState& via, const BoundaryState& to,
                    const double* durations) const noexcept;

  std::vector<Axis> axes_;  // none where degrees of freedom are coupled or accelerations free
};

}  // namespace thunder
