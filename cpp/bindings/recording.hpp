// Expressions and recorded functions as Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "array.hpp"
#include "thunder/recording/function.hpp"
#include "thunder/recording/interpreter.hpp"
#include "thunder/recording/native.hpp"

namespace thunder::python {

/// An expression with its graph, which lives as long as any expression of it; no graph for a constant.
struct ExpressionObject {
  std::shared_ptr<Graph> graph;
  Expression x;
};

/// An expression or a number.
ExpressionObject read_expression(py::handle value);

/// A recorded function with its evaluator: the interpreter, or native code once attached.
struct FunctionObject {
  std::shared_ptr<const Function> function;
  std::shared_ptr<const Interpreter> interpreter;
  std::shared_ptr<const NativeFunction> native;
};

/// A recording as plain data, and back; input is checked, and anything but a recording raises ValueError.
py::tuple write_graph(const Graph& graph);
std::shared_ptr<Graph> read_graph(const py::tuple& data);

/// Python lists of expressions or numbers, of one graph.
std::vector<Expression> read_expressions(const py::iterable& values, std::shared_ptr<Graph>& graph);
py::list write_expressions(const std::vector<Expression>& values, const std::shared_ptr<Graph>& graph);

}  // namespace thunder::python
