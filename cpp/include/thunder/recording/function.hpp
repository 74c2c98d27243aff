// A recorded function: named arguments and results, and the list of operations between them, dead code dropped.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression.hpp"

namespace thunder {

/// A named array of scalars, row by row. A shape without dimensions is a scalar.
struct Array {
  std::string name;
  std::vector<int> shape;
  std::vector<Expression> entries;
};

/// Location of the values of one argument or result.
struct Port {
  std::string name;
  std::vector<int> shape;
  int size;
  int first;  // of its entries among those of all arguments, or all results
};

/// op on earlier values. For a `result`, a is the index of the call, b the position.
struct Instruction {
  Op op;
  int a, b, c;
};

/// A call in the list: of an outline, turned into a function of its own.
struct FunctionCall {
  int body;  // index into Function::bodies()
  std::vector<int> arguments;  // values
};

/// Values are numbered: entries of the arguments, then constants, then one for each instruction.
class Function {
 public:
  /// Throws std::invalid_argument where arguments are no distinct symbols, or results need a symbol that is no argument.
  Function(std::string name, const std::shared_ptr<Graph>& graph, const std::vector<Array>& arguments,
           const std::vector<Array>& results);

  const std::string& name() const { return name_; }
  const std::vector<Port>& arguments() const { return arguments_; }
  const std::vector<Port>& results() const { return results_; }
  int argument_size() const { return argument_size_; }
  int result_size() const { return static_cast<int>(result_values_.size()); }
  const std::vector<double>& constants() const { return constants_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// Value of every entry of the results.
  const std::vector<int>& result_values() const { return result_values_; }
  const std::vector<FunctionCall>& calls() const { return calls_; }
  const std::vector<std::shared_ptr<const Function>>& bodies() const { return bodies_; }

  bool is_argument(int value) const { return value < argument_size_; }
  bool is_constant(int value) const { return value >= argument_size_ && value < first_instruction(); }
  int first_instruction() const { return argument_size_ + static_cast<int>(constants_.size()); }
  double constant(int value) const { return constants_[value - argument_size_]; }
  const Instruction& instruction(int value) const { return instructions_[value - first_instruction()]; }

  /// Longest chain of operations from arguments to results.
  int depth() const;
  /// result_size x argument_size, row by row: may result entry i depend on argument entry j?
  std::vector<char> dependence() const;

  /// The same computation on other expressions (outlines inlined): results for `arguments`, entry by entry.
  std::vector<Expression> operator()(const std::vector<Expression>& arguments) const;

 private:
  std::string name_;
  std::vector<Port> arguments_, results_;
  int argument_size_ = 0;
  std::vector<double> constants_;
  std::vector<Instruction> instructions_;
  std::vector<int> result_values_;
  std::vector<FunctionCall> calls_;
  std::vector<std::shared_ptr<const Function>> bodies_;
};

}  // namespace thunder
