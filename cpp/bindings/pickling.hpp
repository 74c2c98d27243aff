// Pickling and copying of objects of the core, Python subclasses included.
#pragma once

#include "array.hpp"
#include "thunder/math/state_archive.hpp"

#include <vector>

namespace thunder::python {

py::array_t<double> state_array(const StateArchive& archive);
std::vector<double> read_state(py::handle state);

/// All or nothing: the object keeps its own state where the new one is refused.
template <class T>
void set_state(T& object, std::vector<double> state) {
  StateArchive next(std::move(state)), previous;
  object.archive(previous);
  try {
    object.archive(next);
    next.finish();
  } catch (...) {
    StateArchive undo(previous.values());
    object.archive(undo);
    throw;
  }
}

/// Methods by which `enable_pickling` saves and restores the state named by `object.archive`.
template <class Class>
void bind_state(Class& cls) {
  using T = typename Class::type;
  cls.def("_core_state", [](T& object) {
    StateArchive archive;
    object.archive(archive);
    return state_array(archive);
  }, "Estimates, filters and other memory of the object, as numbers.");
  cls.def("_set_core_state", [](T& object, const ArrayLike& state) {
    set_state(object, read_state(state));
  }, py::arg("state"), "Restore the state of an object with the same constructor arguments.");
}

/// Lets instances of every class of the module that has a constructor, and of Python classes derived from it, be pickled
/// and copied: the arguments of the constructor are kept and passed again, then attributes and state are restored. Classes
/// with a pickling of their own are left alone. To be called after all classes are bound.
void enable_pickling(py::module_& module);

}  // namespace thunder::python
