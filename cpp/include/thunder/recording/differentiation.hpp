// Derivatives of recorded expressions, as expressions of the same graph.
#pragma once

#include <vector>

#include "expression.hpp"

namespace thunder {

enum class Mode { forward, reverse, cheaper };

/// d outputs / d inputs, outputs x inputs row by row; inputs are symbols. `cheaper` takes forward mode where there are
/// no more inputs than outputs.
std::vector<Expression> jacobian(Graph& graph, const std::vector<Expression>& outputs,
                                 const std::vector<Expression>& inputs, Mode mode = Mode::cheaper);

/// Partial derivatives of op(a, b, c) with value y with respect to its operands.
void partials(Op op, const Expression& y, const Expression* operands, Expression* out);

}  // namespace thunder
