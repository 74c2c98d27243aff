// Controllers in joint space that do not adapt, for Python.
#include "control.hpp"

namespace thunder::python {

void bind_joint_controllers(py::module_&) {}

}  // namespace thunder::python
