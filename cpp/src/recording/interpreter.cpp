#include "thunder/recording/interpreter.hpp"

#include <algorithm>

#include "thunder/math/sincos.hpp"

namespace thunder {

namespace {

/// The same function with the bodies of its calls in its own list.
Function inlined(const Function& function) {
  const auto graph = std::make_shared<Graph>();
  std::vector<Expression> symbols;
  std::vector<Array> arguments, results;
  for (const Port& port : function.arguments()) {
    arguments.push_back({port.name, port.shape, {}});
    for (int i = 0; i < port.size; ++i) {
      symbols.emplace_back(graph.get(), graph->symbol(port.name));
      arguments.back().entries.push_back(symbols.back());
    }
  }
  const std::vector<Expression> values = function(symbols);
  for (const Port& port : function.results())
    results.push_back({port.name, port.shape, {values.begin() + port.first, values.begin() + port.first + port.size}});
  return {function.name(), graph, arguments, results};
}

}  // namespace

Interpreter::Interpreter(const Function& function)
    : arguments_(function.arguments()), results_(function.results()) {
  if (function.calls().empty())
    assign_slots(function);
  else
    assign_slots(inlined(function));
}

/// Slots are reused once their value was read for the last time, so that the scratch stays in the cache.
void Interpreter::assign_slots(const Function& function) {
  const auto& instructions = function.instructions();
  const int first = function.first_instruction(), count = first + static_cast<int>(instructions.size());
  std::vector<int> last_use(count, -1), slot(count, -1), partner(count, -1), free_slots;
  for (const int v : function.result_values()) last_use[v] = count;
  std::vector<std::pair<int, int>> sines(count, {-1, -1});  // by argument
  for (int v = first; v < count; ++v) {
    const Instruction& i = function.instruction(v);
    const int operands[3] = {i.a, i.b, i.c};
    for (int k = 0; k < arity(i.op); ++k) last_use[operands[k]] = std::max(last_use[operands[k]], v);
    if (i.op == Op::sin) sines[i.a].first = v;
    if (i.op == Op::cos) sines[i.a].second = v;
  }
  for (const auto& [s, c] : sines)
    if (s >= 0 && c >= 0) partner[s] = c, partner[c] = s;
  const auto take = [&](int v) {
    if (free_slots.empty()) {
      slot[v] = slots_++;
    } else {
      slot[v] = free_slots.back();
      free_slots.pop_back();
    }
    return slot[v];
  };
  for (int j = 0; j < function.argument_size(); ++j) argument_slots_.push_back(take(j));
  for (int v = function.argument_size(); v < first; ++v) {
    constants_.emplace_back(take(v), function.constant(v));
    last_use[v] = count;  // set once for many blocks
  }
  for (int v = first; v < count; ++v) {
    const Instruction& i = function.instruction(v);
    if (slot[v] >= 0) continue;  // computed with its partner
    const int operands[3] = {i.a, i.b, i.c};
    Step step{i.op, -1, -1, -1, -1};
    int* const own[3] = {&step.a, &step.b, &step.c};
    for (int k = 0; k < arity(i.op); ++k) *own[k] = slot[operands[k]];
    step.out = take(v);
    if (partner[v] >= 0) {
      step.c = take(partner[v]);
      if (i.op == Op::cos) std::swap(step.out, step.c);
      step.op = kPair;
    }
    steps_.push_back(step);
    for (int k = 0; k < arity(i.op); ++k) {
      const int operand = operands[k];
      if (last_use[operand] > v || slot[operand] < 0) continue;
      last_use[operand] = count;  // release the slot once
      free_slots.push_back(slot[operand]);
    }
  }
  for (const int v : function.result_values()) result_slots_.push_back(slot[v]);
}

template <int B>
void Interpreter::execute(double* scratch) const {
  for (const Step& s : steps_) {
    double* out = scratch + s.out * B;
    const double *a = scratch + s.a * B, *b = scratch + s.b * B, *c = scratch + s.c * B;
    double y[B];  // out may share the slot of an operand
    switch (s.op) {
      case Op::add: for (int l = 0; l < B; ++l) y[l] = a[l] + b[l]; break;
      case Op::sub: for (int l = 0; l < B; ++l) y[l] = a[l] - b[l]; break;
      case Op::mul: for (int l = 0; l < B; ++l) y[l] = a[l] * b[l]; break;
      case Op::div: for (int l = 0; l < B; ++l) y[l] = a[l] / b[l]; break;
      case Op::neg: for (int l = 0; l < B; ++l) y[l] = -a[l]; break;
      case kPair: {
        double cosine[B];
        for (int l = 0; l < B; ++l) sincos(a[l], y[l], cosine[l]);
        std::copy_n(cosine, B, scratch + s.c * B);
        break;
      }
      case Op::select: for (int l = 0; l < B; ++l) y[l] = a[l] != 0.0 ? b[l] : c[l]; break;
      default: {
        const bool two = arity(s.op) == 2;
        for (int l = 0; l < B; ++l) y[l] = evaluate(s.op, a[l], two ? b[l] : 0.0);
      }
    }
    std::copy_n(y, B, out);
  }
}

template <int B>
void Interpreter::run_block(const double* const* in, const std::ptrdiff_t* stride, double* const* out,
                            std::size_t first, int lanes, double* scratch) const {
  for (const auto& [slot, value] : constants_) std::fill_n(scratch + slot * B, B, value);
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    const Port& port = arguments_[k];
    for (int l = 0; l < B; ++l) {  // idle lanes repeat the last sample
      const double* sample = in[k] + static_cast<std::ptrdiff_t>(first + std::min(l, lanes - 1)) * stride[k];
      for (int e = 0; e < port.size; ++e) scratch[argument_slots_[port.first + e] * B + l] = sample[e];
    }
  }
  execute<B>(scratch);
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const Port& port = results_[k];
    for (int l = 0; l < lanes; ++l)
      for (int e = 0; e < port.size; ++e)
        out[k][(first + l) * port.size + e] = scratch[result_slots_[port.first + e] * B + l];
  }
}

void Interpreter::run(const double* const* in, const std::ptrdiff_t* stride, double* const* out, std::size_t count,
                      double* scratch) const {
  std::size_t done = 0;
  for (; done + 1 < count; done += kBlock)
    run_block<kBlock>(in, stride, out, done, static_cast<int>(std::min<std::size_t>(kBlock, count - done)), scratch);
  if (done < count) run_block<1>(in, stride, out, done, 1, scratch);
}

}  // namespace thunder
