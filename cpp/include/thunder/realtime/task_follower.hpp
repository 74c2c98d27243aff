// Reference of a task-space controller: a stream of poses and twists, followed with bounded speed.
#pragma once

#include "../kinematics/reference.hpp"
#include "../math/state_archive.hpp"
#include "command.hpp"

namespace thunder::realtime {

/// Largest speeds [m/s, rad/s] and accelerations of the followed pose, and bandwidth of the approach [rad/s].
struct TaskLimits {
  double speed = 0.5, turning = 1.0, acceleration = 5.0, angular_acceleration = 10.0, bandwidth = 25.0;
};

/// Why a pose or twist was refused.
enum class Refusal : int { none, reordered, not_finite, no_rotation, too_large, fault };

/// The reference is the state of a virtual rigid body. It approaches the goal, which is the last pose moved on by the last
/// twist, with damping, bounded speed and acceleration, and continuous acceleration. A twist without poses moves the goal.
/// The stream is lost after a time without both. A source that is asked at every state is followed with its acceleration, and so
/// with a lag of fractions of a millimeter in slow motions. Never throws, never allocates.
class TaskFollower {
 public:
  TaskFollower(const TaskLimits& limits, double timeout) : limits_(limits), timeout_(timeout) {}

  /// A pose of time t; quaternion x, y, z, w.
  Refusal take_pose(double t, const double* position, const double* quaternion) noexcept;
  Refusal take_twist(double t, const double* linear, const double* angular) noexcept;
  /// Pose, twist and acceleration of time t by a source that is asked at every state; false where they are not valid.
  bool take(double t, const TaskReference& wanted) noexcept;
  void drop(Reason why) noexcept;
  void rejoin() noexcept { joined_ = false; }
  /// False, with a reason, where the stream is lost.
  bool present(double t) noexcept;
  /// True if `start` must be called before `at`.
  bool joins() const noexcept { return !joined_; }
  void start(double t, const Eigen::Vector3d& p, const Eigen::Matrix3d& R, const Vector6d& xi) noexcept;
  /// The reference at time t of a stream that is present.
  const TaskReference& at(double t) noexcept;

  /// What `at` returned last.
  const TaskReference& last() const noexcept { return reference_; }
  Reason why() const noexcept { return why_; }
  void archive(StateArchive& state);

 private:
  struct Pose {
    Eigen::Vector3d p = Eigen::Vector3d::Zero();
    Eigen::Quaterniond R = Eigen::Quaterniond::Identity();
  };
  static constexpr double kNever = -1e300;

  Pose goal_at(double t) const noexcept;
  bool twist_is_fresh(double t) const noexcept { return twist_time_ >= t - timeout_; }

  TaskLimits limits_;
  double timeout_;
  bool joined_ = false, has_goal_ = false;
  double t_ = 0.0, goal_time_ = kNever, pose_time_ = kNever, twist_time_ = kNever;
  Pose goal_, body_;
  Vector6d twist_ = Vector6d::Zero(), xi_ = Vector6d::Zero(), xi_dot_ = Vector6d::Zero();
  Vector6d feedforward_ = Vector6d::Zero();  // of the goal's acceleration
  TaskReference reference_;
  Reason why_ = Reason::no_reference;
};

}  // namespace thunder::realtime
