#include "thunder/recording/graph.hpp"

#include <cstring>

namespace thunder {

Graph::Key Graph::key(Op op, int a, int b, int c) {
  const auto low = [](int x) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)); };
  return {low(a) << 32 | low(b), static_cast<std::uint64_t>(op) << 32 | low(c)};
}

int Graph::symbol(const std::string& name) {
  nodes_.push_back({Op::symbol, static_cast<int>(symbol_names_.size())});
  symbol_names_.push_back(name);
  return size() - 1;
}

int Graph::constant(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto [entry, is_new] = index_.try_emplace(Key{bits, 0}, size());
  if (is_new) {
    nodes_.push_back({Op::constant});
    nodes_.back().value = value;
  }
  return entry->second;
}

int Graph::intern(Op op, int a, int b, int c) {
  const auto [entry, is_new] = index_.try_emplace(key(op, a, b, c), size());
  if (is_new) nodes_.push_back({op, a, b, c});
  return entry->second;
}

int Graph::find(Op op, int a, int b, int c) const {
  const auto found = index_.find(key(op, a, b, c));
  return found == index_.end() ? -1 : found->second;
}

std::vector<int> Graph::call(const std::shared_ptr<const Outline>& outline, const std::vector<int>& arguments) {
  std::string text(reinterpret_cast<const char*>(arguments.data()), arguments.size() * sizeof(int));
  const Outline* address = outline.get();
  text.append(reinterpret_cast<const char*>(&address), sizeof address);
  const auto [entry, is_new] = call_index_.try_emplace(std::move(text), static_cast<int>(calls_.size()));
  if (is_new) calls_.push_back({outline, arguments});
  std::vector<int> results;
  for (std::size_t k = 0; k < outline->results.size(); ++k)
    results.push_back(intern(Op::result, entry->second, static_cast<int>(k)));
  return results;
}

}  // namespace thunder
