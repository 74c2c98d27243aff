// Reference of a joint-space controller: successive motions, joined without jumps.
#pragma once

#include <memory>
#include <vector>

#include "../kinematics/reference.hpp"
#include "command.hpp"
#include "stamps.hpp"

namespace thunder::realtime {

/// A motion on the loop's clock. Made outside the loop, which neither makes nor frees any.
class JointMotion {
 public:
  /// `source` from start to end, by the loop's clock; then at rest at `last.q`. Without one, a single point.
  JointMotion(double start, double end, std::shared_ptr<JointReferenceSource> source, JointReference first,
              JointReference last);
  /// A source from its time `start` on, which never ends unless `end` is finite.
  JointMotion(double start, double end, std::shared_ptr<JointReferenceSource> source);

  /// A trajectory of polynomials as numbers, for `archive`; without breaks a single point.
  struct Parts {
    explicit Parts(int joints) : n(joints), first(joints), last(joints) {}
    int n;
    double start = 0.0, end = 0.0;
    std::vector<double> breaks, coefficients;  // see PiecewisePolynomial
    JointReference first, last;
  };
  explicit JointMotion(Parts parts);
  /// Alone, without `next`.
  JointMotion(const JointMotion& other);
  JointMotion& operator=(const JointMotion&) = delete;
  /// Throws std::invalid_argument where the source is another one.
  Parts parts() const;

  double start() const noexcept { return start_; }
  double end() const noexcept { return end_; }
  const JointReference& first() const noexcept { return first_; }
  /// True if it ends at rest.
  bool rests() const noexcept { return rests_; }
  /// Before the start, with the acceleration there.
  void at(double t, JointReference& reference) const noexcept;
  /// To be called before `at` with times that do not go back, of a motion that is followed.
  void advance(double t) noexcept;

  /// Others that are given back with it.
  std::unique_ptr<JointMotion> next;

 private:
  double start_, end_;
  std::shared_ptr<JointReferenceSource> source_;
  JointReference first_, last_;
  bool rests_;
};

/// Quintics in all joints between two references: continuous up to acceleration.
class JointQuintic {
 public:
  explicit JointQuintic(int n) : coefficients_(Eigen::Matrix<double, 6, Eigen::Dynamic>::Zero(6, n)) {}
  void set(double start, double duration, const JointReference& from, const JointReference& to) noexcept;
  double start() const noexcept { return start_; }
  double end() const noexcept { return end_; }
  /// Adds its values to the reference's first three.
  void add_to(double t, JointReference& reference) const noexcept;
  void archive(StateArchive& state) { state(start_, end_, coefficients_); }

 private:
  double start_ = 0.0, end_ = 0.0;
  Eigen::Matrix<double, 6, Eigen::Dynamic> coefficients_;  // ascending powers
};

struct MotionLimits {
  Eigen::VectorXd lower, upper, velocity;  // n entries, infinite for none
};

/// Follows the newest motion. If it begins in the future, a quintic leads there from the reference, or from the measured
/// state without one; if it has begun or is about to, the difference fades. One that ends at rest is held at its end; the reference is lost
/// at the end of one that does not.
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

  int n() const noexcept { return static_cast<int>(speed_.size()); }
  /// What `at` returned last, unless the reference was dropped or is to be joined again.
  const JointReference* last() const noexcept { return has_last_ && !interrupted_ ? &last_ : nullptr; }
  Reason why() const noexcept { return why_; }
  /// Number of motions that could not be joined within the limits.
  std::int64_t refused() const noexcept { return refused_; }
  void reset() noexcept;
  void archive(StateArchive& state);

 private:
  void begin(std::unique_ptr<JointMotion> motion, double t, const double* q, const double* dq) noexcept;
  void measure(const double* q, const double* dq) noexcept;
  bool continues(const JointMotion& motion, double t) noexcept;
  void resume(double t, const double* q, const double* dq) noexcept;
  bool join(const JointMotion& motion, bool led, double t, bool keeps) noexcept;
  bool fits(const JointMotion& motion, bool led, double t, const JointQuintic& place, const JointQuintic& rates) noexcept;
  bool lead_fits() noexcept;
  void evaluate(const JointMotion& motion, bool led, double t, JointReference& reference) const noexcept;
  void reference_at(double t, JointReference& reference) const noexcept;
  static void add_fading(const JointQuintic& place, const JointQuintic& rates, double t, JointReference& reference) noexcept;
  void retire(std::unique_ptr<JointMotion> motion) noexcept;

  MotionLimits limits_;
  Eigen::VectorXd speed_;
  std::unique_ptr<JointMotion> pending_, motion_, retired_;
  JointQuintic lead_, place_, rates_, next_lead_, next_place_, next_rates_;
  bool leads_ = false, fades_ = false, has_last_ = false, interrupted_ = false;
  JointReference last_, was_, sample_;       // was_: the reference, or the arm, before a motion
  JointReference place_gap_, rates_gap_;
  const JointReference zero_;
  Reason why_ = Reason::no_reference;
  std::int64_t refused_ = 0;
};

}  // namespace thunder::realtime
