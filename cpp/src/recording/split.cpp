#include "thunder/recording/split.hpp"

#include <map>

namespace thunder {

namespace {

constexpr std::size_t kCallWeight = 25;

std::size_t weight(const Instruction& i) {
  if (i.op != Op::result) return 1;
  return i.b == 0 ? kCallWeight : 0;
}

/// Replays instructions of a function into a graph, as they stand.
class Replay {
 public:
  using Outlines = std::map<const Function*, std::shared_ptr<const Outline>>;

  Replay(const Function& f, Graph& graph, Outlines& outlines)
      : node(f.first_instruction() + f.instructions().size(), -1), f_(f), graph_(graph), outlines_(outlines) {}

  std::vector<int> node;  // by value

  int of(int value) {
    if (node[value] < 0 && f_.is_constant(value)) node[value] = graph_.constant(f_.constant(value));
    return node[value];
  }

  void run(int value) {
    const Instruction& i = f_.instruction(value);
    if (i.op != Op::result) {
      const int n = arity(i.op);
      node[value] = graph_.intern(i.op, of(i.a), n > 1 ? of(i.b) : -1, n > 2 ? of(i.c) : -1);
      return;
    }
    const FunctionCall& call = f_.calls()[i.a];
    std::vector<int> arguments;
    for (const int v : call.arguments) arguments.push_back(of(v));
    node[value] = graph_.call(outline_of(f_.bodies()[call.body]), arguments)[i.b];
  }

 private:
  std::shared_ptr<const Outline> outline_of(const std::shared_ptr<const Function>& body) {
    std::shared_ptr<const Outline>& known = outlines_[body.get()];
    if (known) return known;
    auto outline = std::make_shared<Outline>();
    outline->function = body;
    outline->results.resize(body->result_size());
    return known = outline;
  }

  const Function& f_;
  Graph& graph_;
  Outlines& outlines_;
};

/// Values side by side: an argument, all sines, all cosines, or what a part gives to others.
using Group = std::vector<int>;

class Splitter {
 public:
  Splitter(const Function& f, std::size_t part) : f_(f), graph_(std::make_shared<Graph>()), top_(f, *graph_, outlines_) {
    first_ = f.first_instruction();
    count_ = first_ + static_cast<int>(f.instructions().size());
    choose_parts(part);
    find_crossings();
  }

  std::shared_ptr<const Function> run() {
    make_arguments();
    for (const int v : sines_) top_.run(v);
    for (const int v : cosines_) top_.run(v);
    add_group(sines_);
    add_group(cosines_);
    for (int part = 0; part < parts_; ++part) call_part(part);
    std::vector<Array> results;
    for (const Port& port : f_.results()) {
      results.push_back({port.name, port.shape, {}});
      for (int k = 0; k < port.size; ++k)
        results.back().entries.emplace_back(graph_.get(), top_.of(f_.result_values()[port.first + k]));
    }
    return std::make_shared<const Function>(f_.name(), graph_, arguments_, results);
  }

 private:
  bool is_angle(const Instruction& i) const { return (i.op == Op::sin || i.op == Op::cos) && f_.is_argument(i.a); }

  /// Part of every instruction, -1 of sines and cosines of arguments.
  void choose_parts(std::size_t size) {
    part_.assign(count_, -1);
    std::map<int, int> sine, cosine;  // by angle
    std::size_t filled = 0, call_part = 0;
    std::vector<int> part_of_call(f_.calls().size(), -1);
    for (int v = first_; v < count_; ++v) {
      const Instruction& i = f_.instruction(v);
      if (is_angle(i)) {
        (i.op == Op::sin ? sine : cosine)[i.a] = v;
        continue;
      }
      filled += weight(i);
      if (filled > size) {
        filled = weight(i);
        ++call_part;
      }
      part_[v] = static_cast<int>(call_part);
      if (i.op == Op::result) {  // all results of a call belong where it is made
        int& own = part_of_call[i.a];
        if (own < 0) own = part_[v];
        part_[v] = own;
      }
    }
    parts_ = static_cast<int>(call_part) + 1;
    for (const auto& [angle, v] : sine) sines_.push_back(v);
    for (const auto& [angle, v] : cosine) cosines_.push_back(v);
  }

  template <class F>
  void each_operand(int v, F&& visit) const {
    const Instruction& i = f_.instruction(v);
    if (i.op == Op::result) {
      for (const int a : f_.calls()[i.a].arguments) visit(a);
      return;
    }
    const int operands[3] = {i.a, i.b, i.c};
    for (int k = 0; k < arity(i.op); ++k) visit(operands[k]);
  }

  void find_crossings() {
    std::vector<char> crosses(count_, 0);
    for (int v = first_; v < count_; ++v)
      each_operand(v, [&](int a) {
        if (a >= first_ && part_[a] >= 0 && part_[a] != part_[v]) crosses[a] = 1;
      });
    for (const int v : f_.result_values())
      if (v >= first_ && part_[v] >= 0) crosses[v] = 1;
    given_.resize(parts_);
    for (int v = first_; v < count_; ++v)
      if (crosses[v]) given_[part_[v]].push_back(v);
  }

  void make_arguments() {
    for (const Port& port : f_.arguments()) {
      Group group;
      arguments_.push_back({port.name, port.shape, {}});
      for (int k = 0; k < port.size; ++k) {
        const int v = port.first + k;
        top_.node[v] = graph_->symbol(port.name);
        arguments_.back().entries.emplace_back(graph_.get(), top_.node[v]);
        group.push_back(v);
      }
      add_group(group);
    }
  }

  void add_group(const Group& group) {
    if (group.empty()) return;
    for (const int v : group) group_of_[v] = static_cast<int>(groups_.size());
    groups_.push_back(group);
  }

  void call_part(int part) {
    std::vector<char> used(groups_.size(), 0);
    const auto note = [&](int a) {
      const auto found = group_of_.find(a);
      if (found != group_of_.end()) used[found->second] = 1;
    };
    for (int v = first_; v < count_; ++v)
      if (part_[v] == part) each_operand(v, note);
    auto outline = std::make_shared<Outline>();
    outline->name = f_.name();
    outline->graph = std::make_shared<Graph>();
    Replay replay(f_, *outline->graph, outlines_);
    std::vector<int> arguments;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!used[g]) continue;
      outline->group_sizes.push_back(static_cast<int>(groups_[g].size()));
      for (const int v : groups_[g]) {
        outline->arguments.push_back(replay.node[v] = outline->graph->symbol("x"));
        arguments.push_back(top_.of(v));
      }
    }
    for (int v = first_; v < count_; ++v)
      if (part_[v] == part) replay.run(v);
    for (const int v : given_[part]) outline->results.push_back(replay.of(v));
    if (given_[part].empty()) return;
    const std::vector<int> results = graph_->call(outline, arguments);
    for (std::size_t k = 0; k < results.size(); ++k) top_.node[given_[part][k]] = results[k];
    add_group(given_[part]);
  }

  const Function& f_;
  std::shared_ptr<Graph> graph_;
  Replay::Outlines outlines_;
  Replay top_;
  int first_ = 0, count_ = 0, parts_ = 0;
  std::vector<int> part_;  // by value
  Group sines_, cosines_;
  std::vector<Group> given_;  // by part: values that others need
  std::vector<Group> groups_;
  std::map<int, int> group_of_;
  std::vector<Array> arguments_;
};

}  // namespace

std::size_t compile_weight(const Function& function) {
  std::size_t sum = 0;
  for (const Instruction& i : function.instructions()) sum += weight(i);
  return sum;
}

std::shared_ptr<const Function> split(const std::shared_ptr<const Function>& function, std::size_t part) {
  return Splitter(*function, part).run();
}

}  // namespace thunder
