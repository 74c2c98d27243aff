// Plants of the closed loop.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <memory>
#include <vector>

#include "external.hpp"
#include "joint_friction.hpp"

namespace thunder {

/// Torque of a spring and its damper on the link, and its derivatives by the deflection and its rate.
struct Spring {
  double torque = 0.0, stiffness = 0.0, damping = 0.0;
};

/// Drives of first order, T z' = u - d v - z, with torque z for the velocity v; n values each.
struct Drives {
  Eigen::VectorXd T, d;
};

/// A system x' = f(t, x, u), whose state x is q and dq, then positions and velocities of motors if it has any, then the
/// states of drives. The input u is the torque, unless there are drives.
class Plant {
 public:
  virtual ~Plant() = default;
  virtual int n() const = 0;
  /// Number of motors that move apart from their joints.
  int motors() const noexcept { return static_cast<int>(motor_joints_.size()); }
  /// Their joints, from 0, ascending.
  const std::vector<int>& motor_joints() const noexcept { return motor_joints_; }
  /// States of first order behind those of second order.
  virtual int actuator_states() const { return 0; }
  int state_size() const { return 2 * (n() + motors()) + actuator_states(); }
  /// Called before each integration step, for what changes at an instant.
  virtual void begin_step(double /*t*/) {}
  virtual void derivative(double t, const double* x, const double* u, double* x_dot) = 0;
  /// Mass matrix of the joints and, unless M_dot is null, its time derivative, n x n each; with springs, of the links.
  virtual void inertia(const double* q, const double* dq, double* M, double* M_dot) = 0;

  /// Whether `velocity_inertia` is known; what follows is for such plants, whose derivative can be integrated in parts.
  virtual bool has_inertia() const noexcept { return false; }
  virtual bool has_friction() const noexcept { return false; }
  /// Friction of the joints other than the model's, or null.
  virtual const JointFriction* joint_friction() const noexcept { return nullptr; }
  /// Of a motor, whose deflection is its position less the link's.
  virtual Spring spring(int /*motor*/, double /*deflection*/, double /*rate*/) const noexcept { return {}; }
  virtual const Drives* drives() const noexcept { return nullptr; }
  /// Friction of joints and motors at their velocities, and its derivatives, n + motors() values each.
  virtual void friction(const double* /*w*/, double* /*torque*/, double* /*slope*/) const noexcept {}
  /// Its largest derivatives over speeds from `slow` to `fast`.
  virtual void friction_slope(const double* /*slow*/, const double* /*fast*/, double* /*slope*/) const noexcept {}
  /// Inertia that belongs to the velocities of joints and motors in state x.
  virtual void velocity_inertia(const double* /*x*/, Eigen::MatrixXd& /*M*/) {}

  /// Brings the drives to where the first input lets them rest.
  virtual void start(const double* /*u*/, double* /*x*/) noexcept {}
  /// The torque in state x, n values.
  virtual void torque(const double* /*x*/, const double* u, double* tau) const noexcept { std::copy_n(u, n(), tau); }
  /// Index in x of the velocity that a joint's torque drives.
  int drive_velocity(int joint) const noexcept {
    for (int k = 0; k < motors(); ++k)
      if (motor_joints_[static_cast<std::size_t>(k)] == joint) return 2 * n() + motors() + k;
    return n() + joint;
  }
  /// Joint torques from outside at q, n values; false if nothing can act on the plant.
  virtual bool external_torque(const double* /*q*/, double* /*tau*/) noexcept { return false; }

 protected:
  explicit Plant(std::vector<int> motor_joints = {}) : motor_joints_(std::move(motor_joints)) {}

 private:
  std::vector<int> motor_joints_;
};

/// A rigid body fixed to a link from a time on.
struct Payload {
  double time;
  int link;  // 1..n
  Eigen::Matrix<double, kLinkParameters, 1> parameters;  // REG, about the origin of the link frame
};

/// A model that changes at given times, when payloads come, and what acts on it from outside.
class LoadedModel {
 public:
  LoadedModel(std::shared_ptr<const Model> model, std::vector<Payload> payloads, std::vector<ExternalAction> actions);
  void advance(double t);
  /// Joint torques from outside, n values, or null if there never are any.
  const double* external(const double* q) noexcept {
    return external_.empty() ? nullptr : external_.torque(*model_, work(), q).data();
  }
  Workspace work() const { return memory_.view(); }
  const Model& operator*() const { return *model_; }
  const Model* operator->() const { return model_.get(); }

 private:
  struct Phase {
    double start;
    std::shared_ptr<const Model> model;
  };
  std::shared_ptr<const Model> model_;
  std::vector<Phase> phases_;  // by start time
  std::size_t phase_ = 0;
  WorkspaceMemory memory_;
  ExternalActions external_;
};

/// An arm that carries payloads and may be pushed.
class ArmPlant : public Plant {
 public:
  ArmPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads, std::vector<ExternalAction> actions,
           std::vector<int> motor_joints = {})
      : Plant(std::move(motor_joints)),
        model_(std::move(model), std::move(payloads), std::move(actions)),
        joint_inertia_(model_->n(), model_->n()),
        load_(Eigen::VectorXd::Zero(model_->n())) {}
  int n() const override { return model_->n(); }
  void begin_step(double t) override { model_.advance(t); }
  void inertia(const double* q, const double* dq, double* M, double* M_dot) override;
  bool external_torque(const double* q, double* tau) noexcept override;
  /// In addition to the model's, also in the derivative.
  void set_friction(JointFriction friction) { joint_friction_ = std::make_unique<JointFriction>(std::move(friction)); }
  bool has_inertia() const noexcept override { return true; }
  bool has_friction() const noexcept override;
  const JointFriction* joint_friction() const noexcept override { return joint_friction_.get(); }
  Spring spring(int motor, double deflection, double rate) const noexcept override;
  void friction(const double* w, double* torque, double* slope) const noexcept override;
  void friction_slope(const double* slow, const double* fast, double* slope) const noexcept override;
  void velocity_inertia(const double* x, Eigen::MatrixXd& M) override;

  /// The model in force, payloads included.
  const Model& model() const { return *model_; }

 protected:
  Chain moving() const noexcept;
  /// Torques from outside less those of `joint_friction`, n values, or null where there are none.
  const double* load(const double* q, const double* dq) noexcept;

  LoadedModel model_;
  Eigen::MatrixXd joint_inertia_;  // of arms with motors
  std::unique_ptr<JointFriction> joint_friction_;
  Eigen::VectorXd load_;
};

/// The rigid arm with its own, true parameters; friction is part of the model.
class RigidPlant final : public ArmPlant {
 public:
  explicit RigidPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads = {},
                      std::vector<ExternalAction> actions = {})
      : ArmPlant(std::move(model), std::move(payloads), std::move(actions)), torque_(model_->n()) {}
  void derivative(double t, const double* x, const double* tau, double* x_dot) override;

 private:
  Eigen::VectorXd torque_;  // of the drives and from outside
};

/// The arm with motors behind springs at its elastic joints: the state is q, dq, then x and dx of the motors.
class ElasticPlant final : public ArmPlant {
 public:
  explicit ElasticPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads = {},
                        std::vector<ExternalAction> actions = {});
  void derivative(double t, const double* x, const double* tau, double* x_dot) override;

 private:
  Eigen::VectorXd acceleration_;  // ddq, then ddx
};

}  // namespace thunder
