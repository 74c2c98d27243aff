// Filters for recorded signals: over the whole record forwards and backwards, which cancels their phase.
#pragma once

#include <Eigen/Dense>

namespace thunder {

/// Second-order sections, a row (b0, b1, b2, 1, a1, a2) for each.
using FilterSections = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor>;
/// A row for each instant, a column for each signal.
using SignalRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Butterworth low-pass of an order, by the bilinear rule with the cutoff held; `cutoff` relative to the sampling
/// frequency, below a half. Each section has the gain one at frequency zero.
FilterSections butterworth(int order, double cutoff);

/// Filters forwards and backwards. The signals go on at both ends by `padding` instants, fewer than there are, turned by
/// half a turn about the end, and the filter starts as if the first value had been there forever.
SignalRows zero_phase(const Eigen::Ref<const SignalRows>& signals, const FilterSections& sections, int padding);

}  // namespace thunder
