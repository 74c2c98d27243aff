// A controller driven by messages: one command for every state, and the safe torque without a reference.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>

#include "../control/adaptive_model.hpp"
#include "../control/controller.hpp"
#include "../estimation/external_observer.hpp"
#include "../kinematics/frame_motion.hpp"
#include "command.hpp"
#include "joint_follower.hpp"
#include "quantiles.hpp"
#include "safe_torque.hpp"
#include "state_gate.hpp"
#include "task_follower.hpp"

namespace thunder::realtime {

/// A controller as a loop uses it; made outside the loop. Throws std::invalid_argument for a law that no loop can drive.
class LoopLaw {
 public:
  explicit LoopLaw(std::shared_ptr<Controller> law);
  Controller& controller() const noexcept { return *law_; }
  const std::shared_ptr<Controller>& shared() const noexcept { return law_; }
  /// True if it follows poses.
  bool task() const noexcept { return task_ != nullptr; }
  Span error() const noexcept { return error_; }
  Span parameters() const noexcept { return parameters_; }
  /// Null for a law without an estimate.
  AdaptiveModel* adaptive() const noexcept { return adaptive_; }
  /// Goes on with the estimate of another one.
  void continue_from(const LoopLaw& before) noexcept;

 private:
  friend class ControlLoop;
  std::shared_ptr<Controller> law_;
  JointController* joint_;
  TaskController* task_;
  AdaptiveModel* adaptive_;  // or null
  Span error_, parameters_;
};

/// Axes of all joints in the world where all positions are zero, (6, n): twists of unit speed at the origin, linear rows first.
/// They do not depend on the frames of a description, on loads and on tools.
Eigen::MatrixXd joint_axes(std::shared_ptr<const Model> model);
/// Whether two arms have the same joints, up to some centimeters and a few degrees: a calibrated one has those of the nominal one.
bool same_joints(const Eigen::MatrixXd& one, const Eigen::MatrixXd& other);

/// Stamps and `now` are nanoseconds of one clock. Methods that are noexcept do not allocate either, so that a real-time thread
/// can call them; references and laws are made by others, handed over, and given back to be freed. One thread at a time.
///
/// States that were lost, and a clock that was set back, are faults (Mode::fault) unless the loop is to `recover`: the safe
/// torque is commanded once states are back, and references are refused until `reset`. Before the first reference is tracked
/// nothing is a fault: programs and networks start in any order, and the loop waits for states.
class ControlLoop final : public Exclusive {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    Eigen::VectorXd torque_limits, torque_rate;         // n, positive; infinite for none [N m, N m/s]
    double hold_rate = 150.0;                           // of the safe torque, see `braking_rate` [1/s]
    MotionLimits motion;                                // n, of references in joint space
    Eigen::VectorXd joining_speed;                      // n
    Frame<double> frame;                                // of poses
    TaskLimits task;
    double state_late = 0.02, state_lost = 0.25;        // [s]
    double reference_timeout = 0.2, patience = 0.5;     // [s]
    double largest_error = std::numeric_limits<double>::infinity();
    int invalid_states = 50;                            // in a row
    bool recover = false;
  };

  /// The law is this loop's alone; its torque limits are set. `observer` may be null.
  ControlLoop(std::shared_ptr<Controller> law, Settings settings, std::shared_ptr<ExternalObserver> observer = nullptr);

  int n() const noexcept { return n_; }
  bool task() const noexcept { return task_; }

  // --- states

  /// Answers a state; null, and counted, where it is dropped. x and dx are those of the motors of elastic joints, or null.
  const Command* state(std::int64_t stamp, std::int64_t now, const double* q, const double* dq, const double* x = nullptr,
                       const double* dx = nullptr, Clock::time_point begun = Clock::now()) noexcept;
  /// Counts a message that is no state.
  void refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept;
  /// To be called regularly: a command if states are late, gravity at the last position; null after `state_lost`.
  const Command* watch(std::int64_t now) noexcept;

  // --- references, by the loop's clock

  /// True once there was a state since the last reset or loss of the clock: stamps have a time then.
  bool has_clock() const noexcept { return has_origin_; }
  /// Stamp of time 0 of the loop's clock.
  std::int64_t origin() const noexcept { return origin_; }
  /// A stamp on the loop's clock [s].
  double time_of(std::int64_t stamp) const noexcept;
  /// Time of the last state [s], and its positions; zero before the first one.
  double t() const noexcept { return t_; }
  const Eigen::VectorXd& q() const noexcept { return q_; }
  /// Follows a motion from the next state on; gives back those that are no longer needed. In a fault, that one.
  std::unique_ptr<JointMotion> follow(std::unique_ptr<JointMotion> motion) noexcept;
  /// Follows a source of poses in place of a stream; the one before is given back. Null for none. A fault, or a pose that is
  /// not valid, ends it.
  void exchange(std::shared_ptr<TaskReferenceSource>& source) noexcept;
  Refusal take_pose(double t, const double* position, const double* quaternion) noexcept;
  Refusal take_twist(double t, const double* linear, const double* angular) noexcept;

  /// Gives the reference up: the arm is held.
  void cancel() noexcept;
  /// What the law followed at the last state; null unless it tracked in joint space.
  const JointReference* joint_reference() const noexcept;

  // --- requests

  /// States, references, faults and counts; not the law's state and the observer's torque, which continues.
  void reset() noexcept;
  /// A law to be exchanged for the present one, within the loop's torque limits. Throws std::invalid_argument unless it is of
  /// the same kind and robot. Any thread may call it.
  LoopLaw make_law(std::shared_ptr<Controller> law) const;
  /// Exchanges the law for one of `make_law`, which goes on with the estimate if `continues`.
  void exchange(LoopLaw& law, bool continues) noexcept;
  const LoopLaw& law() const noexcept { return law_; }
  /// Axes of the law's robot, see `joint_axes`.
  const Eigen::MatrixXd& axes() const noexcept { return axes_; }

  // --- results

  /// Gravity that the estimate of an adaptive law knows beyond a model, n values; null until it has held the arm, and once it
  /// has diverged.
  const double* load(const double* q, Evaluator& known) noexcept;
  Mode mode() const noexcept { return mode_; }
  Reason reason() const noexcept { return reason_; }
  bool contact() const noexcept;
  const StateGate& gate() const noexcept { return gate_; }
  const Quantiles& period() const noexcept { return period_; }
  const Quantiles& latency() const noexcept { return latency_; }
  const Quantiles& computing() const noexcept { return computing_; }
  /// Number of motions that could not be joined within the limits.
  std::int64_t motions_refused() const noexcept { return joints_.refused(); }
  /// Without the law and the observer.
  void archive(StateArchive& state);

 private:
  struct State {
    const double *q, *dq;
    Motors motors;
  };

  void look_at_clock(std::int64_t now) noexcept;
  double read_clock(std::int64_t stamp, std::int64_t now) noexcept;
  const Command* look_at_invalid() noexcept;
  void lose_states(Reason why) noexcept;
  void answer(const State& state) noexcept;
  bool track(const State& state) noexcept;
  bool look_at_status(Status status) noexcept;
  const TaskReference* pose_reference(const State& state) noexcept;
  void limit_rate(std::int64_t now) noexcept;
  void leave_tracking(Reason why) noexcept;
  void fault(Reason why) noexcept;
  void pause() noexcept;
  void drop(Reason why) noexcept;
  void rejoin(Reason why) noexcept;
  const Command* command(std::int64_t stamp) noexcept;

  LoopLaw law_;
  Settings settings_;
  std::shared_ptr<ExternalObserver> observer_;
  std::shared_ptr<TaskReferenceSource> source_;
  bool follows_source_ = false;
  TaskReference wanted_;  // by the source
  const bool task_;
  // of every law: `make_law` must not look at one that is being exchanged
  const int n_, e_, parameters_;
  const Eigen::MatrixXd axes_;
  Evaluator dynamics_;
  FrameMotion frame_;
  SafeTorque safe_;
  StateGate gate_;
  JointFollower joints_;
  TaskFollower poses_;
  Quantiles period_, latency_, computing_;
  Command command_;
  Mode mode_ = Mode::waiting;
  Reason reason_ = Reason::no_state;
  bool has_origin_ = false, has_received_ = false, has_tau_ = false, bounded_rate_ = false, carries_ = false;
  bool tracked_ = false;  // since the last reset
  std::int64_t origin_ = 0, received_ = 0, given_ = 0;
  double t_ = 0.0, resumed_ = 0.0, answered_ = 0.0;
  Eigen::VectorXd q_, tau_, nan_, unused_, load_, most_, change_, zero_;  // tau_: the last command
  const JointReference still_;
};

}  // namespace thunder::realtime
