// Controllers in task space, for Python.
#include "control.hpp"

namespace thunder::python {

void bind_task_controllers(py::module_&) {}

}  // namespace thunder::python
