// What bind_kinematics calls.
#pragma once

#include <pybind11/pybind11.h>

namespace thunder::python {

void bind_clik(pybind11::module_& module);

}  // namespace thunder::python
