#include "emit_c_plan.hpp"

#include <utility>
#include <algorithm>
#include <utility>

namespace thunder::emit {

namespace {

constexpr int kAngleDepth = 2;  // operations between the arguments and an angle
constexpr std::size_t kLong = 800;  // operations; measured

/// Depth of the sums and products above the arguments, too much if anything else is among them.
int simple_depth(const Function& function, int value, int allowed) {
  if (value < function.first_instruction()) return 0;
  const Op op = function.instruction(value).op;
  const bool simple = op == Op::neg || op == Op::add || op == Op::sub || op == Op::mul;
  if (!simple || allowed == 0) return kAngleDepth + 1;
  int depth = 0;
  for (const int v : operands(function, value)) depth = std::max(depth, simple_depth(function, v, allowed - 1));
  return depth + 1;
}

}  // namespace

std::vector<int> operands(const Function& function, int value) {
  const Instruction& i = function.instruction(value);
  if (i.op == Op::result) return function.calls()[i.a].arguments;
  const int all[3] = {i.a, i.b, i.c};
  return {all, all + arity(i.op)};
}

Plan::Plan(const Function& function) {
  const int count = function.first_instruction() + static_cast<int>(function.instructions().size());
  angle_of.assign(count, -1);
  uses.assign(count, 0);
  find_angles(function);
  find_order(function);
}

void Plan::find_angles(const Function& function) {
  const int first = function.first_instruction(), count = static_cast<int>(angle_of.size());
  for (int v = first; v < count; ++v) {
    const Instruction& i = function.instruction(v);
    if ((i.op == Op::sin || i.op == Op::cos) && simple_depth(function, i.a, kAngleDepth) <= kAngleDepth)
      angles.push_back(i.a);
  }
  std::sort(angles.begin(), angles.end());
  angles.erase(std::unique(angles.begin(), angles.end()), angles.end());
  for (int v = first; v < count; ++v) {
    const Instruction& i = function.instruction(v);
    if (i.op != Op::sin && i.op != Op::cos) continue;
    const auto found = std::lower_bound(angles.begin(), angles.end(), i.a);
    if (found != angles.end() && *found == i.a) angle_of[v] = static_cast<int>(found - angles.begin());
  }
}

void Plan::find_order(const Function& function) {
  const int first = function.first_instruction();
  std::vector<char> seen(uses.size(), 0), call_seen(function.calls().size(), 0);
  std::vector<std::pair<int, bool>> stack;  // value, operands done
  const auto visit = [&](int root) {
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      const auto [v, done] = stack.back();
      stack.pop_back();
      if (done) {
        order.push_back(v);
        continue;
      }
      if (v < first || seen[v] || angle_of[v] >= 0) continue;
      seen[v] = 1;
      stack.emplace_back(v, true);
      const std::vector<int> read = operands(function, v);
      for (auto o = read.rbegin(); o != read.rend(); ++o) stack.emplace_back(*o, false);
    }
  };
  // Results in the order of recording, each with what it needs just before: fewer values wait in memory. Short functions keep
  // the order of the kernel, which has more independent operations side by side.
  std::vector<int> roots = function.result_values();
  std::sort(roots.begin(), roots.end());
  for (const int v : roots) visit(v);
  if (order.size() < kLong) std::sort(order.begin(), order.end());
  for (const int v : order) {
    const Instruction& i = function.instruction(v);
    if (i.op == Op::result && std::exchange(call_seen[i.a], 1)) continue;
    for (const int o : operands(function, v)) ++uses[o];
  }
}

}  // namespace thunder::emit
