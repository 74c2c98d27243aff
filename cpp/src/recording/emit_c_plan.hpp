// Analysis of a recorded function before its C code is written.
#pragma once

#include <vector>

#include "thunder/recording/function.hpp"

namespace thunder::emit {

struct Plan {
  explicit Plan(const Function& function);

  /// Values whose sines and cosines are computed together at the start: they depend on no other significant operation.
  std::vector<int> angles;
  /// By value: index of the angle of a sine or cosine, or -1.
  std::vector<int> angle_of;
  /// By value: number of operations and calls that read it.
  std::vector<int> uses;
  /// Instructions to write, as values, operands first.
  std::vector<int> order;

 private:
  void find_angles(const Function& function);
  std::vector<int> needed(const Function& function) const;
  void find_order(const Function& function);
};

/// Values that an instruction reads; those of a call for one of its results.
std::vector<int> operands(const Function& function, int value);

}  // namespace thunder::emit
