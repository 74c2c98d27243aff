// Estimators of derivatives as Python holds them.
#pragma once

#include <memory>

#include "thunder/estimation/derivative_filters.hpp"

namespace thunder::python {

/// A filter, and its state once the first sample has said how wide it is.
struct Estimation {
  std::unique_ptr<DerivativeEstimator> filter, state;
};

}  // namespace thunder::python
