// Estimators of derivatives as Python holds them.
#pragma once

#include <memory>

#include "thunder/estimation/derivative_filters.hpp"
#include "thunder/threads/exclusive.hpp"

namespace thunder::python {

/// A filter, which never changes, and its state once the first sample has said how wide it is.
struct Estimation final : Exclusive {
  std::unique_ptr<DerivativeEstimator> filter, state;
};

}  // namespace thunder::python
