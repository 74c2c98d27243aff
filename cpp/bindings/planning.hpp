// Helpers shared by the bindings of obstacles and via points.
#pragma once

#include "control.hpp"
#include "thunder/planning/obstacles/clearance.hpp"

namespace thunder::python {

using ClearanceTuple = py::typing::Tuple<double, double, double, int>;

py::tuple clearance_tuple(const Clearance& clearance);

void bind_clearance(py::module_& module);
void bind_via_search(py::module_& module);

}  // namespace thunder::python
