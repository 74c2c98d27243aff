// The robot with symbols for parameters: every quantity of the list as expressions.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "recording.hpp"
#include "thunder/kernels/quantities.hpp"
#include "thunder/recording/symbolic_chain.hpp"

namespace thunder::python {

namespace {

/// The chain and the recording of its symbols.
struct SymbolicObject {
  std::shared_ptr<Graph> graph;
  std::unique_ptr<SymbolicChain> chain;
};

std::unique_ptr<SymbolicObject> make_symbolic(const std::shared_ptr<Model>& model, const std::shared_ptr<Graph>& graph,
                                              const py::dict& groups, bool modified, bool dyn) {
  ParameterGroups entries;
  std::shared_ptr<Graph> used = graph;
  for (const auto& [name, values] : groups)
    entries[py::cast<std::string>(name)] = read_expressions(py::reinterpret_borrow<py::iterable>(values), used);
  auto object = std::make_unique<SymbolicObject>();
  object->graph = graph;
  object->chain = std::make_unique<SymbolicChain>(model, std::move(entries), modified, dyn);
  return object;
}

py::list evaluate_symbolic(const SymbolicObject& self, const std::string& quantity, const py::iterable& inputs, int frame,
                  const std::vector<int>& rows) {
  std::vector<std::vector<Expression>> in;
  std::shared_ptr<Graph> graph = self.graph;
  for (py::handle values : inputs) in.push_back(read_expressions(py::reinterpret_borrow<py::iterable>(values), graph));
  return write_expressions(self.chain->evaluate(quantity, in, frame, TaskRows{read_row_mask(rows)}), graph);
}

py::dict describe_quantities(const Model& model, int rows) {
  py::dict result;
  const Sizes all = sizes(model.view(), rows);
  for (const QuantityInfo& quantity : kQuantities) {
    const Shape shape = quantity.shape(all);
    py::tuple names(quantity.input_count), dims(shape.rank);
    for (int k = 0; k < quantity.input_count; ++k) names[k] = quantity.inputs[k];
    for (int k = 0; k < shape.rank; ++k) dims[k] = shape.dims[k];
    result[quantity.name] = py::make_tuple(names, dims, quantity.takes_frame, quantity.takes_rows);
  }
  return result;
}

}  // namespace

void bind_symbolic(py::module_& module) {
  py::class_<SymbolicObject>(module, "SymbolicChain", "Chain with expressions as parameters.", py::dynamic_attr())
      .def(py::init(&make_symbolic), py::arg("model").none(false), py::arg("graph").none(false), py::arg("groups"), py::arg("modified"), py::arg("dyn"))
      .def("evaluate", &evaluate_symbolic, py::arg("quantity"), py::arg("inputs"), py::arg("frame"), py::arg("rows"),
           "Evaluate the entries of a quantity for lists of expressions.");
  module.def("quantities", &describe_quantities,
             py::arg("model").none(false), py::arg("rows") = 6,
             "Name -> (inputs, shape, takes a frame, takes rows) of every quantity of a model.");
}

}  // namespace thunder::python
