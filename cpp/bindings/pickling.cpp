#include "pickling.hpp"

#include <algorithm>
#include <string>

namespace thunder::python {

namespace {

constexpr const char* kArguments = "_core_arguments";

std::string type_name(py::handle object) { return py::cast<std::string>(py::type::of(object).attr("__name__")); }

/// The argument as it is now: arrays, lists and dicts of the caller may change later.
py::object snapshot(py::handle value) {
  if (py::isinstance<py::array>(value)) return value.attr("copy")();
  if (PyTuple_CheckExact(value.ptr())) {
    py::tuple result(py::len(value));
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = snapshot(PyTuple_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(k)));
    return std::move(result);
  }
  if (PyList_CheckExact(value.ptr())) return py::list(snapshot(py::tuple(py::reinterpret_borrow<py::list>(value))));
  if (!PyDict_CheckExact(value.ptr())) return py::reinterpret_borrow<py::object>(value);
  py::dict result;
  for (const auto& [key, item] : py::reinterpret_borrow<py::dict>(value)) result[key] = snapshot(item);
  return std::move(result);
}

/// Attributes of the instance, None for instances that cannot have any.
py::object attributes_of(py::handle self) { return py::getattr(self, "__dict__", py::none()); }

/// Through the dict, as frozen dataclasses refuse to set attributes.
void keep_arguments(py::handle self, const py::tuple& args, const py::dict& kwargs) {
  const py::object attributes = attributes_of(self);
  if (!attributes.is_none() && !attributes.contains(kArguments))  // a second call changes nothing
    attributes[kArguments] = py::make_tuple(snapshot(args), snapshot(kwargs));
}

py::tuple reduce(const py::object& self) {
  const py::object attributes = attributes_of(self);
  if (attributes.is_none() || !attributes.contains(kArguments))
    throw py::type_error("a " + type_name(self) + " that belongs to another object, or was never initialized, cannot be pickled "
                         "or copied on its own");
  py::dict others = py::dict(attributes.attr("copy")());
  const py::tuple arguments = others.attr("pop")(kArguments);
  const py::object state = py::hasattr(self, "_core_state") ? self.attr("_core_state")() : py::none();
  return py::make_tuple(py::module_::import("copyreg").attr("__newobj__"), py::make_tuple(py::type::of(self)),
                        py::make_tuple(arguments[0], arguments[1], others, state));
}

/// Initializes an instance that `__new__` has made.
void restore(const py::object& initialize, const py::object& self, const py::object& pickled) {
  const std::string name = type_name(self);
  if (!PyTuple_CheckExact(pickled.ptr()) || py::len(pickled) != 4)
    throw py::value_error("the pickle of a " + name + " must hold arguments, attributes and state");
  const py::object args = pickled[py::int_(0)], kwargs = pickled[py::int_(1)], others = pickled[py::int_(2)],
                   state = pickled[py::int_(3)];
  const py::object attributes = attributes_of(self);
  if (!PyTuple_CheckExact(args.ptr()) || !PyDict_CheckExact(kwargs.ptr()) || !PyDict_CheckExact(others.ptr()) ||
      attributes.is_none() || others.contains(kArguments) || state.is_none() == py::hasattr(self, "_core_state"))
    throw py::value_error("the pickle of a " + name + " must hold arguments, attributes and state");
  if (attributes.contains(kArguments)) throw py::value_error("an initialized " + name + " cannot be restored from a pickle");
  try {
    initialize(self, *py::reinterpret_borrow<py::tuple>(args), **py::reinterpret_borrow<py::dict>(kwargs));
    if (!state.is_none()) self.attr("_set_core_state")(state);
  } catch (py::error_already_set& error) {  // also what the arguments' conversions raise
    if (error.matches(PyExc_ValueError) || error.matches(PyExc_MemoryError) || !error.matches(PyExc_Exception)) throw;
    py::raise_from(error, PyExc_ValueError, ("the pickle of a " + name + " must hold arguments of its constructor").c_str());
    throw py::error_already_set();
  }
  keep_arguments(self, py::reinterpret_borrow<py::tuple>(args), py::reinterpret_borrow<py::dict>(kwargs));
  attributes.attr("update")(others);
}

void enable_for(const py::object& cls) {
  const py::object initialize = cls.attr("__init__"), doc = initialize.attr("__doc__");
  const std::string text = doc.is_none() ? "" : py::cast<std::string>(doc);
  // The texts begin with signatures. pybind11 gives functions that are called __init__ or __setstate__ an instance to fill.
  py::options options;
  options.disable_function_signatures();
  cls.attr("__init__") = py::cpp_function(
      [initialize](const py::object& self, const py::args& args, const py::kwargs& kwargs) {
        initialize(self, *args, **kwargs);
        keep_arguments(self, args, kwargs);
      },
      py::name("_initialize"), py::is_method(cls), text.c_str());
  cls.attr("__reduce__") =
      py::cpp_function(&reduce, py::name("_reduce"), py::is_method(cls),
                       "__reduce__(self) -> tuple[typing.Any, ...]\n\nPickle by the arguments of the constructor.");
  cls.attr("__setstate__") = py::cpp_function(
      [initialize](const py::object& self, const py::object& pickled) { restore(initialize, self, pickled); },
      py::name("_restore"), py::is_method(cls), py::arg("pickled"),
      "__setstate__(self, pickled: typing.Any) -> None\n\nInitialize from the result of `__reduce__`.");
}

/// Protocols 0 and 1 make an instance of the base type of all bound classes, which ends the process: they become protocol 2.
void raise_old_protocols(const py::object& cls) {
  const py::object of_object = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyBaseObject_Type)).attr("__reduce_ex__");
  py::options options;
  options.disable_function_signatures();
  cls.attr("__reduce_ex__") = py::cpp_function(
      [of_object](const py::object& self, const py::object& protocol) {
        return of_object(self, std::max(2, py::cast<int>(py::int_(protocol))));
      },
      py::name("_reduce_ex"), py::is_method(cls), py::arg("protocol"),
      "__reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]\n\nPickle by protocol 2 at least.");
}

}  // namespace

py::array_t<double> state_array(const StateArchive& archive) {
  return py::array_t<double>(static_cast<py::ssize_t>(archive.values().size()), archive.values().data());
}

std::vector<double> read_state(py::handle state) {
  const auto array = py::reinterpret_borrow<py::object>(state);
  if (!py::isinstance<py::array_t<double>>(array) || py::cast<py::array>(array).ndim() != 1)
    throw py::value_error("state must be an array of numbers (k,), got " + py::cast<std::string>(py::repr(array)).substr(0, 80));
  const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  return {values.data(), values.data() + values.size()};
}

void enable_pickling(py::module_& module) {
  for (const auto& [name, value] : py::dict(module.attr("__dict__"))) {
    if (!PyType_Check(value.ptr()) || py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr())) == nullptr) continue;
    const py::object own = value.attr("__dict__");
    const auto* base = reinterpret_cast<PyTypeObject*>(value.ptr())->tp_base;
    if (py::detail::get_type_info(const_cast<PyTypeObject*>(base)) == nullptr)
      raise_old_protocols(py::reinterpret_borrow<py::object>(value));
    const bool constructs = own.contains("__init__") && PyInstanceMethod_Check(py::object(own["__init__"]).ptr());
    const bool robot = py::cast<std::string>(name) == "Model";  // pickled by its description
    if (constructs && !robot && !own.contains("__setstate__") && !own.contains("__reduce__"))
      enable_for(py::reinterpret_borrow<py::object>(value));
  }
}

}  // namespace thunder::python
