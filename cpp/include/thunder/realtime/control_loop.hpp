// The control loop: limits, controller and reference, observer, hold and brake, one command for every state. Whoever has the time
// and the states drives it: messages of a middleware, a thread with a drive, a loop in Python.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "../control/adaptive_model.hpp"
#include "../control/controller.hpp"
#include "../estimation/external_observer.hpp"
#include "../kinematics/frame_motion.hpp"
#include "command.hpp"
#include "joint_follower.hpp"
#include "quantiles.hpp"
#include "safe_torque.hpp"
#include "safety.hpp"
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

/// A measured state. Arrays need not live longer than the call.
struct MeasuredState {
  std::int64_t stamp = 0, now = 0;  // of the measurement, and of its reception [ns]
  const double *q = nullptr, *dq = nullptr;
  Motors motors{};                  // of elastic joints, where they are measured
  const double* gravity = nullptr;  // torque that the drive adds to every command; null where it adds none
};

/// Outcome of a run so far.
struct RunReport {
  Reason reason = Reason::none;  // for the present or past stop
  bool at_once = false;          // the drive is stopped without braking
  bool at_rest = false;          // the arm was at rest in the end
  double t = 0.0;                // time of the last state since the first one [s]
  std::int64_t cycles = 0, missed = 0, worst_missed = 0;
};

/// Stamps and `now` are nanoseconds of one clock. Methods that are noexcept do not allocate either, so that a real-time thread
/// can call them; references and laws are made by others, handed over, and given back to be freed. One thread at a time.
///
/// The states of the loop and what leads from one to another are in docs/architecture.md. A loop of a node goes on after what
/// ends a reference, and after a fault by `reset`. Before the first reference is tracked nothing is a fault: programs and
/// networks start in any order, and the loop waits for states. A run on a drive ends with the first reason to stop: the arm is
/// braked to rest, for 2 s at most, or the drive is stopped at once. No fault is recovered from.
class ControlLoop final : public Exclusive {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    MotionLimits motion;                                // n, of references in joint space
    Eigen::VectorXd joining_speed;                      // n
    Frame<double> frame{};                              // of poses
    TaskLimits task;
    double state_late = 0.02, state_lost = 0.25;        // [s]
    double reference_timeout = 0.2, patience = 0.5;     // [s]
    double largest_error = std::numeric_limits<double>::infinity();
    int invalid_states = 50;                            // in a row
    int most_holds = 5;                                 // within 10 s, for want of a solution or at a limit
    bool recover = false;                               // from lost states
    bool run = false;                                   // a reason to stop ends in `stopped`
    double watchdog = std::numeric_limits<double>::infinity();  // of the drive of a run [s]
    double duration = std::numeric_limits<double>::infinity();  // of a run, from the first state to the stop [s]
    int most_missed = 10;                                       // cycles of a run in a row without a valid state
  };

  /// The parts are this loop's alone; the law's torque limits are set to those of `safety`. `safety` and `brake` are of the arm
  /// with its payload. Without a law, torques come by `finish`; `known` may be the law that they are of, or null.
  ControlLoop(std::shared_ptr<Safety> safety, std::shared_ptr<SafeTorque> brake, std::shared_ptr<Controller> law,
              Settings settings, std::shared_ptr<ExternalObserver> observer = nullptr,
              std::shared_ptr<Controller> known = nullptr);

  int n() const noexcept { return n_; }
  bool task() const noexcept { return task_; }
  /// Marks all parts but the law as in use by this thread; throws `ConcurrentUse` where another one uses them.
  std::vector<Exclusive::Use> use() const;

  // --- states

  /// Answers a state; null, and counted, where it is dropped or the run has ended.
  const Command* state(const MeasuredState& state, Clock::time_point begun = Clock::now()) noexcept;
  /// The same in two steps, for a torque from elsewhere: true where it is wanted. `answers` tells whether `finish` is to be called.
  bool begin(const MeasuredState& state) noexcept;
  bool answers() const noexcept { return answers_; }
  /// `tau` is null where no torque was wanted, or none came.
  const Command* finish(const double* tau, Status status, Clock::time_point begun = Clock::now()) noexcept;
  /// Counts a message that is no state.
  void refuse(std::int64_t stamp, std::int64_t now, Dropped why) noexcept;
  /// There was no new state where one was due, in a run.
  void miss() noexcept;
  /// To be called regularly in a node: a command if states are late, gravity at the last position; null after `state_lost`.
  const Command* watch(std::int64_t now) noexcept;

  // --- stops of a run

  /// Any thread may ask for a stop: the arm is braked. A second one of `interrupted` stops the drive at once.
  void request(Reason reason) noexcept;
  /// Stops a run, by the thread that drives it. Only an expected reason is replaced by a later one.
  void stop(Reason why, bool at_once = false) noexcept;
  /// The drive is to be stopped now.
  bool ended() const noexcept { return mode_ == Mode::stopped; }
  const RunReport& report() const noexcept { return report_; }
  /// The torque that the law, or the brake, demanded last.
  const Eigen::VectorXd& demand() const noexcept { return demand_; }

  // --- references, by the loop's clock

  /// True once there was a state since the last reset or loss of the clock: stamps have a time then.
  bool has_clock() const noexcept { return has_origin_; }
  /// Stamp of time 0 of the loop's clock.
  std::int64_t origin() const noexcept { return origin_; }
  /// A stamp on the loop's clock [s].
  double time_of(std::int64_t stamp) const noexcept { return seconds(in_range(stamp) - origin_); }
  /// Time of the last state [s], its positions and velocities; zero before the first one.
  double t() const noexcept { return t_; }
  const Eigen::VectorXd& q() const noexcept { return q_; }
  const Eigen::VectorXd& dq() const noexcept { return dq_; }
  /// Follows a motion from the next state on; gives back those that are no longer needed. In a fault, that one.
  std::unique_ptr<JointMotion> follow(std::unique_ptr<JointMotion> motion) noexcept;
  /// Follows a source of poses in place of a stream; the one before is given back. Null for none. A fault, or a pose that is
  /// not valid, ends it.
  void exchange(std::shared_ptr<TaskReferenceSource>& source) noexcept;
  Refusal take_pose(double t, const double* position, const double* quaternion) noexcept;
  Refusal take_twist(double t, const double* linear, const double* angular) noexcept;

  /// Gives the reference up: the arm is held.
  void cancel() noexcept;
  /// What the law followed at the last state; null unless it tracked in that space.
  const JointReference* joint_reference() const noexcept;
  const TaskReference* task_reference() const noexcept;

  // --- requests

  /// States, references, faults and counts; not the law's state and the observer's torque, which continues.
  void reset() noexcept;
  /// A law to be exchanged for the present one, within the loop's torque limits. Throws std::invalid_argument unless it is of
  /// the same kind and robot. Any thread may call it.
  LoopLaw make_law(std::shared_ptr<Controller> law) const;
  /// Exchanges the law for one of `make_law`, which goes on with the estimate if `continues`.
  void exchange(LoopLaw& law, bool continues) noexcept;
  /// Of a loop that has one.
  const LoopLaw& law() const noexcept { return *law_; }

  // --- results

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
  void look_at_clock(std::int64_t now) noexcept;
  void read_clock(std::int64_t stamp, std::int64_t now) noexcept;
  void count_missed(double gap) noexcept;
  void look_at_invalid() noexcept;
  void look_at_requests(Reason found) noexcept;
  bool track() noexcept;
  void look_at_law(const double* tau, Status status) noexcept;
  const TaskReference* pose_reference() noexcept;
  const double* load() noexcept;
  void limit(std::int64_t now) noexcept;
  void settle() noexcept;
  void hold(Reason why) noexcept;
  void fault(Reason why) noexcept;
  void lose_states(Reason why) noexcept;
  void pause() noexcept;
  void drop(Reason why) noexcept;
  void rejoin(Reason why) noexcept;
  const Command* command(std::int64_t stamp) noexcept;

  std::shared_ptr<Safety> safety_;
  std::shared_ptr<SafeTorque> brake_;
  std::optional<LoopLaw> law_;
  std::shared_ptr<Controller> known_;
  Settings settings_;
  std::shared_ptr<ExternalObserver> observer_;
  std::shared_ptr<TaskReferenceSource> source_;
  bool follows_source_ = false;
  TaskReference wanted_;  // by the source
  // of every law: `make_law` must not look at one that is being exchanged
  const int n_, e_;
  const int parameters_;
  const bool task_;
  const Eigen::MatrixXd axes_;
  Evaluator dynamics_, held_;  // of the law's model, and of the brake's
  FrameMotion frame_;
  StateGate gate_;
  RateCheck rates_;
  JointFollower joints_;
  TaskFollower poses_;
  Quantiles period_, latency_, computing_;
  Command command_;
  RunReport report_;
  std::atomic<Reason> requested_{Reason::none};
  std::atomic<bool> at_once_{false};
  Mode mode_ = Mode::starting;
  Reason reason_ = Reason::no_state;
  bool has_origin_ = false, has_received_ = false, has_tau_ = false, carries_ = false, clipped_ = false, answers_ = false;
  bool tracked_ = false;   // since the last reset
  bool stopping_ = false;  // a run
  Status status_ = Status::ok;
  int without_state_ = 0, holds_ = 0;
  std::int64_t stamp_ = 0, now_ = 0, origin_ = 0, received_ = 0, begun_ = 0;
  double t_ = 0.0, resumed_ = 0.0, answered_ = 0.0, held_at_ = 0.0, in_vain_at_ = -1.0, stopped_at_ = 0.0, moved_at_ = 0.0;
  Eigen::VectorXd q_, dq_, x_, dx_, gravity_, tau_, demand_, load_, nan_, unused_;  // tau_: on the joints
  Motors motors_;
  const double* added_ = nullptr;  // gravity_, where the drive adds it
  const JointReference still_;
};

}  // namespace thunder::realtime
