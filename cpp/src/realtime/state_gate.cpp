#include "thunder/realtime/state_gate.hpp"

#include <cmath>

#include "thunder/math/dense.hpp"

namespace thunder::realtime {

namespace {

constexpr double kLargestState = 1e4;  // norm of a state of an arm [rad, m, and per second]

/// These indicate a broken sensor or driver.
bool invalid(Dropped why) noexcept { return why <= Dropped::no_stamp; }

}  // namespace

StateGate::StateGate(double oldest) : oldest_(std::llround(1e9 * oldest)) {}

void StateGate::reset() noexcept {
  last_stamp_ = taken_ = 0;
  in_a_row_ = 0;
  dropped_.fill(0);
}

bool StateGate::take(std::int64_t stamp, std::int64_t now, std::initializer_list<Span> numbers) noexcept {
  if (const auto why = untimely(stamp, now)) {
    count(*why);
    return false;
  }
  double squares = 0.0;
  for (const Span& part : numbers)
    for (int i = 0; i < part.size; ++i) squares += part.data[i] * part.data[i];
  if (squares < kLargestState * kLargestState) {
    last_stamp_ = stamp;
    ++taken_;
    in_a_row_ = 0;
    return true;
  }
  bool finite = true;
  for (const Span& part : numbers) finite = finite && all_finite(part.data, static_cast<std::size_t>(part.size));
  count(finite ? Dropped::too_large : Dropped::not_finite);
  return false;
}

void StateGate::refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept {
  count(untimely(stamp, now).value_or(why));
}

std::optional<Dropped> StateGate::untimely(std::int64_t stamp, std::int64_t now) const noexcept {
  if (stamp <= 0) return Dropped::no_stamp;
  if (last_stamp_ > 0 && stamp <= last_stamp_) return stamp == last_stamp_ ? Dropped::repeated : Dropped::reordered;
  const std::int64_t age = in_range(now) - in_range(stamp);
  if (age > oldest_) return Dropped::late;
  if (-age > oldest_) return Dropped::future;
  return std::nullopt;
}

void StateGate::count(Dropped why) noexcept {
  why_ = why;
  ++dropped_[static_cast<std::size_t>(why)];
  if (invalid(why)) ++in_a_row_;
}

void StateGate::archive(StateArchive& state) {
  archive_count(state, last_stamp_);
  archive_count(state, taken_);
  state.bounded(in_a_row_, 0.0, 2e9);
  for (std::int64_t& number : dropped_) archive_count(state, number);
}

}  // namespace thunder::realtime
