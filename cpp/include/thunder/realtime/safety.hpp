// Limits of position, velocity, torque, torque rate, workspace and contact, independent of controllers and drives.
#pragma once

#include <Eigen/Dense>
#include <limits>
#include <memory>
#include <vector>

#include "../control/brake.hpp"
#include "../estimation/external_observer.hpp"
#include "../kernels/evaluator.hpp"
#include "../planning/obstacles/clearance.hpp"
#include "../threads/exclusive.hpp"
#include "command.hpp"

namespace thunder::realtime {

/// Vectors have an entry for each joint, infinite for no limit.
struct SafetyLimits {
  Eigen::VectorXd lower, upper, velocity, torque, torque_rate;
  Eigen::VectorXd torque_step;  // between two commands, whatever the time between them
  ObstacleSet obstacles{};      // from which the origins of all links and the end effector keep `clearance`
  double clearance = 0.0;       // [m]
  double lookahead = 0.05;      // for which the velocity is extrapolated at least, however short the stop is [s]
  double patience = 0.25;       // with torques beyond the limits, to which they are clipped [s]
  double period = 1e-3;         // between two states [s]
};

/// Checks states and limits commands; keeps the first violation. NaN violates every limit. Never throws, never allocates.
/// Positions and distances are checked along the stop that `Brake` would need from now on, see `BrakingPath`, with 90 % of the
/// torque limits, after three periods, so that a brake that begins at the first violation ends within the limits.
class Safety : public Exclusive {
 public:
  /// Part of the torque limits that a stop is predicted with: the rest is for what the model does not know.
  static constexpr double kTrusted = 0.9;
  /// Before the brake acts: a period for the command, and two for what the law does until the next state. In one period it
  /// adds at most as much speed as the brake removes in one.
  static constexpr int kReactionPeriods = 3;

  /// The observer may be null, else has a detector. Throws std::invalid_argument where sizes do not fit.
  Safety(std::shared_ptr<const Model> model, SafetyLimits limits, std::shared_ptr<ExternalObserver> observer = nullptr);

  int n() const noexcept { return dynamics_.n(); }
  const SafetyLimits& limits() const noexcept { return limits_; }
  const std::shared_ptr<ExternalObserver>& observer() const noexcept { return observer_; }
  /// The first violation since `reset`, or none.
  Reason reason() const noexcept { return reason_; }
  void set_reason(Reason reason) noexcept { reason_ = reason; }
  /// Looks at a state at time t and returns the kept violation.
  Reason check(double t, const double* q, const double* dq) noexcept;
  /// The same for a torque that is to be applied, in a loop that goes on after a violation: without the extrapolation, the
  /// contact and the memory. The velocity after three periods counts, too. Of positions the stop alone is looked at, where the
  /// arm could come near a limit: a joint that was beyond one at the last `allow` may return, and go no further.
  Reason guard(double t, const double* q, const double* dq, const double* tau) noexcept;
  void allow(const double* q) noexcept;
  /// The command for a torque on the joints, of which the drive adds the part `gravity` (null: none): within the limits of
  /// torque and rate whatever was demanded. The last command where the torque is null or not finite, which is a violation;
  /// a demand beyond the limits for longer than the patience is one too, as is one that was `clipped` before. The torques of
  /// a brake change `together`, all by the same part of what they should: single joints would bend its straight line.
  const Eigen::VectorXd& limit(double t, const double* tau, const double* gravity, bool clipped = false,
                               bool together = false) noexcept;
  /// The last command, from which the next one may differ by the torque rate.
  void begin(const Eigen::VectorXd& command) noexcept;
  /// Goes on with another clock.
  void restart_clock() noexcept;
  /// Forgets the violation; the last command is zero.
  void reset() noexcept;
  void archive(StateArchive& state);

 private:
  Reason violated(Reason reason) noexcept;
  Reason check_velocities(const double* dq) const noexcept;
  Reason check_acceleration(double t, const double* q, const double* dq, const double* tau) noexcept;
  void look_ahead(const double* q, const double* dq) noexcept;
  bool within(const double* q, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) const noexcept;
  Reason check_stop(const double* q, const double* dq, const double* tau, const Eigen::VectorXd& lower,
                    const Eigen::VectorXd& upper) noexcept;
  bool near_obstacle(const double* q) noexcept;
  bool touched(double t, const double* q, const double* dq) noexcept;
  void watch(double t, Reason reason, double& within, bool beyond) noexcept;

  Evaluator dynamics_;
  SafetyLimits limits_;
  BrakingPath stop_;
  std::shared_ptr<ExternalObserver> observer_;
  std::vector<Frame<double>> frames_;
  std::vector<Pose<double>> poses_;
  Reason reason_ = Reason::none;
  Eigen::VectorXd ahead_, lower_, upper_, target_, most_, change_, zero_, command_, tau_;  // tau_: on the joints, with what the drive adds
  Eigen::VectorXd response_, asked_, ddq_;  // of `check_acceleration`: of all postures, and torque and outcome of the last time
  double asked_at_ = -std::numeric_limits<double>::infinity();  // that time [s]
  double limited_at_, torque_within_, rate_within_;  // times of the last limit, and of the last ones within; NaN before any
};

}  // namespace thunder::realtime
