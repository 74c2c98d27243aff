// Records a marked piece of a kernel once, with symbols for its arguments, and a call at every use.
//
// Pieces are distinguished by name and by which arguments are 0, 1 or -1: those are folded into the body, so that the zeros of
// the table go on dropping terms. Uniform pieces take everything as it comes, and are one function for all joints.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "../math/dual.hpp"
#include "../math/outline.hpp"
#include "expression.hpp"

namespace thunder {

template <class F>
void leaves(Expression& x, F&& f) {
  f(x);
}
template <class S, class F>
void leaves(Dual<S>& x, F&& f) {
  leaves(x.a, f);
  leaves(x.b, f);
}
/// Every recorded scalar of an aggregate.
template <class T, class F>
void leaves(T& aggregate, F&& f) {
  each(aggregate, [&](auto& scalar) { leaves(scalar, f); });
}

/// One call site: the arguments flattened, those of the body, and the results.
class OutlineCall {
 public:
  OutlineCall(const char* name, bool uniform) : key_(name), uniform_(uniform) {}

  void add_argument(const std::vector<Expression>& entries);
  /// True if a recording uses outlines.
  bool wanted() const { return graph_ != nullptr && (uniform_ ? graph_->uniform : graph_->outlining); }
  bool known() const { return graph_->outlines.count(key_) != 0; }
  /// Arguments for the body: fresh symbols, constants where they are folded.
  std::vector<Expression> body_arguments();
  void define(const std::vector<Expression>& results);
  std::vector<Expression> results() const;

 private:
  bool is_folded(const Expression& x) const { return !uniform_ && (x.is(0.0) || x.is(1.0) || x.is(-1.0)); }

  std::string key_;
  bool uniform_;
  Graph* graph_ = nullptr;
  std::vector<Expression> entries_, body_entries_;
  std::vector<int> group_sizes_;  // symbols of each argument
  std::shared_ptr<Graph> body_graph_;
};

struct RecordingOutliner {
  static constexpr bool records = true;

  template <class S>
  static bool wanted(S x) {
    bool any = false;
    leaves(x, [&](const Expression& e) { any = any || (e.graph != nullptr && e.graph->outlining); });
    return any;
  }
  template <class S>
  static bool uniform(S x) {
    bool any = false;
    leaves(x, [&](const Expression& e) { any = any || (e.graph != nullptr && e.graph->uniform); });
    return any;
  }

  /// Is anything of it no number?
  template <class T>
  static bool symbolic(T value) {
    bool any = false;
    leaves(value, [&](const Expression& x) { any = any || x.graph != nullptr; });
    return any;
  }
  /// Is x this number?
  static bool is(const Expression& x, double number) { return x.is(number); }

  template <class F, class... A>
  static auto call(const char* name, F&& f, const A&... arguments) {
    return made(OutlineCall(name, false), f, arguments...);
  }
  template <class F, class... A>
  static auto call_uniform(const char* name, F&& f, const A&... arguments) {
    return made(OutlineCall(name, true), f, arguments...);
  }

 private:
  template <class F, class... A>
  static auto made(OutlineCall site, F&& f, const A&... arguments) {
    (site.add_argument(entries_of(arguments)), ...);
    if (!site.wanted()) return f(arguments...);
    using R = decltype(f(arguments...));
    if (!site.known()) {
      std::size_t next = 0;
      const std::vector<Expression> entries = site.body_arguments();
      const std::tuple<A...> symbols{filled(arguments, entries, next)...};  // in this order
      site.define(entries_of(std::apply(f, symbols)));
    }
    R result;
    std::size_t next = 0;
    const std::vector<Expression> values = site.results();
    leaves(result, [&](Expression& x) { x = values.at(next++); });
    return result;
  }

  template <class T>
  static std::vector<Expression> entries_of(T value) {
    std::vector<Expression> entries;
    leaves(value, [&](Expression& x) { entries.push_back(x); });
    return entries;
  }
  template <class T>
  static T filled(T value, const std::vector<Expression>& entries, std::size_t& next) {
    leaves(value, [&](Expression& x) { x = entries[next++]; });
    return value;
  }
};

template <>
struct Outliner<Expression> : RecordingOutliner {};
template <class S>
struct Outliner<Dual<S>> : Outliner<S> {};

}  // namespace thunder
