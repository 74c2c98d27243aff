// Quantiles of durations in constant memory.
#pragma once

#include <array>
#include <cstdint>

#include "../math/state_archive.hpp"

namespace thunder::realtime {

/// Histogram on a logarithmic scale, sixteen bins per octave from 0.1 us to 13 s: quantiles at most 4.5 % too large, the
/// largest duration exact. Shorter and longer ones count in the outermost bins.
class Quantiles {
 public:
  /// NaN and infinity are ignored, negative durations count as zero.
  void add(double seconds) noexcept;
  std::int64_t count() const noexcept { return count_; }
  double worst() const noexcept { return worst_; }
  double mean() const noexcept { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0.0; }
  /// For a probability from 0 to 1; 0 without any duration.
  double quantile(double probability) const noexcept;
  void reset() noexcept { *this = Quantiles(); }
  void archive(StateArchive& state);

 private:
  static constexpr int kPerOctave = 16, kOctaves = 27;
  static constexpr double kSmallest = 1e-7;

  std::array<std::int64_t, kPerOctave * kOctaves> bins_{};
  std::int64_t count_ = 0;
  double worst_ = 0.0, sum_ = 0.0;
};

}  // namespace thunder::realtime
