#include "thunder/realtime/state_gate.hpp"

#include <cmath>

#include "thunder/math/dense.hpp"

namespace thunder::realtime {

namespace {

constexpr double kLargestState = 1e4;  // norm of a state of an arm [rad, m, and per second]

/// Of `RateCheck`: shortest window, which is also the longest time between two states [s]; least states in it; difference that
/// is allowed [rad or m], and part of the way; windows in a row.
constexpr double kWindow = 0.2, kAway = 0.02, kAwayOfWay = 0.5;
constexpr int kLeastStates = 4, kDiffering = 2;

/// These indicate a broken sensor or driver.
bool invalid(Dropped why) noexcept { return why <= Dropped::no_stamp; }

}  // namespace

bool RateCheck::agrees(double t, const double* q, const double* dq) noexcept {
  const Eigen::Map<const Eigen::VectorXd> position(q, start_.size()), velocity(dq, start_.size());
  const double step = t - last_;
  if (states_ > 0 && step < kWindow) {
    way_ += 0.5 * step * (last_dq_ + velocity);
    ++states_;
  } else {
    states_ = 0;
  }
  last_ = t;
  last_dq_ = velocity;
  const bool over = states_ > kLeastStates && t - begun_ > kWindow;
  if (over) {
    moved_ = position - start_;
    const auto farther = moved_.array().abs().max(way_.array().abs());
    differing_ = ((moved_ - way_).array().abs() > kAway + kAwayOfWay * farther).any() ? differing_ + 1 : 0;
  }
  if (!over && states_ > 0) return true;
  start_ = position;
  way_.setZero();
  begun_ = t;
  states_ = 1;
  return differing_ < kDiffering;
}

void RateCheck::archive(StateArchive& state) {
  state(start_, way_, last_dq_, begun_, last_);
  for (int* number : {&states_, &differing_}) state.bounded(*number, 0.0, 2e9);
}

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
