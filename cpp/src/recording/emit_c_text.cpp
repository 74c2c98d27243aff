#include "emit_c_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace thunder::emit {

namespace {

template <class T>
std::string shortest(T x) {
  char buffer[40];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, x);
  std::string text(buffer, end.ptr);
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text.find('.') == std::string::npos ? text + ".0" : text;
  std::string exponent = text.substr(e + 1);  // e+05 is e5
  const bool negative = exponent[0] == '-';
  exponent.erase(0, exponent.find_first_of("123456789"));
  return text.substr(0, e) + (negative ? "e-" : "e") + exponent;
}

Term primary(std::string text, const Term& inner) { return {std::move(text), Binding::primary, false, inner.depth + 1}; }

Term call(const Precision& precision, const char* name, const Term& a) {
  return primary(precision.function(name) + "(" + a.at_least(Binding::ternary) + ")", a);
}

Term call(const Precision& precision, const char* name, const Term& a, const Term& b) {
  const std::string text = a.at_least(Binding::ternary) + ", " + b.at_least(Binding::ternary);
  return primary(precision.function(name) + "(" + text + ")", a.depth > b.depth ? a : b);
}

int deeper(const Term& a, const Term& b) { return std::max(a.depth, b.depth) + 1; }

/// a + b or a - b, of magnitudes: the operator's left operand may be a sum itself without parentheses.
Term sum(const Term& a, const char* sign, const Term& b, bool negative) {
  return {a.magnitude(Binding::sum) + sign + b.magnitude(Binding::product), Binding::sum, negative, deeper(a, b)};
}

Term add(const Term& a, const Term& b) {
  if (a.negative && !b.negative) return sum(b, " - ", a, false);
  if (b.negative && !a.negative) return sum(a, " - ", b, false);
  const bool swap = b.binding == Binding::sum && a.binding != Binding::sum;  // a + (b + c) is b + c + a
  return swap ? sum(b, " + ", a, a.negative) : sum(a, " + ", b, a.negative);
}

Term product(const Term& a, const Term& b) {
  const bool swap = b.binding == Binding::product && a.binding != Binding::product;
  const Term &left = swap ? b : a, &right = swap ? a : b;
  return {left.magnitude(Binding::product) + "*" + right.magnitude(Binding::sign), Binding::product,
          a.negative != b.negative, deeper(a, b)};
}

Term quotient(const Term& a, const Term& b) {
  return {a.magnitude(Binding::product) + "/" + b.magnitude(Binding::sign), Binding::product, a.negative != b.negative,
          deeper(a, b)};
}

Term comparison(const Term& a, const char* sign, const Term& b) {
  return {a.at_least(Binding::sum) + sign + b.at_least(Binding::sum), Binding::comparison, false, deeper(a, b)};
}

}  // namespace

std::string Precision::number(double x) const {
  if (std::isnan(x)) return "NAN";
  if (std::isinf(x)) return "INFINITY";
  if (!single) return shortest(x);
  if (x > std::numeric_limits<float>::max())
    throw std::invalid_argument("the constant " + shortest(x) + " is too large for float");
  return shortest(static_cast<float>(x)) + "f";
}

std::string Term::magnitude(Binding wanted) const { return binding < wanted ? "(" + text + ")" : text; }

std::string Term::at_least(Binding wanted) const {
  if (!negative) return magnitude(wanted);
  const std::string text = "-" + magnitude(Binding::product);
  return wanted > Binding::sum ? "(" + text + ")" : text;
}

Term number_of(const Precision& precision, const Term& condition) {
  return {condition.text + " ? " + precision.number(1.0) + " : " + precision.number(0.0), Binding::ternary, false,
          condition.depth + 1};
}

Term combine(const Precision& precision, Op op, const Term& a, const Term& b, const Term& c) {
  Term minus = b;
  minus.negative = !b.negative;
  switch (op) {
    case Op::neg: return {a.text, a.binding, !a.negative, a.depth};
    case Op::add: return add(a, b);
    case Op::sub: return add(a, minus);
    case Op::mul: return product(a, b);
    case Op::div: return quotient(a, b);
    case Op::less: return comparison(a, " < ", b);
    case Op::less_equal: return comparison(a, " <= ", b);
    case Op::select: {
      const std::string condition =
          a.binding == Binding::comparison ? a.text : a.at_least(Binding::sum) + " != " + precision.number(0.0);
      const std::string text = condition + " ? " + b.at_least(Binding::sum) + " : " + c.at_least(Binding::sum);
      return {text, Binding::ternary, false, std::max(a.depth, deeper(b, c)) + 1};
    }
    case Op::abs: return call(precision, "fabs", a);
    case Op::atan2:
    case Op::pow: return call(precision, op_name(op), a, b);
    case Op::sign: return primary("thunder_sign(" + a.at_least(Binding::ternary) + ")", a);
    default: return call(precision, op_name(op), a);
  }
}

}  // namespace thunder::emit
