// Helpers shared by the bindings of loops, limits and drives.
#pragma once

#include "array.hpp"
#include "thunder/realtime/control_loop.hpp"

namespace thunder::python {

/// n numbers that may be infinite.
Eigen::VectorXd read_limits(py::handle value, const char* name, int n);
/// Entries of a run's outcome.
void set_report(py::typing::Dict<py::str, py::object>& result, const realtime::RunReport& report);

}  // namespace thunder::python
