// Pieces of C text: numbers, and expressions with their operator precedence.
#pragma once

#include <string>

#include "thunder/recording/operation.hpp"

namespace thunder::emit {

/// float or double.
struct Precision {
  bool single;

  const char* type() const { return single ? "float" : "double"; }
  /// A number that is not negative, with the fewest digits that reproduce it. Throws where float cannot hold it.
  std::string number(double x) const;
  /// A function of math.h.
  std::string function(const char* name) const { return single ? std::string(name) + "f" : name; }
};

/// Precedence of the outermost operator.
enum class Binding { ternary, comparison, sum, product, sign, primary };

/// An expression, or the negative of one: signs are carried along until an operator absorbs them.
struct Term {
  std::string text;
  Binding binding = Binding::primary;
  bool negative = false;
  int depth = 0;  // of nested operators

  /// With its sign, in parentheses where its precedence is lower than required.
  std::string at_least(Binding wanted) const;
  std::string magnitude(Binding wanted) const;
};

/// op(a, b, c). A comparison is a condition inside a select, and elsewhere a number.
Term combine(const Precision& precision, Op op, const Term& a, const Term& b, const Term& c);
/// The number of a condition.
Term number_of(const Precision& precision, const Term& condition);

}  // namespace thunder::emit
