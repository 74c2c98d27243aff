// Helpers shared by the bindings of the planner and of the search for via points.
#pragma once

#include "control.hpp"
#include "thunder/planning/functional/functional_planner.hpp"

namespace thunder::python {

struct Problem {
  BoundaryState from, to;
};

double finite(double value, const char* name);
double positive(double value, const char* name);
/// Refuses motions whose control points overflow although the arguments are finite.
void require_motion(const BezierPath& path);

/// Checks and reads the arguments of a plan; None stands for zero.
Problem read_problem(const FunctionalPlanner& planner, py::handle start, py::handle goal, double duration,
                     double start_time, py::handle start_velocity, py::handle goal_velocity,
                     py::handle start_acceleration, py::handle goal_acceleration);

}  // namespace thunder::python
