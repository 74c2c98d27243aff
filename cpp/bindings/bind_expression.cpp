// The recording scalar in Python: arithmetic, NumPy's functions by name, inspection.
#include <pybind11/stl.h>

#include <cmath>

#include "bindings.hpp"
#include "recording.hpp"
#include "thunder/recording/differentiation.hpp"

namespace thunder::python {

ExpressionObject read_expression(py::handle value) {
  if (py::isinstance<ExpressionObject>(value)) return py::cast<const ExpressionObject&>(value);
  if (py::isinstance<py::float_>(value) || PyIndex_Check(value.ptr()) || PyNumber_Check(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (!(number == -1.0 && PyErr_Occurred())) return {nullptr, Expression(number)};
    PyErr_Clear();
  }
  throw py::type_error("expected an expression or a number, got " + std::string(py::str(py::repr(value))).substr(0, 80));
}

std::vector<Expression> read_expressions(const py::iterable& values, std::shared_ptr<Graph>& graph) {
  std::vector<Expression> result;
  for (py::handle value : values) {
    const ExpressionObject object = read_expression(value);
    if (object.graph) {
      if (!graph) graph = object.graph;
      if (graph != object.graph) throw py::value_error("expressions of different models cannot be combined");
    }
    result.push_back(object.x);
  }
  return result;
}

py::list write_expressions(const std::vector<Expression>& values, const std::shared_ptr<Graph>& graph) {
  py::list result;
  for (const Expression& x : values) result.append(ExpressionObject{x.is_constant() ? nullptr : graph, x});
  return result;
}

namespace {


ExpressionObject wrap(const Expression& x, const std::shared_ptr<Graph>& a, const std::shared_ptr<Graph>& b = nullptr) {
  return {x.is_constant() ? nullptr : (a ? a : b), x};
}

bool is_scalar(py::handle value) {
  return py::isinstance<ExpressionObject>(value) || PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()) ||
         (PyNumber_Check(value.ptr()) && !py::isinstance<py::array>(value) && !PySequence_Check(value.ptr()));
}

/// Binary operator; NotImplemented for operands that are not scalars, such as arrays.
template <class F>
py::object binary(const ExpressionObject& self, py::handle other, F&& f) {
  if (!is_scalar(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const ExpressionObject right = read_expression(other);
  if (self.graph && right.graph && self.graph != right.graph)
    throw py::value_error("expressions of different models cannot be combined");
  return py::cast(wrap(f(self.x, right.x), self.graph, right.graph));
}

std::string number_text(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

/// Infix text, or a summary once it grows past `room` characters.
bool write(const Expression& x, std::size_t room, std::string& text) {
  if (text.size() > room) return false;
  if (x.is_constant()) {
    text += number_text(x.value);
    return true;
  }
  const Node& node = x.at();
  if (node.op == Op::symbol) {
    text += x.graph->symbol_name(static_cast<int>(x.node));
    return true;
  }
  static const std::map<Op, const char*> infix = {{Op::add, " + "}, {Op::sub, " - "}, {Op::mul, "*"},
                                                   {Op::div, "/"},   {Op::less, " < "}, {Op::less_equal, " <= "}};
  const auto found = infix.find(node.op);
  const int operands = arity(node.op);
  if (found != infix.end()) {
    text += "(";
    if (!write(x.operand(0), room, text)) return false;
    text += found->second;
    if (!write(x.operand(1), room, text)) return false;
    text += ")";
    return true;
  }
  text += node.op == Op::neg ? "-" : std::string(op_name(node.op)) + "(";
  for (int k = 0; k < operands; ++k) {
    if (k) text += ", ";
    if (!write(x.operand(k), room, text)) return false;
  }
  if (node.op != Op::neg) text += ")";
  return text.size() <= room;
}

std::string text_of(const ExpressionObject& self) {
  std::string text;
  if (write(self.x, 300, text)) return text;
  return "<" + std::string(op_name(self.x.at().op)) + " expression>";
}

double as_float(const ExpressionObject& self) {
  if (!self.x.is_constant())
    throw py::type_error("an expression has no numeric value: evaluate it with a Function");
  return self.x.value;
}

void define_arithmetic(py::class_<ExpressionObject>& c) {
  using E = Expression;
#define THUNDER_BINARY(NAME, RNAME, FORWARD, BACKWARD)                                                              \
  c.def(NAME, [](const ExpressionObject& a, py::handle b) { return binary(a, b, [](const E& x, const E& y) { return FORWARD; }); }, py::arg("other"), py::is_operator()); \
  c.def(RNAME, [](const ExpressionObject& a, py::handle b) { return binary(a, b, [](const E& x, const E& y) { return BACKWARD; }); }, py::arg("other"), py::is_operator());
  THUNDER_BINARY("__add__", "__radd__", x + y, y + x)
  THUNDER_BINARY("__sub__", "__rsub__", x - y, y - x)
  THUNDER_BINARY("__mul__", "__rmul__", x * y, y * x)
  THUNDER_BINARY("__truediv__", "__rtruediv__", x / y, y / x)
  THUNDER_BINARY("__pow__", "__rpow__", record(Op::pow, x, y), record(Op::pow, y, x))
  THUNDER_BINARY("__lt__", "__gt__", less(x, y), less(y, x))
  THUNDER_BINARY("__le__", "__ge__", record(Op::less_equal, x, y), record(Op::less_equal, y, x))
  THUNDER_BINARY("arctan2", "_arctan2_of", record(Op::atan2, x, y), record(Op::atan2, y, x))
#undef THUNDER_BINARY
  c.def("__neg__", [](const ExpressionObject& a) { return wrap(-a.x, a.graph); });
  c.def("__pos__", [](const ExpressionObject& a) { return a; });
  c.def("__abs__", [](const ExpressionObject& a) { return wrap(abs(a.x), a.graph); });
}

/// Under the names that NumPy's functions call on the entries of object arrays.
void define_functions(py::class_<ExpressionObject>& c) {
  const std::pair<const char*, Op> functions[] = {
      {"sqrt", Op::sqrt},     {"sin", Op::sin}, {"cos", Op::cos}, {"tan", Op::tan},   {"arcsin", Op::asin},
      {"arccos", Op::acos},   {"exp", Op::exp}, {"log", Op::log}, {"tanh", Op::tanh}, {"sign", Op::sign}};
  for (const auto& [name, op] : functions)
    c.def(name, [op = op](const ExpressionObject& a) { return wrap(record(op, a.x), a.graph); });
  c.def("conjugate", [](const ExpressionObject& a) { return a; }, "The expression itself; all expressions are real.");
}

void define_inspection(py::class_<ExpressionObject>& c) {
  c.def_property_readonly("operation", [](const ExpressionObject& a) { return std::string(op_name(a.x.is_constant() ? Op::constant : a.x.at().op)); },
                          "Name of the outermost operation: constant, symbol, add, sin, ...");
  c.def_property_readonly("operands", [](const ExpressionObject& a) {
    std::vector<Expression> operands;
    if (!a.x.is_constant())
      for (int k = 0; k < arity(a.x.at().op); ++k) operands.push_back(a.x.operand(k));
    return py::tuple(write_expressions(operands, a.graph));
  }, "Operands of the operation.");
  c.def_property_readonly("is_constant", [](const ExpressionObject& a) { return a.x.is_constant(); }, "True for a number.");
  c.def_property_readonly("name", [](const ExpressionObject& a) -> std::optional<std::string> {
    if (!a.x.is(Op::symbol)) return std::nullopt;
    return a.graph->symbol_name(static_cast<int>(a.x.node));
  }, "Name of a symbol, else None.");
  c.def_property_readonly("graph", [](const ExpressionObject& a) { return a.graph; }, "Recording of the expression, None for a constant.");
  c.def("__float__", &as_float);
  c.def("__bool__", [](const ExpressionObject& a) {
    if (!a.x.is_constant()) throw py::type_error("an expression has no truth value: choose with thunder_py.symbolic.where");
    return a.x.value != 0.0;
  });
  c.def("__eq__", [](const ExpressionObject& a, py::handle b) { return is_scalar(b) && a.x.same(read_expression(b).x); }, py::arg("other"),
        "True if both are the same node or the same number.");
  c.def("__hash__", [](const ExpressionObject& a) { return a.x.is_constant() ? py::hash(py::float_(a.x.value)) : static_cast<py::ssize_t>(std::hash<std::int64_t>()(a.x.node * 2 + 1)); });
  c.def(py::pickle(
      [](const ExpressionObject& a) {
        if (a.x.is_constant()) return py::tuple(py::make_tuple(py::none(), a.x.value));
        return py::tuple(py::make_tuple(a.graph, a.x.node));
      },
      [](const py::tuple& data) {
        if (data.size() == 2 && data[0].is_none() && PyFloat_Check(py::object(data[1]).ptr()))
          return ExpressionObject{nullptr, Expression(py::cast<double>(data[1]))};
        if (data.size() != 2 || !py::isinstance<Graph>(data[0]) || !PyLong_Check(py::object(data[1]).ptr()))
          throw py::value_error("the pickle of an expression must hold a recording and a node, or a number");
        auto graph = py::cast<std::shared_ptr<Graph>>(data[0]);
        const int node = py::int_(data[1]) >= py::int_(0) && py::int_(data[1]) < py::int_(graph->size()) ? py::cast<int>(data[1]) : -1;
        if (node < 0) throw py::value_error("the pickle of an expression must hold a node of its recording");
        const Expression x(graph.get(), node);
        return ExpressionObject{x.is_constant() ? nullptr : graph, x};
      }));
  c.def("__str__", &text_of);
  c.def("__repr__", &text_of);
}

}  // namespace

void bind_expression(py::module_& module) {
  py::class_<Graph, std::shared_ptr<Graph>> graph(module, "Graph", "Recorded operations, each distinct one once.");
  py::class_<ExpressionObject> expression(module, "Expression", "Recorded scalar: a symbol, a number or an operation.");
  graph.def(py::init<>())
      .def("__len__", &Graph::size)
      .def_readwrite("outlining", &Graph::outlining,
                     "Record repeated pieces of kernels as separate functions: smaller code for long arms, no derivatives.")
      .def_readwrite("uniform", &Graph::uniform, "The same for pieces that are one function for every joint.")
      .def("symbol", [](std::shared_ptr<Graph> g, const std::string& name) { return ExpressionObject{g, Expression(g.get(), g->symbol(name))}; },
           py::arg("name"), "Create a symbol; symbols of equal name are distinct.")
      .def(py::pickle([](const Graph& g) { return write_graph(g); }, &read_graph));
  define_arithmetic(expression);
  define_functions(expression);
  define_inspection(expression);
  // between NumPy's scalars and arrays: before NumPy 2 a scalar on the left would take the truth of a comparison
  expression.attr("__array_priority__") = -1.0;
  module.def("select", [](py::handle condition, py::handle a, py::handle b) {
    std::shared_ptr<Graph> g;
    const std::vector<Expression> x = read_expressions(py::make_tuple(condition, a, b), g);
    return wrap(select(x[0], x[1], x[2]), g);
  }, py::arg("condition"), py::arg("a"), py::arg("b"), "The expression `a` where the condition is not zero, else `b`.");
  module.def("jacobian", [](const py::iterable& outputs, const py::iterable& inputs, const std::string& mode) {
    std::shared_ptr<Graph> g;
    const std::vector<Expression> y = read_expressions(outputs, g), x = read_expressions(inputs, g);
    if (mode != "forward" && mode != "reverse" && mode != "cheaper")
      throw py::value_error("mode must be forward, reverse or cheaper, got '" + mode + "'");
    if (!g) g = std::make_shared<Graph>();
    return write_expressions(jacobian(*g, y, x, mode == "forward" ? Mode::forward : mode == "reverse" ? Mode::reverse : Mode::cheaper), g);
  }, py::arg("outputs"), py::arg("inputs"), py::arg("mode") = "cheaper", "Derivatives of every output with respect to every input, row by row.");
}

}  // namespace thunder::python
