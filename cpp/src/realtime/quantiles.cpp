#include "thunder/realtime/quantiles.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/realtime/stamps.hpp"

namespace thunder::realtime {

void Quantiles::add(double duration) noexcept {
  constexpr double kLargest = 1e300;
  if (!(duration > -kLargest && duration < kLargest)) return;
  const int last = static_cast<int>(bins_.size()) - 1;
  const double bin = duration > kSmallest ? kPerOctave * std::log2(duration / kSmallest) : 0.0;
  ++bins_[static_cast<std::size_t>(std::min(static_cast<int>(bin), last))];
  ++count_;
  sum_ += std::max(duration, 0.0);
  worst_ = std::max(worst_, duration);
}

double Quantiles::quantile(double probability) const noexcept {
  const double wanted = probability * static_cast<double>(count_);
  std::int64_t seen = 0;
  for (std::size_t k = 0; k < bins_.size(); ++k) {
    seen += bins_[k];
    if (bins_[k] > 0 && static_cast<double>(seen) >= wanted)
      return std::min(kSmallest * std::exp2(static_cast<double>(k + 1) / kPerOctave), worst_);
  }
  return 0.0;
}

void Quantiles::archive(StateArchive& state) {
  for (std::int64_t& bin : bins_) archive_count(state, bin);
  archive_count(state, count_);
  state(worst_, sum_);
}

}  // namespace thunder::realtime
