#include "thunder/recording/differentiation.hpp"

#include "thunder/recording/function.hpp"

#include <stdexcept>

namespace thunder {

void partials(Op op, const Expression& y, const Expression* x, Expression* d) {
  switch (op) {
    case Op::neg: d[0] = -1.0; break;
    case Op::sqrt: d[0] = Expression(0.5) / y; break;
    case Op::sin: d[0] = cos(x[0]); break;
    case Op::cos: d[0] = -sin(x[0]); break;
    case Op::tan: d[0] = Expression(1.0) + y * y; break;
    case Op::asin: d[0] = Expression(1.0) / sqrt(Expression(1.0) - x[0] * x[0]); break;
    case Op::acos: d[0] = Expression(-1.0) / sqrt(Expression(1.0) - x[0] * x[0]); break;
    case Op::exp: d[0] = y; break;
    case Op::log: d[0] = Expression(1.0) / x[0]; break;
    case Op::tanh: d[0] = Expression(1.0) - y * y; break;
    case Op::abs: d[0] = record(Op::sign, x[0]); break;
    case Op::add: d[0] = d[1] = 1.0; break;
    case Op::sub: d[0] = 1.0, d[1] = -1.0; break;
    case Op::mul: d[0] = x[1], d[1] = x[0]; break;
    case Op::div: d[0] = Expression(1.0) / x[1], d[1] = -(y / x[1]); break;
    case Op::atan2: {  // of atan2(x0, x1)
      const Expression square = x[0] * x[0] + x[1] * x[1];
      d[0] = x[1] / square;
      d[1] = -(x[0] / square);
      break;
    }
    case Op::pow:
      d[0] = x[1] * record(Op::pow, x[0], x[1] - Expression(1.0));
      d[1] = y * record(Op::log, x[0]);
      break;
    case Op::select:
      d[0] = 0.0;
      d[1] = select(x[0], 1.0, 0.0);
      d[2] = select(x[0], 0.0, 1.0);
      break;
    default: d[0] = d[1] = d[2] = 0.0; break;  // sign and comparisons are flat
  }
}

namespace {

struct Operands {
  Expression value[3], partial[3];
  int count;
};

Operands operands_of(Graph& graph, int i) {
  const Node node = graph.node(i);  // a copy: partials record more nodes
  Operands o{};
  o.count = arity(node.op);
  const int indices[3] = {node.a, node.b, node.c};
  for (int k = 0; k < o.count; ++k) o.value[k] = Expression(&graph, indices[k]);
  if (o.count > 0) partials(node.op, Expression(&graph, i), o.value, o.partial);
  return o;
}

/// For every node up to `count`: true if it depends on a marked one.
std::vector<char> dependents(const Graph& graph, int count, std::vector<char> marked) {
  for (int i = 0; i < count; ++i) {
    const Node& node = graph.node(i);
    const int operands[3] = {node.a, node.b, node.c};
    for (int k = 0; k < arity(node.op); ++k) marked[i] |= marked[operands[k]];
  }
  return marked;
}

/// Nodes that `output` needs, of those marked active.
std::vector<char> ancestors(const Graph& graph, int output, const std::vector<char>& active) {
  std::vector<char> needed(output + 1, 0);
  needed[output] = active[output];
  for (int i = output; i >= 0; --i) {
    if (!needed[i]) continue;
    const Node& node = graph.node(i);
    const int operands[3] = {node.a, node.b, node.c};
    for (int k = 0; k < arity(node.op); ++k) needed[operands[k]] |= active[operands[k]];
  }
  return needed;
}

void check_inputs(const Graph& graph, const std::vector<Expression>& inputs) {
  for (const Expression& x : inputs)
    if (!x.is(Op::symbol) || x.graph != &graph)
      throw std::invalid_argument("derivatives are taken with respect to symbols of the recording");
}

void forward(Graph& graph, const std::vector<int>& outputs, const std::vector<Expression>& inputs,
             std::vector<Expression>& jacobian) {
  const int count = graph.size();
  const std::size_t m = inputs.size();
  std::vector<char> all(count, 1), needed(count, 0);
  for (const int output : outputs) {
    const std::vector<char> own = ancestors(graph, output, all);
    for (std::size_t i = 0; i < own.size(); ++i) needed[i] |= own[i];
  }
  for (std::size_t j = 0; j < m; ++j) {
    std::vector<char> marked(count, 0);
    marked[inputs[j].node] = 1;
    marked = dependents(graph, count, std::move(marked));
    std::vector<Expression> dot(count, Expression(0.0));
    dot[inputs[j].node] = 1.0;
    for (int i = 0; i < count; ++i) {
      if (!marked[i] || !needed[i] || arity(graph.node(i).op) == 0) continue;
      const Operands o = operands_of(graph, i);
      Expression sum = 0.0;
      const Node node = graph.node(i);
      const int indices[3] = {node.a, node.b, node.c};
      for (int k = 0; k < o.count; ++k)
        if (marked[indices[k]]) sum = sum + o.partial[k] * dot[indices[k]];
      // the branch that is not taken may be infinite: select, do not multiply by zero
      dot[i] = node.op == Op::select ? select(o.value[0], dot[node.b], dot[node.c]) : sum;
    }
    for (std::size_t r = 0; r < outputs.size(); ++r) jacobian[r * m + j] = dot[outputs[r]];
  }
}

void reverse(Graph& graph, const std::vector<int>& outputs, const std::vector<Expression>& inputs,
             std::vector<Expression>& jacobian) {
  const int count = graph.size();
  const std::size_t m = inputs.size();
  std::vector<char> active(count, 0);
  for (const Expression& x : inputs) active[x.node] = 1;
  active = dependents(graph, count, std::move(active));
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const int output = outputs[r];
    const std::vector<char> needed = ancestors(graph, output, active);
    std::vector<Expression> bar(output + 1, Expression(0.0));
    bar[output] = 1.0;
    for (int i = output; i >= 0; --i) {
      if (!needed[i] || bar[i].is(0.0) || arity(graph.node(i).op) == 0) continue;
      const Operands o = operands_of(graph, i);
      const Node node = graph.node(i);
      const int indices[3] = {node.a, node.b, node.c};
      for (int k = 0; k < o.count; ++k)
        if (active[indices[k]]) bar[indices[k]] = bar[indices[k]] + o.partial[k] * bar[i];
    }
    for (std::size_t j = 0; j < m; ++j)
      jacobian[r * m + j] = inputs[j].node <= output ? bar[inputs[j].node] : Expression(0.0);
  }
}

}  // namespace

namespace {

/// The same values with calls of outlined pieces written out: the chain rule has to see every operation.
std::vector<Expression> inlined(Graph& graph, const std::vector<Expression>& outputs) {
  if (graph.calls().empty()) return outputs;
  Array in{"symbols", {0}, {}}, out{"outputs", {static_cast<int>(outputs.size())}, outputs};
  for (int i = 0; i < graph.size(); ++i)
    if (graph.node(i).op == Op::symbol) in.entries.emplace_back(&graph, i);
  in.shape[0] = static_cast<int>(in.entries.size());
  const std::shared_ptr<Graph> borrowed(&graph, [](Graph*) {});
  const Function function("inlined", borrowed, {in}, {out});
  return function.calls().empty() ? outputs : function(in.entries);
}

}  // namespace

std::vector<Expression> jacobian(Graph& graph, const std::vector<Expression>& outputs,
                                 const std::vector<Expression>& inputs, Mode mode) {
  check_inputs(graph, inputs);
  std::vector<int> nodes;
  for (const Expression& y : inlined(graph, outputs)) nodes.push_back(node_in(graph, y));
  std::vector<Expression> result(outputs.size() * inputs.size());
  if (mode == Mode::cheaper) mode = inputs.size() <= outputs.size() ? Mode::forward : Mode::reverse;
  (mode == Mode::forward ? forward : reverse)(graph, nodes, inputs, result);
  return result;
}

}  // namespace thunder
