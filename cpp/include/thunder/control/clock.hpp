// Time between control steps, for integration in controllers.
#pragma once

#include <algorithm>
#include <limits>

#include "../math/state_archive.hpp"

namespace thunder {

class StepClock {
 public:
  /// Longest time counted for one step: after a longer pause, earlier measurements are outdated.
  static constexpr double kLongestGap = 0.1;

  /// Seconds since the last call, 0 at the first one and where time runs backwards, `kLongestGap` at most.
  double advance(double t) noexcept {
    const double dt = t - last_;
    last_ = t;
    return dt > 0.0 ? std::min(dt, kLongestGap) : 0.0;  // NaN at the first call
  }
  /// False before the first call and after a pause of `kLongestGap`.
  bool recent(double t) const noexcept { return t - last_ < kLongestGap; }
  void reset() noexcept { last_ = std::numeric_limits<double>::quiet_NaN(); }
  void archive(StateArchive& state) { state(last_); }

 private:
  double last_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace thunder
