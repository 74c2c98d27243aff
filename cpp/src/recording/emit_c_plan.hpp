// What to know about a recorded function before it is written down.
#pragma once

#include <vector>

#include "thunder/recording/function.hpp"

namespace thunder::emit {

struct Plan {
  explicit Plan(const Function& function);

  /// Values whose sines and cosines are computed together at the start: they depend on no other operation worth the name.
  std::vector<int> angles;
  /// By value: which angle a sine or cosine is of, or -1.
  std::vector<int> angle_of;
  /// By value: how many operations and calls read it.
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
