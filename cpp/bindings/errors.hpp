// C++ exceptions as Python's, and objects that were not initialized.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace thunder::python {

/// Sets the Python error for the exception that is being handled, as pybind11 does for its own functions.
void set_python_error() noexcept;

/// Raises thunder_py.errors.ConcurrentUseError.
[[noreturn]] void throw_concurrent_use(const std::string& type_name);

void bind_errors();
/// Makes every class of the module raise TypeError for objects whose `__init__` was not called; last of all bindings.
void refuse_uninitialized(const pybind11::module_& module);

}  // namespace thunder::python
