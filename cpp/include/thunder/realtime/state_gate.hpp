// Which measured states a loop answers: those that are new, of its time, and an arm's.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "command.hpp"
#include "stamps.hpp"

namespace thunder::realtime {

/// Why a state was dropped.
enum class Dropped : int { names, size, not_finite, too_large, no_stamp, repeated, reordered, late, future };
inline constexpr int kDropped = 9;

/// Whether measured velocities are those of the measured positions. In windows of 0.2 s, or some periods, the way of each joint
/// is compared with the integral of its velocity. Noise, rounding, filters and a position that begins anew after a turn stay
/// below what is allowed; velocities that are stuck, reversed or in other units do not, once the arm moves.
class RateCheck {
 public:
  explicit RateCheck(int n) : start_(n), way_(n), moved_(n), last_dq_(n) {}
  /// Looks at the next state; false after two windows in a row in which they differ.
  bool agrees(double t, const double* q, const double* dq) noexcept;
  /// Begins anew with the next state.
  void reset() noexcept { states_ = differing_ = 0; }
  void archive(StateArchive& state);

 private:
  Eigen::VectorXd start_, way_, moved_, last_dq_;
  double begun_ = 0.0, last_ = 0.0;
  int states_ = 0, differing_ = 0;
};

class StateGate {
 public:
  /// `oldest`: largest age of a state [s], and largest time by which it is ahead.
  explicit StateGate(double oldest);

  /// Accepts a state of these positions and velocities; false, and counted, where it is dropped. `now`: when it was received.
  bool take(std::int64_t stamp, std::int64_t now, std::initializer_list<Span> numbers) noexcept;
  /// Counts a message that is no state, unless its stamp is a reason before that.
  void refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept;
  /// Accepts a state of any time next, because the clock was set back.
  void begin_anew() noexcept { last_stamp_ = 0; }
  void reset() noexcept;

  std::int64_t taken() const noexcept { return taken_; }
  std::int64_t dropped(Dropped why) const noexcept { return dropped_[static_cast<std::size_t>(why)]; }
  /// Reason of the last one that was dropped.
  Dropped why() const noexcept { return why_; }
  /// Number of states since the last accepted one that a broken sensor or driver explains, not the network.
  int invalid_in_a_row() const noexcept { return in_a_row_; }
  /// Stamp of the last accepted state; 0 before any.
  std::int64_t last_stamp() const noexcept { return last_stamp_; }
  void archive(StateArchive& state);

 private:
  std::optional<Dropped> untimely(std::int64_t stamp, std::int64_t now) const noexcept;
  void count(Dropped why) noexcept;

  std::int64_t oldest_, last_stamp_ = 0, taken_ = 0;
  int in_a_row_ = 0;
  Dropped why_ = Dropped::names;
  std::array<std::int64_t, kDropped> dropped_{};
};

}  // namespace thunder::realtime
