// Recorded functions in Python: construction, inspection, and calls on arrays.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "recording.hpp"

namespace thunder::python {

namespace {

using PortList = py::typing::List<py::typing::Tuple<py::str, py::typing::Tuple<py::int_, py::ellipsis>, py::typing::List<py::object>>>;

std::vector<thunder::Array> read_arrays(const py::iterable& ports, std::shared_ptr<Graph>& graph) {
  std::vector<thunder::Array> arrays;
  for (py::handle port : ports) {
    const auto t = py::cast<py::tuple>(port);
    arrays.push_back({py::cast<std::string>(t[0]), py::cast<std::vector<int>>(t[1]), read_expressions(t[2], graph)});
  }
  return arrays;
}

FunctionObject make_function(const std::string& name, const py::iterable& arguments, const py::iterable& results) {
  std::shared_ptr<Graph> graph;
  const std::vector<thunder::Array> in = read_arrays(arguments, graph), out = read_arrays(results, graph);
  if (!graph) graph = std::make_shared<Graph>();
  FunctionObject object;
  object.function = std::make_shared<const Function>(name, graph, in, out);
  object.interpreter = std::make_shared<const Interpreter>(*object.function);
  return object;
}

py::tuple port_names(const std::vector<Port>& ports) {
  py::tuple names(ports.size());
  for (std::size_t k = 0; k < ports.size(); ++k) names[k] = ports[k].name;
  return names;
}

py::tuple port_shapes(const std::vector<Port>& ports) {
  py::tuple shapes(ports.size());
  for (std::size_t k = 0; k < ports.size(); ++k) shapes[k] = py::tuple(py::cast(ports[k].shape));
  return shapes;
}

void evaluate_function(const FunctionObject& self, const double* const* in, const std::ptrdiff_t* stride, double* const* out,
              std::size_t count) {
  if (self.native) return self.native->run(in, stride, out, count);
  constexpr std::size_t kSmall = 4096;
  const std::size_t size = self.interpreter->scratch_size();
  double small[kSmall];
  std::vector<double> large(size > kSmall ? size : 0);
  self.interpreter->run(in, stride, out, count, size > kSmall ? large.data() : small);
}

py::object call_function(const FunctionObject& self, PyObject* const* values, Py_ssize_t positional, py::handle out) {
  const auto& arguments = self.function->arguments();
  const auto& results = self.function->results();
  const std::size_t m = arguments.size(), r = results.size();
  if (static_cast<std::size_t>(positional) != m) {
    std::string names;
    for (const Port& port : arguments) names += (names.empty() ? "" : ", ") + port.name;
    throw py::type_error(self.function->name() + "() takes " + std::to_string(m) + " arguments (" + names + "), got " +
                         std::to_string(positional));
  }
  std::vector<SampleInput> inputs(m);
  std::vector<const char*> names(m);
  for (std::size_t k = 0; k < m; ++k) {
    names[k] = arguments[k].name.c_str();
    inputs[k] = read_samples(values[k], names[k], {arguments[k].shape.begin(), arguments[k].shape.end()});
  }
  const std::vector<py::ssize_t> batch = broadcast(inputs.data(), names.data(), static_cast<int>(m));
  std::size_t count = 1;
  for (const py::ssize_t d : batch) count *= d;
  std::vector<const double*> in(m);
  std::vector<std::ptrdiff_t> stride(m);
  for (std::size_t k = 0; k < m; ++k) in[k] = inputs[k].data, stride[k] = inputs[k].stride;
  py::tuple outputs(r);
  std::vector<double*> data(r);
  if (!out.is_none() && r != 1) throw py::value_error("out must be None for a function of several results, " + self.function->name() + " has " + std::to_string(r));
  for (std::size_t k = 0; k < r; ++k) {
    std::vector<py::ssize_t> shape(batch);
    shape.insert(shape.end(), results[k].shape.begin(), results[k].shape.end());
    py::array result = output_array(out, shape);
    data[k] = static_cast<double*>(const_cast<void*>(result.data()));
    for (std::size_t j = 0; j < m; ++j)
      if (overlaps(in[j], inputs[j].size * (stride[j] ? count : 1), data[k], results[k].size * count))
        throw py::value_error("out must not overlap the argument " + arguments[j].name);
    outputs[k] = std::move(result);
  }
  if (batch.empty()) {
    evaluate_function(self, in.data(), stride.data(), data.data(), 1);
  } else if (count > 0) {
    const GilRelease release;
    evaluate_function(self, in.data(), stride.data(), data.data(), count);
  }
  return r == 1 ? py::object(outputs[0]) : py::object(std::move(outputs));
}

/// __call__ in CPython's own calling convention, as for the quantities, for the least overhead.
PyObject* call_method(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  try {
    // a copy: `attach` in another thread may replace what evaluates while the GIL is released
    const FunctionObject object = py::cast<const FunctionObject&>(py::handle(self));
    py::handle out = Py_None;
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named; ++i) {
      if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "out") != 0)
        throw py::type_error(object.function->name() + "() got an unexpected argument " +
                             std::string(py::str(PyTuple_GET_ITEM(names, i))));
      out = values[positional + i];
    }
    return call_function(object, values, positional, out).release().ptr();
  } catch (...) {
    set_python_error();
  }
  return nullptr;
}

void define_call(py::class_<FunctionObject>& c) {
  static const char doc[] =
      "__call__(self: thunder_py._core.Function, *arguments: numpy.typing.ArrayLike, out: "
      "numpy.typing.NDArray[numpy.float64] | None = None) -> typing.Any\n\n"
      "Evaluate on arrays of shape (..., *shape) with broadcast batch axes; returns one array or a tuple of arrays.";
  const auto function = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_method));
  static PyMethodDef definition{"__call__", function, METH_FASTCALL | METH_KEYWORDS, doc};
  const auto descriptor =
      py::reinterpret_steal<py::object>(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(c.ptr()), &definition));
  if (!descriptor) throw py::error_already_set();
  c.attr("__call__") = descriptor;
}

/// (operation, operands) of every value after arguments and constants.
py::list operations(const FunctionObject& self) {
  py::list list;
  if (!self.function->calls().empty()) throw py::value_error("an outlined function has no flat list of operations");
  for (const Instruction& i : self.function->instructions()) {
    const int operands[3] = {i.a, i.b, i.c};
    py::tuple indices(arity(i.op));
    for (int k = 0; k < arity(i.op); ++k) indices[k] = operands[k];
    list.append(py::make_tuple(op_name(i.op), indices));
  }
  return list;
}

std::size_t count_operations(const Function& function) {
  std::size_t count = 0;
  for (const Instruction& i : function.instructions()) count += i.op != Op::result;
  for (const auto& body : function.bodies()) count += count_operations(*body);
  return count;
}

py::array dependence(const FunctionObject& self) {
  const std::vector<char> values = self.function->dependence();
  py::array_t<bool> result({self.function->result_size(), self.function->argument_size()});
  std::copy(values.begin(), values.end(), result.mutable_data());
  return std::move(result);
}

}  // namespace

void bind_function(py::module_& module) {
  py::class_<FunctionObject> c(module, "Function", "A recorded function; use `thunder_py.symbolic.Function`.");
  c.def(py::init(&make_function), py::arg("name"), py::arg("arguments"), py::arg("results"),
        "Record the function from `arguments` to `results`, each a list of (name, shape, entries).")
      .def_property_readonly("name", [](const FunctionObject& f) { return f.function->name(); }, "Name of the function.")
      .def_property_readonly("argument_names", [](const FunctionObject& f) { return port_names(f.function->arguments()); }, "Names of the arguments.")
      .def_property_readonly("argument_shapes", [](const FunctionObject& f) { return port_shapes(f.function->arguments()); }, "Shapes of the arguments.")
      .def_property_readonly("result_names", [](const FunctionObject& f) { return port_names(f.function->results()); }, "Names of the results.")
      .def_property_readonly("result_shapes", [](const FunctionObject& f) { return port_shapes(f.function->results()); }, "Shapes of the results.")
      .def_property_readonly("constants", [](const FunctionObject& f) { return f.function->constants(); }, "Constants of the recording: values after the arguments' entries.")
      .def_property_readonly("operations", &operations, "List of (operation, indices of operands): values after the constants.")
      .def_property_readonly("result_values", [](const FunctionObject& f) { return f.function->result_values(); }, "Value index of each entry of the results.")
      .def_property_readonly("operation_count", [](const FunctionObject& f) { return count_operations(*f.function); }, "Number of operations, counting an outlined piece once.")
      .def_property_readonly("call_count", [](const FunctionObject& f) { return f.function->calls().size(); }, "Number of calls of outlined pieces.")
      .def_property_readonly("depth", [](const FunctionObject& f) { return f.function->depth(); }, "Longest chain of operations from an argument to a result.")
      .def_property_readonly("compiled", [](const FunctionObject& f) { return f.native != nullptr; }, "True if native code evaluates the function.")
      .def("dependence", &dependence, "Boolean matrix of structural dependence, entries of the results by entries of the arguments.")
      .def("apply", [](const FunctionObject& f, const py::iterable& entries) {
        std::shared_ptr<Graph> graph;
        const std::vector<Expression> in = read_expressions(entries, graph);
        return write_expressions((*f.function)(in), graph);
      }, py::arg("entries"), "Apply to expressions, entry by entry: the function becomes part of their recording.")
      .def("attach", [](FunctionObject& f, const std::string& path, const std::string& symbol) {
        f.native = std::make_shared<const NativeFunction>(path, symbol, *f.function);
      }, py::arg("path"), py::arg("symbol"), "Evaluate with the function `symbol` of a shared library.");
  define_call(c);
}

}  // namespace thunder::python
