// The clock of loops, and waiting for an instant of it.
#pragma once

#include <time.h>

#include <cstdint>

namespace thunder::realtime {

inline std::int64_t monotonic_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

/// Returns at `instant` [ns] or later, at once where it has passed.
inline void sleep_until(std::int64_t instant) noexcept {
  const timespec time{static_cast<time_t>(instant / 1'000'000'000), static_cast<long>(instant % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

}  // namespace thunder::realtime
