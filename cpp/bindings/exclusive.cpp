#include "exclusive.hpp"

#include "errors.hpp"

namespace thunder::python {

namespace py = pybind11;

std::map<PyObject*, std::weak_ptr<PythonUses::Mark>>& PythonUses::marks() {
  static auto* marks = new std::map<PyObject*, std::weak_ptr<Mark>>;
  return *marks;
}

void PythonUses::add(py::handle object) {
  std::weak_ptr<Mark>& known = marks()[object.ptr()];
  std::shared_ptr<Mark> mark = known.lock();
  if (!mark) known = mark = std::make_shared<Mark>();
  try {
    entries_.push_back({py::reinterpret_borrow<py::object>(object), mark, Exclusive::Use(*mark)});
  } catch (const ConcurrentUse&) {
    throw_concurrent_use(Py_TYPE(object.ptr())->tp_name);
  }
}

PythonUses::~PythonUses() {
  for (; !entries_.empty(); entries_.pop_back())
    if (entries_.back().mark.use_count() == 1) marks().erase(entries_.back().object.ptr());
}

}  // namespace thunder::python
