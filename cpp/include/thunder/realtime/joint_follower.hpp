// Reference of a joint-space controller: successive motions, joined without jumps.
#pragma once

#include <memory>

#include "../kinematics/reference.hpp"
#include "command.hpp"
#include "stamps.hpp"

namespace thunder::realtime {

/// A motion on the loop's clock: `source` from start to end, then at rest at `last.q`; without a source a single point. Made
/// outside the loop, which neither makes nor frees any.
struct JointMotion {
  JointMotion(double from, double to, std::shared_ptr<JointReferenceSource> by, JointReference at_start, JointReference at_end);
  /// A source from its time `from` on, which never ends.
  JointMotion(double from, std::shared_ptr<JointReferenceSource> by);

  /// True if it ends at rest.
  bool rests() const noexcept;
  /// Before the start, with the acceleration there.
  void at(double t, JointReference& reference) const noexcept;
  /// To be called before `at` with times that do not go back, of a motion that is followed.
  void advance(double t) noexcept;

  double start, end;
  std::shared_ptr<JointReferenceSource> source;
  JointReference first, last;
  std::unique_ptr<JointMotion> next;  // others that are given back with it
};

/// Quintics in all joints from a reference to zero at rest: continuous up to acceleration.
class JointQuintic {
 public:
  explicit JointQuintic(int n) : coefficients_(Eigen::Matrix<double, 6, Eigen::Dynamic>::Zero(6, n)) {}
  void set(double start, double duration, const JointReference& from) noexcept;
  double end() const noexcept { return end_; }
  /// Adds its values to the reference's first three, until its end.
  void add_to(double t, JointReference& reference) const noexcept;
  void archive(StateArchive& state) { state(start_, end_, coefficients_); }

 private:
  double start_ = 0.0, end_ = 0.0;
  Eigen::Matrix<double, 6, Eigen::Dynamic> coefficients_;  // ascending powers
};

struct MotionLimits {
  Eigen::VectorXd lower, upper, velocity;  // n entries, infinite for none
};

/// Follows the newest motion: what differs from it, which is the reference until then or the measured state without one,
/// fades. If the motion begins in the future, it fades until then; the motion is extrapolated backwards. One that ends at rest
/// is held at its end; the reference is lost at the end of one that does not.
class JointFollower {
 public:
  /// `speed`, n positive entries: that with which a jump is removed [rad/s or m/s].
  JointFollower(int n, MotionLimits limits, Eigen::VectorXd speed);

  /// Follows this motion from the next state on, in place of one that has not begun. Returns what is no longer needed.
  std::unique_ptr<JointMotion> follow(std::unique_ptr<JointMotion> motion) noexcept;
  /// Does not follow it, and returns it with what is no longer needed.
  std::unique_ptr<JointMotion> refuse(std::unique_ptr<JointMotion> motion) noexcept;
  /// Drops the reference.
  void drop(Reason why) noexcept;
  /// Continues from the measured state, because the arm did not follow the reference.
  void rejoin() noexcept { has_last_ = false; }
  /// Continues with the reference after states that were late, as near to the arm as a controller needs it: from the measured
  /// state, each interruption would begin to fade its own difference from rest, and many would lead away from the motion.
  void interrupt() noexcept { interrupted_ = true; }
  /// The reference at time t of an arm at q, dq, or null; `why` has the reason. Never throws, never allocates.
  const JointReference* at(double t, const double* q, const double* dq) noexcept;

  /// What `at` returned last, unless the reference was dropped or is to be joined again.
  const JointReference* last() const noexcept { return has_last_ && !interrupted_ ? &last_ : nullptr; }
  Reason why() const noexcept { return why_; }
  /// Number of motions that could not be joined within the limits.
  std::int64_t refused() const noexcept { return refused_; }
  void reset() noexcept;
  void archive(StateArchive& state);

 private:
  struct Fade {
    JointQuintic place, rates;  // of positions, which takes longer, and of velocities and accelerations
  };

  void begin(std::unique_ptr<JointMotion> motion, double t, const double* q, const double* dq) noexcept;
  void measure(const double* q, const double* dq) noexcept;
  bool continues(const JointMotion& motion, double t) noexcept;
  void resume(double t, const double* q, const double* dq) noexcept;
  bool join(const JointMotion& motion, double t, bool keeps) noexcept;
  bool fits(const JointMotion& motion, double t, const Fade& fade, bool leads) noexcept;
  void reference_at(double t, JointReference& reference) const noexcept;
  void retire(std::unique_ptr<JointMotion> motion) noexcept;

  MotionLimits limits_;
  Eigen::VectorXd speed_;
  std::unique_ptr<JointMotion> pending_, motion_, retired_;
  Fade fade_, next_;
  bool fades_ = false, has_last_ = false, interrupted_ = false;
  JointReference last_, was_, sample_;  // was_: the reference, or the arm, before a motion
  JointReference place_gap_, rates_gap_;
  Reason why_ = Reason::no_reference;
  std::int64_t refused_ = 0;
};

}  // namespace thunder::realtime
