#include "errors.hpp"

#include <string>

#include "thunder/threads/exclusive.hpp"

namespace thunder::python {

namespace py = pybind11;

namespace {

constexpr const char* kUninitialized =
    "the object was not initialized: a subclass must call super().__init__() before it uses its base class";

/// pybind11 asks a class for memory where an object has no C++ object yet, and would let functions work on that.
void* refuse(std::size_t) { throw py::type_error(kUninitialized); }

void translate_concurrent_use(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const ConcurrentUse& error) {
    std::string name = error.type().name();
    py::detail::clean_type_id(name);
    try {
      throw_concurrent_use(name);
    } catch (py::error_already_set& raised) {
      raised.restore();
    }
  }
}

/// Casting errors become TypeError; pybind11 raises RuntimeError.
void translate_cast_error(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const py::cast_error& error) {
    const std::string text = error.what();
    // an object without a C++ object, where a shared pointer is wanted
    py::set_error(PyExc_TypeError, text.find("non-held") != std::string::npos ? kUninitialized : text.c_str());
  }
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
}

void throw_concurrent_use(const std::string& type_name) {
  const std::string name = type_name.substr(type_name.find_last_of(".:") + 1);  // without its module or namespace
  py::set_error(py::module_::import("thunder_py.errors").attr("ConcurrentUseError"),
                (name + " is in use by another thread: make one for each thread, or use it in one at a time").c_str());
  throw py::error_already_set();
}

void bind_errors() {
  py::register_local_exception_translator(translate_concurrent_use);
  py::register_local_exception_translator(translate_cast_error);
}

void refuse_uninitialized(const py::module_& module) {
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(module.attr("__dict__"))) {
    if (!PyType_Check(value.ptr())) continue;
    auto* info = py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr()));
    if (info != nullptr) info->operator_new = refuse;
  }
}

}  // namespace thunder::python
