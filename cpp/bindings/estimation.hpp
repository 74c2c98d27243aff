// Estimators of derivatives as Python holds them.
#pragma once

#include <memory>

#include "thunder/estimation/derivative_filters.hpp"
#include "thunder/threads/exclusive.hpp"

namespace thunder::python {

/// An immutable filter and its state, whose width the first sample sets.
struct Estimation final : Exclusive {
  std::unique_ptr<DerivativeEstimator> filter, state;

  void archive(StateArchive& numbers) {
    bool started = state != nullptr;
    numbers(started);
    if (numbers.reading()) state.reset();
    if (!started) return;
    std::size_t width = state ? static_cast<std::size_t>(state->width()) : 0;
    width = numbers.count(width, numbers_per_joint());
    if (!state) state = filter->new_state(static_cast<int>(width));
    numbers(state);
  }

 private:
  std::size_t numbers_per_joint() const {
    StateArchive one, two;
    filter->new_state(1)->archive(one);
    filter->new_state(2)->archive(two);
    return two.values().size() - one.values().size();
  }
};

}  // namespace thunder::python
