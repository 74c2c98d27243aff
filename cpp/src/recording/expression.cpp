#include "thunder/recording/expression.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace thunder {

Expression::Expression(Graph* g, int index) : graph(g), node(index) {
  if (g->node(index).op == Op::constant) {
    value = g->node(index).value;
    graph = nullptr;
  }
}

Expression Expression::operand(int k) const {
  const Node& n = at();
  return {graph, k == 0 ? n.a : k == 1 ? n.b : n.c};
}

bool Expression::same(const Expression& other) const {
  if (graph != other.graph) return false;
  return graph == nullptr ? value == other.value : node == other.node;
}

int node_in(Graph& graph, const Expression& x) {
  if (x.is_constant()) return graph.constant(x.value + 0.0);  // one zero
  if (x.graph != &graph) throw std::invalid_argument("expressions of different recordings do not mix");
  return static_cast<int>(x.node);
}

namespace {

Graph& common_graph(const Expression& a, const Expression& b) {
  if (a.graph != nullptr && b.graph != nullptr && a.graph != b.graph)
    throw std::invalid_argument("expressions of different recordings do not mix");
  return a.graph != nullptr ? *a.graph : *b.graph;
}

Expression intern(Op op, const Expression& a) { return {a.graph, a.graph->intern(op, static_cast<int>(a.node))}; }

Expression intern(Op op, const Expression& a, const Expression& b) {
  Graph& graph = common_graph(a, b);
  int x = node_in(graph, a), y = node_in(graph, b);
  if (commutative(op) && x > y) std::swap(x, y);
  return {&graph, graph.intern(op, x, y)};
}

bool recorded(Op op, const Expression& a, const Expression& b) {
  Graph& graph = common_graph(a, b);
  return graph.find(op, node_in(graph, a), node_in(graph, b)) >= 0;
}

/// The constant operand of a sum or product, if it has one, and the other.
bool split_constant(Op op, const Expression& x, double& constant, Expression& rest) {
  if (!x.is(op)) return false;
  for (int k = 0; k < 2; ++k)
    if (x.operand(k).is_constant()) {
      constant = x.operand(k).value;
      rest = x.operand(1 - k);
      return true;
    }
  return false;
}

Expression add(const Expression& a, const Expression& b) {
  if (a.is(0.0)) return b;
  if (b.is(0.0)) return a;
  if (a.is(Op::neg) && b.is(Op::neg)) return -(a.operand(0) + b.operand(0));
  if (a.is(Op::neg)) return b - a.operand(0);
  if (b.is(Op::neg)) return a - b.operand(0);
  if (a.same(b)) return a * 2.0;
  if (a.is_constant()) return add(b, a);
  if (b.is_constant()) {
    double c;
    Expression rest;
    if (split_constant(Op::add, a, c, rest)) return rest + (c + b.value);
    if (b.value < 0.0) return a - Expression(-b.value);
    if (a.is(Op::sub) && a.operand(1).is_constant()) return a.operand(0) + (b.value - a.operand(1).value);
  }
  // (x - y) + y
  if (a.is(Op::sub) && a.operand(1).same(b)) return a.operand(0);
  if (b.is(Op::sub) && b.operand(1).same(a)) return b.operand(0);
  return intern(Op::add, a, b);
}

Expression sub(const Expression& a, const Expression& b) {
  if (b.is(0.0)) return a;
  if (a.is(0.0)) return -b;
  if (a.same(b)) return 0.0;
  if (b.is(Op::neg)) return a + b.operand(0);
  if (a.is(Op::neg)) return -(a.operand(0) + b);
  if (b.is_constant()) {
    if (b.value < 0.0) return a + Expression(-b.value);
    if (a.is(Op::sub) && a.operand(1).is_constant()) return a.operand(0) - (b.value + a.operand(1).value);
    double c;
    Expression rest;
    if (split_constant(Op::add, a, c, rest)) return rest + (c - b.value);
  }
  // (x + y) - y, and y - (y - x)
  if (a.is(Op::add)) {
    if (a.operand(0).same(b)) return a.operand(1);
    if (a.operand(1).same(b)) return a.operand(0);
  }
  if (b.is(Op::sub) && b.operand(0).same(a)) return b.operand(1);
  if (recorded(Op::sub, b, a)) return -intern(Op::sub, b, a);
  return intern(Op::sub, a, b);
}

Expression mul(const Expression& a, const Expression& b) {
  if (a.is(0.0) || b.is(0.0)) return 0.0;
  if (a.is(1.0)) return b;
  if (b.is(1.0)) return a;
  if (a.is(-1.0)) return -b;
  if (b.is(-1.0)) return -a;
  if (a.is(Op::neg)) return -(a.operand(0) * b);
  if (b.is(Op::neg)) return -(a * b.operand(0));
  if (a.is_constant()) return mul(b, a);
  if (b.is_constant()) {
    if (b.value < 0.0) return -(a * Expression(-b.value));
    double c;
    Expression rest;
    if (split_constant(Op::mul, a, c, rest)) return rest * (c * b.value);
  }
  return intern(Op::mul, a, b);
}

Expression div(const Expression& a, const Expression& b) {
  if (a.is(0.0)) return 0.0;
  if (b.is(1.0)) return a;
  if (b.is(-1.0)) return -a;
  if (a.same(b)) return 1.0;
  if (a.is(Op::neg)) return -(a.operand(0) / b);
  if (b.is(Op::neg)) return -(a / b.operand(0));
  if (b.is_constant()) {
    if (b.value < 0.0) return -(a / Expression(-b.value));
    int exponent;
    if (std::frexp(b.value, &exponent) == 0.5) return a * Expression(1.0 / b.value);
  }
  if (a.is(Op::mul)) {  // (x y) / y
    if (a.operand(0).same(b)) return a.operand(1);
    if (a.operand(1).same(b)) return a.operand(0);
  }
  return intern(Op::div, a, b);
}

/// Repeated squaring for small whole exponents, square root for halves.
Expression power(const Expression& a, const Expression& b) {
  if (!b.is_constant()) return intern(Op::pow, a, b);
  double e = b.value;
  if (e == 0.5) return sqrt(a);
  if (e != std::floor(e) || std::abs(e) > 16.0) return intern(Op::pow, a, b);
  if (e < 0.0) return Expression(1.0) / power(a, -e);
  Expression result = 1.0, square = a;
  for (int k = static_cast<int>(e); k > 0; k >>= 1, square = k > 0 ? square * square : square)
    if (k & 1) result = result * square;
  return result;
}

/// Quarter turns k (0..3) if x = k pi/2 to rounding, else -1.
int quarter_turns(double x) {
  const double k = std::nearbyint(x / M_PI_2);
  if (std::abs(x - k * M_PI_2) > 4e-16 * std::max(1.0, std::abs(k))) return -1;
  return static_cast<int>(std::fmod(std::fmod(k, 4.0) + 4.0, 4.0));
}

/// sin or cos of rest + turns pi/2.
Expression turned(bool cosine, const Expression& rest, int turns) {
  if (cosine) turns = (turns + 1) % 4;  // cos x = sin(x + pi/2)
  const Expression value = turns % 2 == 0 ? sin(rest) : cos(rest);
  return turns < 2 ? value : -value;
}

Expression sine_or_cosine(Op op, const Expression& x) {
  const bool cosine = op == Op::cos;
  if (x.is(Op::neg)) return cosine ? cos(x.operand(0)) : -sin(x.operand(0));
  // of a sum with quarter turns, such as a joint with its zero
  double angle;
  Expression rest;
  bool shifted = split_constant(Op::add, x, angle, rest);
  if (!shifted && x.is(Op::sub) && x.operand(1).is_constant()) {
    angle = -x.operand(1).value;
    rest = x.operand(0);
    shifted = true;
  }
  if (x.is(Op::sub) && x.operand(0).is_constant()) {
    angle = x.operand(0).value;
    rest = -x.operand(1);
    shifted = true;
  }
  const int turns = shifted ? quarter_turns(angle) : -1;
  return turns >= 0 ? turned(cosine, rest, turns) : intern(op, x);
}

bool is_odd(Op op) { return op == Op::tan || op == Op::asin || op == Op::tanh || op == Op::sign; }

}  // namespace

Expression record(Op op, const Expression& a) {
  if (a.is_constant()) return evaluate(op, a.value);
  if (op == Op::neg) return a.is(Op::neg) ? a.operand(0) : intern(op, a);
  if (op == Op::sin || op == Op::cos) return sine_or_cosine(op, a);
  if (a.is(Op::neg)) {
    if (is_odd(op)) return -record(op, a.operand(0));
    if (op == Op::abs) return record(op, a.operand(0));
  }
  if (op == Op::abs && (a.is(Op::abs) || a.is(Op::sqrt) || a.is(Op::exp))) return a;
  return intern(op, a);
}

Expression record(Op op, const Expression& a, const Expression& b) {
  if (a.is_constant() && b.is_constant()) return evaluate(op, a.value, b.value);
  switch (op) {
    case Op::add: return add(a, b);
    case Op::sub: return sub(a, b);
    case Op::mul: return mul(a, b);
    case Op::div: return div(a, b);
    case Op::pow: return power(a, b);
    default: return intern(op, a, b);
  }
}

Expression select(const Expression& condition, const Expression& a, const Expression& b) {
  if (condition.is_constant()) return condition.value != 0.0 ? a : b;
  if (a.same(b)) return a;
  Graph& graph = a.graph != nullptr ? common_graph(condition, a) : common_graph(condition, b);
  return {&graph, graph.intern(Op::select, node_in(graph, condition), node_in(graph, a), node_in(graph, b))};
}

}  // namespace thunder
