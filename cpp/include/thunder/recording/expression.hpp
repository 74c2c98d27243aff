// The recording scalar: arithmetic on it leaves nodes in a graph.
//
// What is known at recording time is folded: operations on constants, zeros, ones, equal operands. Negations move outwards, where
// sums absorb them, and operands of sums and products are ordered, so that equal values meet in one node.
#pragma once

#include "../math/lanes.hpp"
#include "graph.hpp"

namespace thunder {

struct Expression {
  Graph* graph;  // null for a constant; kept alive by whoever recorded into it
  union {
    double value;  // of a constant
    std::int64_t node;
  };

  Expression() = default;
  Expression(double constant) : graph(nullptr), value(constant) {}  // NOLINT: numbers mix with expressions
  Expression(Graph* g, int index);

  bool is_constant() const { return graph == nullptr; }
  bool is(double constant) const { return graph == nullptr && value == constant; }
  const Node& at() const { return graph->node(static_cast<int>(node)); }
  bool is(Op op) const { return graph != nullptr && at().op == op; }
  /// Operand k.
  Expression operand(int k) const;
  /// The same value, in any graph: both constants, or the same node.
  bool same(const Expression& other) const;
};

/// op(a, b, c), simplified.
Expression record(Op op, const Expression& a);
Expression record(Op op, const Expression& a, const Expression& b);
Expression select(const Expression& condition, const Expression& a, const Expression& b);
/// Node of an expression in `graph`; a constant is entered there.
int node_in(Graph& graph, const Expression& x);

inline Expression operator-(const Expression& a) { return record(Op::neg, a); }
inline Expression operator+(const Expression& a, const Expression& b) { return record(Op::add, a, b); }
inline Expression operator-(const Expression& a, const Expression& b) { return record(Op::sub, a, b); }
inline Expression operator*(const Expression& a, const Expression& b) { return record(Op::mul, a, b); }
inline Expression operator/(const Expression& a, const Expression& b) { return record(Op::div, a, b); }
inline Expression& operator+=(Expression& a, const Expression& b) { return a = a + b; }
inline Expression& operator-=(Expression& a, const Expression& b) { return a = a - b; }

inline Expression sqrt(const Expression& x) { return record(Op::sqrt, x); }
inline Expression sin(const Expression& x) { return record(Op::sin, x); }
inline Expression cos(const Expression& x) { return record(Op::cos, x); }
inline Expression abs(const Expression& x) { return record(Op::abs, x); }
inline Expression less(const Expression& a, const Expression& b) { return record(Op::less, a, b); }
/// |magnitude| with the sign of x, positive at zero.
inline Expression copysign(const Expression& magnitude, const Expression& x) {
  const Expression size = abs(magnitude);
  return select(less(x, 0.0), -size, size);
}
inline void sincos(const Expression& x, Expression& s, Expression& c) {
  s = sin(x);
  c = cos(x);
}

}  // namespace thunder
