// Evaluates a recorded function without a compiler: operation by operation, each over a block of states.
#pragma once

#include <cstddef>

#include "function.hpp"

namespace thunder {

class Interpreter {
 public:
  static constexpr int kBlock = 8;

  explicit Interpreter(const Function& function);

  /// Doubles of scratch that `run` needs.
  std::size_t scratch_size() const { return static_cast<std::size_t>(slots_) * kBlock; }

  /// Sample b of argument k is at in[k] + b * stride[k], of result k at out[k] + b * (its size). Allocates nothing.
  void run(const double* const* in, const std::ptrdiff_t* stride, double* const* out, std::size_t count,
           double* scratch) const;

 private:
  struct Step {
    Op op;
    int out, a, b, c;  // slots; of a paired sine and cosine: c is the slot of the cosine
  };
  static constexpr Op kPair = Op::result;  // no step is a result: stands for sine and cosine together

  void assign_slots(const Function& function);
  template <int B>
  void run_block(const double* const* in, const std::ptrdiff_t* stride, double* const* out, std::size_t first, int lanes,
                 double* scratch) const;
  template <int B>
  void execute(double* scratch) const;

  std::vector<Port> arguments_, results_;
  std::vector<std::pair<int, double>> constants_;  // slot, value
  std::vector<int> argument_slots_, result_slots_;
  std::vector<Step> steps_;
  int slots_ = 0;
};

}  // namespace thunder
