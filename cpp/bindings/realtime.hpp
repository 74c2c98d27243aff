// Helpers shared by the bindings of loops, limits and drives.
#pragma once

#include "array.hpp"

namespace thunder::python {

/// n numbers that may be infinite.
Eigen::VectorXd read_limits(py::handle value, const char* name, int n);

}  // namespace thunder::python
