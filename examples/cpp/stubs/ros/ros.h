// The part of roscpp that the example uses. Not ROS, and not derived from it.
#pragma once

#include <cstdint>

namespace ros {

class Duration {
 public:
  explicit Duration(double seconds = 0.0) : seconds_(seconds) {}
  double toSec() const noexcept { return seconds_; }

 private:
  double seconds_;
};

class Time {
 public:
  explicit Time(std::uint64_t nanoseconds = 0) : nanoseconds_(nanoseconds) {}
  std::uint64_t toNSec() const noexcept { return nanoseconds_; }

 private:
  std::uint64_t nanoseconds_;
};

class NodeHandle {};

}  // namespace ros
