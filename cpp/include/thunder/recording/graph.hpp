// The operations recorded so far, each distinct one once: a node is found again by its operation and operands.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "operation.hpp"

namespace thunder {

struct Node {
  Op op;
  int a = -1, b = -1, c = -1;  // operands, by index; of a result: call and position; of a symbol: its number
  double value = 0.0;          // of a constant
};

class Graph;
class Function;
struct Expression;

/// A piece of a computation recorded once, with symbols for its arguments, and called from several places.
struct Outline {
  std::string name;
  std::shared_ptr<Graph> graph;
  std::vector<int> arguments;       // symbols of `graph`
  std::vector<int> group_sizes;     // how many of them belong to each aggregate that is passed
  std::vector<int> results;         // nodes of `graph`
  std::vector<Expression> entries;  // of what the piece returns: those results, arguments and constants
  bool uniform = false;             // all entries are results
  mutable std::shared_ptr<const Function> function;  // of arguments and results, made when it is first needed
};

struct Call {
  std::shared_ptr<const Outline> outline;
  std::vector<int> arguments;  // nodes of the calling graph
};

class Graph {
 public:
  int symbol(const std::string& name);
  int constant(double value);
  /// The node of op(a, b, c) without simplification; algebra is in expression.hpp.
  int intern(Op op, int a, int b = -1, int c = -1);
  /// The node of op(a, b, c) if it was recorded, else -1.
  int find(Op op, int a, int b = -1, int c = -1) const;
  /// Nodes of the results of a call.
  std::vector<int> call(const std::shared_ptr<const Outline>& outline, const std::vector<int>& arguments);

  const Node& node(int index) const { return nodes_[index]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const std::string& symbol_name(int node) const { return symbol_names_[nodes_[node].a]; }
  const std::vector<Call>& calls() const { return calls_; }

  /// While set, kernels record the pieces they mark as calls of outlines, kept here by key: `uniform`, those that are the same
  /// function for every joint; `outlining`, the others.
  bool outlining = false, uniform = false;
  std::unordered_map<std::string, std::shared_ptr<const Outline>> outlines;

 private:
  struct Key {
    std::uint64_t first, second;
    bool operator==(const Key& o) const { return first == o.first && second == o.second; }
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t h = k.first * 0x9E3779B97F4A7C15ull ^ k.second;
      h ^= h >> 32;
      return h * 0xD6E8FEB86659FD93ull;
    }
  };
  static Key key(Op op, int a, int b, int c);

  std::vector<Node> nodes_;
  std::vector<std::string> symbol_names_;
  std::unordered_map<Key, int, Hash> index_;
  std::vector<Call> calls_;
  std::unordered_map<std::string, int> call_index_;
};

}  // namespace thunder
