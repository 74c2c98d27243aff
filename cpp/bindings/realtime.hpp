// Helpers shared by the bindings of loops, limits and drives.
#pragma once

#include "array.hpp"
#include "thunder/realtime/control_loop.hpp"

namespace thunder::python {

/// n numbers that may be infinite.
Eigen::VectorXd read_limits(py::handle value, const char* name, int n);
using Places = py::array_t<py::ssize_t, py::array::c_style>;
using Counts = py::typing::List<py::int_>;
/// Numbers of a message at places of those that it lists; null where it does not have `count` numbers, or not these places.
std::optional<std::vector<double>> gather(py::handle from, const Places& places, py::ssize_t count);
/// Numbers of messages that were dropped, by reason.
Counts dropped(const realtime::StateGate& gate);
/// Entries of a run's outcome.
void set_report(py::typing::Dict<py::str, py::object>& result, const realtime::RunReport& report);

}  // namespace thunder::python
