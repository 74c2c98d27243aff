#include "thunder/recording/outliner.hpp"

#include <algorithm>

namespace thunder {

namespace {

/// Index of a node among the results; their number if it is not a result.
std::size_t position(const Outline& outline, const Expression& x) {
  const auto found = std::find(outline.results.begin(), outline.results.end(), static_cast<int>(x.node));
  return static_cast<std::size_t>(found - outline.results.begin());
}

}  // namespace

void OutlineCall::add_argument(const std::vector<Expression>& entries) {
  int symbols = 0;
  key_ += '/';
  for (const Expression& x : entries) {
    if (x.graph != nullptr) graph_ = x.graph;
    entries_.push_back(x);
    key_ += !is_folded(x) ? 'x' : x.is(0.0) ? '0' : x.is(1.0) ? '1' : '-';
    symbols += !is_folded(x);
  }
  group_sizes_.push_back(symbols);
}

std::vector<Expression> OutlineCall::body_arguments() {
  body_graph_ = std::make_shared<Graph>();
  for (const Expression& x : entries_)
    body_entries_.push_back(is_folded(x) ? x : Expression(body_graph_.get(), body_graph_->symbol("x")));
  return body_entries_;
}

void OutlineCall::define(const std::vector<Expression>& results) {
  auto outline = std::make_shared<Outline>();
  outline->name = key_.substr(0, key_.find('/'));
  outline->graph = body_graph_;
  outline->group_sizes = group_sizes_;
  for (const Expression& x : body_entries_)
    if (x.graph != nullptr) outline->arguments.push_back(static_cast<int>(x.node));
  outline->entries = results;
  outline->uniform = uniform_;
  if (uniform_)
    for (const Expression& x : results) outline->results.push_back(node_in(*body_graph_, x));
  else
    for (const Expression& x : results)
      if (!x.is_constant() && !x.is(Op::symbol) && position(*outline, x) == outline->results.size())
        outline->results.push_back(static_cast<int>(x.node));
  graph_->outlines.emplace(key_, std::move(outline));
}

/// Constants and arguments that pass through are unchanged by the call; the rest are results of the call.
std::vector<Expression> OutlineCall::results() const {
  const auto outline = graph_->outlines.at(key_);
  std::vector<int> arguments;
  std::vector<Expression> passed(outline->graph->size());
  for (const Expression& x : entries_) {
    if (is_folded(x)) continue;
    passed[outline->arguments[arguments.size()]] = x;
    arguments.push_back(node_in(*graph_, x));
  }
  std::vector<int> computed;
  if (!outline->results.empty()) computed = graph_->call(outline, arguments);
  std::vector<Expression> results;
  if (outline->uniform) {
    for (const int node : computed) results.emplace_back(graph_, node);
    return results;
  }
  for (const Expression& x : outline->entries) {
    if (x.is_constant())
      results.push_back(x);
    else if (x.is(Op::symbol))
      results.push_back(passed[x.node]);
    else
      results.emplace_back(graph_, computed[position(*outline, x)]);
  }
  return results;
}

}  // namespace thunder
