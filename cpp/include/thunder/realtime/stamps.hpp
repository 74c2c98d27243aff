// Stamps: integer nanoseconds of one clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../math/state_archive.hpp"

namespace thunder::realtime {

/// Within 73 years of zero, so that no difference of stamps overflows.
inline std::int64_t in_range(std::int64_t stamp) noexcept {
  constexpr std::int64_t kLargest = std::int64_t{1} << 61;
  return std::clamp(stamp, -kLargest, kLargest);
}

inline double seconds(std::int64_t nanoseconds) noexcept { return 1e-9 * static_cast<double>(nanoseconds); }

/// In two parts, as one double would round it.
inline void archive_count(StateArchive& state, std::int64_t& value) {
  constexpr std::int64_t kPart = std::int64_t{1} << 32;
  std::int64_t low = value & (kPart - 1), high = (value - low) / kPart;
  state.bounded(high, -static_cast<double>(kPart / 2), static_cast<double>(kPart / 2 - 1));
  state.bounded(low, 0.0, static_cast<double>(kPart - 1));
  value = high * kPart + low;
}

}  // namespace thunder::realtime
