#include "emit_c_plan.hpp"

#include <utility>
#include <algorithm>
#include <set>
#include <utility>

namespace thunder::emit {

namespace {

constexpr int kAngleDepth = 2;  // operations between the arguments and an angle
constexpr std::size_t kLong = 800;  // operations: shorter functions are faster in the order of recording

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

/// The list in an order that keeps few values waiting: of the instructions that are ready the one that ends most of them, and among
/// equals the first. Compilers keep to the order of a long function, and registers are few.
std::vector<int> order_for_few_live_values(const Function& function, const std::vector<int>& list) {
  const int count = function.first_instruction() + static_cast<int>(function.instructions().size());
  std::vector<int> position(count, -1), missing(count, 0), left(count, 0), score(count, 0);
  std::vector<std::vector<int>> reads(count), users(count);
  for (std::size_t k = 0; k < list.size(); ++k) position[list[k]] = static_cast<int>(k);
  for (const int v : list) {
    for (const int o : operands(function, v))
      if (position[o] >= 0) reads[v].push_back(o);
    std::sort(reads[v].begin(), reads[v].end());
    reads[v].erase(std::unique(reads[v].begin(), reads[v].end()), reads[v].end());
    for (const int o : reads[v]) users[o].push_back(v), ++left[o];
    missing[v] = static_cast<int>(reads[v].size());
  }
  std::set<std::pair<int, int>> ready;  // minus score, position
  const auto enter = [&](int v) { ready.emplace(-score[v], position[v]); };
  for (const int v : list) {
    score[v] = users[v].empty() ? 0 : -1;
    for (const int o : reads[v]) score[v] += left[o] == 1;
    if (missing[v] == 0) enter(v);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int v = list[ready.begin()->second];
    ready.erase(ready.begin());
    order.push_back(v);
    position[v] = -1;  // done
    for (const int o : reads[v]) {
      if (--left[o] != 1) continue;
      const int last = *std::find_if(users[o].begin(), users[o].end(), [&](int u) { return position[u] >= 0; });
      const bool waits = ready.erase({-score[last], position[last]}) > 0;
      ++score[last];
      if (waits) enter(last);
    }
    for (const int u : users[v])
      if (--missing[u] == 0) enter(u);
  }
  return order;
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

/// Instructions that the results need, in the order of results as recorded, each with its operands just before.
std::vector<int> Plan::needed(const Function& function) const {
  const int first = function.first_instruction();
  std::vector<int> list, roots = function.result_values();
  std::sort(roots.begin(), roots.end());
  std::vector<char> seen(uses.size(), 0);
  std::vector<std::pair<int, bool>> stack;  // value, operands done
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) stack.emplace_back(*root, false);
  while (!stack.empty()) {
    const auto [v, done] = stack.back();
    stack.pop_back();
    if (done) {
      list.push_back(v);
      continue;
    }
    if (v < first || seen[v] || angle_of[v] >= 0) continue;
    seen[v] = 1;
    stack.emplace_back(v, true);
    const std::vector<int> read = operands(function, v);
    for (auto o = read.rbegin(); o != read.rend(); ++o) stack.emplace_back(*o, false);
  }
  return list;
}

void Plan::find_order(const Function& function) {
  std::vector<char> call_seen(function.calls().size(), 0);
  order = needed(function);
  if (order.size() > kLong)
    order = order_for_few_live_values(function, order);
  else
    std::sort(order.begin(), order.end());
  for (const int v : order) {
    const Instruction& i = function.instruction(v);
    if (i.op == Op::result && std::exchange(call_seen[i.a], 1)) continue;
    for (const int o : operands(function, v)) ++uses[o];
  }
}

}  // namespace thunder::emit
