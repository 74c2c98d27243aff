// The states in which via points are passed, of those that minimise the integral of squared jerk along the whole path.
#pragma once

#include "thunder/planning/via_search.hpp"

namespace thunder {

/// Velocities and accelerations of n via points between two known states: the quadratic costs of the n + 1 segments add
/// up to one in all via states, block tridiagonal and positive definite. Positions must be set; `durations` has n + 1.
void optimise_via_states(const FunctionalPlanner& planner, const BoundaryState& from, BoundaryState* vias, int n,
                         const BoundaryState& to, const double* durations) noexcept;

}  // namespace thunder
