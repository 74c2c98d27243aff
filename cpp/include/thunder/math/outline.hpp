// Pieces of a kernel that repeat from joint to joint. A recording may keep such a piece as a function of its own, called
// for every joint, so that the code of long arms stays small; every other scalar just runs it.
#pragma once

#include "linear.hpp"

namespace thunder {

/// Specialized in recording/outliner.hpp.
template <class S>
struct Outliner {
  static constexpr bool records = false;
  THUNDER_INLINE static constexpr bool wanted(const S&) { return false; }  // is `x` recorded with outlines?
  THUNDER_INLINE static constexpr bool uniform(const S&) { return false; }  // with those that are alike for every joint?
};

/// f(arguments...), aggregates of S that `each` goes through. `name` must identify all else that f depends on.
template <class S, class F, class... A>
THUNDER_INLINE auto outlined([[maybe_unused]] const char* name, F&& f, const A&... arguments) {
  if constexpr (Outliner<S>::records)
    return Outliner<S>::call(name, f, arguments...);
  else
    return f(arguments...);
}

/// The same for a piece that is to be one function for every joint: arguments that are 0 or 1 stay arguments, and all results
/// come from it.
template <class S, class F, class... A>
THUNDER_INLINE auto uniform([[maybe_unused]] const char* name, F&& f, const A&... arguments) {
  if constexpr (Outliner<S>::records)
    return Outliner<S>::call_uniform(name, f, arguments...);
  else
    return f(arguments...);
}

}  // namespace thunder
