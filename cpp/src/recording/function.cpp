#include "thunder/recording/function.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace thunder {

namespace {

int product(const std::vector<int>& shape) {
  int size = 1;
  for (const int d : shape) size *= d;
  return size;
}

std::vector<Port> make_ports(const std::vector<Array>& arrays) {
  std::vector<Port> ports;
  int first = 0;
  for (const Array& array : arrays) {
    const int size = product(array.shape);
    if (size != static_cast<int>(array.entries.size()))
      throw std::invalid_argument("'" + array.name + "' has " + std::to_string(array.entries.size()) +
                                  " entries, its shape wants " + std::to_string(size));
    ports.push_back({array.name, array.shape, size, first});
    first += size;
  }
  return ports;
}

/// Nodes that `roots` need, operands before the operations on them.
std::vector<char> reachable(const Graph& graph, const std::vector<int>& roots) {
  std::vector<char> needed(graph.size(), 0);
  for (const int root : roots) needed[root] = 1;
  std::vector<char> call_done(graph.calls().size(), 0);
  for (int i = graph.size() - 1; i >= 0; --i) {  // operands have smaller indices
    if (!needed[i]) continue;
    const Node& node = graph.node(i);
    const int operands[3] = {node.a, node.b, node.c};
    if (node.op == Op::result) {
      if (call_done[node.a]) continue;
      call_done[node.a] = 1;
      for (const int argument : graph.calls()[node.a].arguments) needed[argument] = 1;
    } else {
      for (int k = 0; k < arity(node.op); ++k) needed[operands[k]] = 1;
    }
  }
  return needed;
}

std::shared_ptr<const Function> function_of(const Outline& outline) {
  if (outline.function) return outline.function;
  Graph* const graph = outline.graph.get();
  std::vector<Array> in;
  auto next = outline.arguments.begin();
  for (const int size : outline.group_sizes) {
    if (size == 0) continue;
    in.push_back({"a" + std::to_string(in.size()), {size}, {}});
    for (int k = 0; k < size; ++k) in.back().entries.emplace_back(graph, *next++);
  }
  Array out{"out", {static_cast<int>(outline.results.size())}, {}};
  for (const int node : outline.results) out.entries.emplace_back(graph, node);
  outline.function = std::make_shared<const Function>(outline.name, outline.graph, in, std::vector<Array>{out});
  return outline.function;
}

/// Nodes that affect `roots`: unlike `reachable`, of a call only those arguments that the wanted result depends on.
std::vector<char> needed_nodes(const Graph& graph, const std::vector<int>& roots) {
  std::vector<char> needed(graph.size(), 0);
  for (const int root : roots) needed[root] = 1;
  std::unordered_map<const Outline*, std::vector<char>> inside;
  for (int i = graph.size() - 1; i >= 0; --i) {
    if (!needed[i]) continue;
    const Node& node = graph.node(i);
    const int operands[3] = {node.a, node.b, node.c};
    if (node.op != Op::result) {
      for (int k = 0; k < arity(node.op); ++k) needed[operands[k]] = 1;
      continue;
    }
    const Call& call = graph.calls()[node.a];
    const auto [entry, is_new] = inside.try_emplace(call.outline.get());
    if (is_new) entry->second = function_of(*call.outline)->dependence();
    for (std::size_t j = 0; j < call.arguments.size(); ++j)
      if (entry->second[node.b * call.arguments.size() + j]) needed[call.arguments[j]] = 1;
  }
  return needed;
}

/// Refuses symbols that are not arguments, unless no result depends on them.
void check_symbols(const std::string& name, const Graph& graph, const std::vector<int>& roots,
                   const std::vector<int>& symbols) {
  if (symbols.empty()) return;
  const std::vector<char> needed = needed_nodes(graph, roots);
  for (const int i : symbols)
    if (needed[i])
      throw std::invalid_argument(name + " depends on the symbol " + graph.symbol_name(i) + ", which is none of its arguments");
}

}  // namespace

Function::Function(std::string name, const std::shared_ptr<Graph>& graph, const std::vector<Array>& arguments,
                   const std::vector<Array>& results)
    : name_(std::move(name)), arguments_(make_ports(arguments)), results_(make_ports(results)) {
  std::vector<int> value(graph->size(), -1), roots;
  for (const Array& array : arguments)
    for (const Expression& x : array.entries) {
      if (!x.is(Op::symbol) || x.graph != graph.get())
        throw std::invalid_argument("argument '" + array.name + "' of " + name_ + " must consist of symbols of the recording");
      if (value[x.node] >= 0)
        throw std::invalid_argument("symbol " + graph->symbol_name(static_cast<int>(x.node)) +
                                    " appears twice among the arguments of " + name_);
      value[x.node] = argument_size_++;
    }
  for (const Array& array : results)
    for (const Expression& x : array.entries) roots.push_back(node_in(*graph, x));
  value.resize(graph->size(), -1);
  const std::vector<char> needed = reachable(*graph, roots);
  std::vector<int> operations, free_symbols;
  for (int i = 0; i < graph->size(); ++i) {
    if (!needed[i] || value[i] >= 0) continue;
    const Node& node = graph->node(i);
    if (node.op == Op::symbol) free_symbols.push_back(i);
    if (node.op == Op::symbol || node.op == Op::constant) {
      value[i] = argument_size_ + static_cast<int>(constants_.size());
      constants_.push_back(node.op == Op::symbol ? 0.0 : node.value);
    } else {
      operations.push_back(i);
    }
  }
  check_symbols(name_, *graph, roots, free_symbols);
  std::unordered_map<int, int> call_index;
  std::unordered_map<const Outline*, int> body_index;
  for (const int i : operations) {
    const Node& node = graph->node(i);
    Instruction instruction{node.op, -1, -1, -1};
    if (node.op == Op::result) {
      const auto [entry, is_new] = call_index.try_emplace(node.a, static_cast<int>(calls_.size()));
      if (is_new) {
        const Call& call = graph->calls()[node.a];
        const auto [body, new_body] = body_index.try_emplace(call.outline.get(), static_cast<int>(bodies_.size()));
        if (new_body) bodies_.push_back(function_of(*call.outline));
        calls_.push_back({body->second, {}});
        for (const int argument : call.arguments) calls_.back().arguments.push_back(value[argument]);
      }
      instruction.a = entry->second;
      instruction.b = node.b;
    } else {
      const int operands[3] = {node.a, node.b, node.c};
      int* const own[3] = {&instruction.a, &instruction.b, &instruction.c};
      for (int k = 0; k < arity(node.op); ++k) *own[k] = value[operands[k]];
    }
    value[i] = first_instruction() + static_cast<int>(instructions_.size());
    instructions_.push_back(instruction);
  }
  for (const int root : roots) result_values_.push_back(value[root]);
}

int Function::depth() const {
  std::vector<int> depths(first_instruction() + instructions_.size(), 0);
  const auto deepest = [&](const std::vector<int>& values) {
    int most = 0;
    for (const int v : values) most = std::max(most, depths[v]);
    return most;
  };
  for (std::size_t k = 0; k < instructions_.size(); ++k) {
    const Instruction& i = instructions_[k];
    int& own = depths[first_instruction() + k];
    if (i.op == Op::result) {
      own = deepest(calls_[i.a].arguments) + bodies_[calls_[i.a].body]->depth();
      continue;
    }
    const int operands[3] = {i.a, i.b, i.c};
    for (int o = 0; o < arity(i.op); ++o) own = std::max(own, depths[operands[o]]);
    ++own;
  }
  return deepest(result_values_);
}

namespace {

using Bits = std::vector<std::uint64_t>;

void unite(Bits& into, const Bits& from) {
  for (std::size_t w = 0; w < into.size(); ++w) into[w] |= from[w];
}

}  // namespace

std::vector<char> Function::dependence() const {
  const std::size_t words = (argument_size_ + 63) / 64;
  std::vector<Bits> bits(first_instruction() + instructions_.size(), Bits(words, 0));
  for (int j = 0; j < argument_size_; ++j) bits[j][j / 64] |= std::uint64_t{1} << (j % 64);
  std::vector<std::vector<char>> inside;
  for (const auto& body : bodies_) inside.push_back(body->dependence());
  for (std::size_t k = 0; k < instructions_.size(); ++k) {
    const Instruction& i = instructions_[k];
    Bits& own = bits[first_instruction() + k];
    if (i.op == Op::result) {
      const FunctionCall& call = calls_[i.a];
      const std::size_t width = call.arguments.size();
      for (std::size_t j = 0; j < width; ++j)
        if (inside[call.body][i.b * width + j]) unite(own, bits[call.arguments[j]]);
      continue;
    }
    const int operands[3] = {i.a, i.b, i.c};
    for (int o = 0; o < arity(i.op); ++o) unite(own, bits[operands[o]]);
  }
  std::vector<char> result(result_values_.size() * argument_size_, 0);
  for (std::size_t r = 0; r < result_values_.size(); ++r)
    for (int j = 0; j < argument_size_; ++j)
      result[r * argument_size_ + j] = bits[result_values_[r]][j / 64] >> (j % 64) & 1;
  return result;
}

namespace {

Expression replay(Op op, const Expression* operands) {
  if (op == Op::select) return select(operands[0], operands[1], operands[2]);
  return arity(op) == 1 ? record(op, operands[0]) : record(op, operands[0], operands[1]);
}

}  // namespace

std::vector<Expression> Function::operator()(const std::vector<Expression>& arguments) const {
  if (static_cast<int>(arguments.size()) != argument_size_)
    throw std::invalid_argument(name_ + " takes " + std::to_string(argument_size_) + " scalars, got " +
                                std::to_string(arguments.size()));
  std::vector<Expression> values(arguments);
  values.insert(values.end(), constants_.begin(), constants_.end());
  std::vector<std::vector<Expression>> called(calls_.size());
  for (const Instruction& i : instructions_) {
    if (i.op == Op::result) {
      std::vector<Expression>& results = called[i.a];
      if (results.empty()) {
        std::vector<Expression> in;
        for (const int v : calls_[i.a].arguments) in.push_back(values[v]);
        results = (*bodies_[calls_[i.a].body])(in);
      }
      values.push_back(results[i.b]);
      continue;
    }
    const int indices[3] = {i.a, i.b, i.c};
    Expression operands[3];
    for (int o = 0; o < arity(i.op); ++o) operands[o] = values[indices[o]];
    values.push_back(replay(i.op, operands));
  }
  std::vector<Expression> results;
  for (const int v : result_values_) results.push_back(values[v]);
  return results;
}

}  // namespace thunder
