// The scalar operations a recording is made of.
#pragma once

#include <cmath>
#include <cstdint>

namespace thunder {

enum class Op : std::uint8_t {
  constant, symbol, result,  // leaves: a number, an argument, one result of an outlined call
  neg, sqrt, sin, cos, tan, asin, acos, exp, log, tanh, abs, sign,
  add, sub, mul, div, atan2, pow, less, less_equal,  // comparisons give 1 or 0
  select,  // a != 0 ? b : c
};
inline constexpr int kOpCount = static_cast<int>(Op::select) + 1;

inline constexpr const char* kOpNames[kOpCount] = {
    "constant", "symbol", "result", "neg", "sqrt", "sin", "cos", "tan", "asin", "acos", "exp", "log",
    "tanh", "abs", "sign", "add", "sub", "mul", "div", "atan2", "pow", "less", "less_equal", "select"};

inline const char* op_name(Op op) { return kOpNames[static_cast<int>(op)]; }

/// Number of operands.
inline constexpr int arity(Op op) {
  if (op <= Op::result) return 0;
  if (op <= Op::sign) return 1;
  return op <= Op::less_equal ? 2 : 3;
}

inline constexpr bool commutative(Op op) { return op == Op::add || op == Op::mul; }

/// Sign function, zero at zero; not a number stays one.
inline double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x; }

inline double evaluate(Op op, double a, double b = 0.0, double c = 0.0) {
  switch (op) {
    case Op::neg: return -a;
    case Op::sqrt: return std::sqrt(a);
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::tan: return std::tan(a);
    case Op::asin: return std::asin(a);
    case Op::acos: return std::acos(a);
    case Op::exp: return std::exp(a);
    case Op::log: return std::log(a);
    case Op::tanh: return std::tanh(a);
    case Op::abs: return std::fabs(a);
    case Op::sign: return sign(a);
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::atan2: return std::atan2(a, b);
    case Op::pow: return std::pow(a, b);
    case Op::less: return a < b;
    case Op::less_equal: return a <= b;
    case Op::select: return a != 0.0 ? b : c;
    default: return a;
  }
}

}  // namespace thunder
