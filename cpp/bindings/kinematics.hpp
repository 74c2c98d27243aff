// Functions called by bind_kinematics.
#pragma once

#include <pybind11/pybind11.h>

namespace thunder::python {

void bind_clik(pybind11::module_& module);

}  // namespace thunder::python
