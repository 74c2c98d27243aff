// Base of all controllers: statuses, the hold, the safe torque, signals for logs.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <string>
#include <vector>

#include "../kernels/evaluator.hpp"
#include "../kinematics/reference.hpp"
#include "../kinematics/status.hpp"
#include "../math/state_archive.hpp"
#include "../threads/exclusive.hpp"
#include "brake.hpp"
#include "hold.hpp"

namespace thunder {

/// A vector of a controller for logs; its address is fixed for the lifetime of the controller.
struct Signal {
  std::string name;
  const double* data;
  std::vector<std::string> labels;  // of its entries
  int size() const { return static_cast<int>(labels.size()); }
};

class Controller : public Exclusive {
 public:
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  int n() const noexcept { return dynamics_.n(); }
  const std::shared_ptr<const Model>& model() const noexcept { return dynamics_.shared_model(); }
  /// Does the law need the state of the motors of elastic joints? Steps without it are invalid then.
  virtual bool sees_motors() const noexcept { return false; }
  /// Time derivatives of a joint reference that the law takes.
  virtual int reference_order() const noexcept { return 2; }
  /// Status of the last step.
  Status status() const noexcept { return status_; }
  const std::vector<Signal>& signals() const noexcept { return signals_; }
  /// Torques are clipped to plus and minus these, with status `saturated`; n positive entries, or none for no limits.
  void set_torque_limits(const Eigen::VectorXd& limits);
  const Eigen::VectorXd& torque_limits() const noexcept { return torque_limits_; }
  /// For a law that is a part of another one, whose torque was clipped: what its errors said does not count.
  void discard_errors() noexcept { ignore_tracking(); }
  /// The same where the other one gave no torque.
  void pause() noexcept { freeze(); }
  /// Gravity of the estimate less that of the nominal model, n values: what the estimate knows of a load.
  void unmodeled_gravity(const double* q, double* tau) noexcept;
  /// The same beyond what another model of the arm knows of a load: the estimate may have learned that, too.
  void unmodeled_gravity(const double* q, Evaluator& known, double* tau) noexcept;
  /// Rate of a hold for a period, 3 of which damp the velocity [1/s].
  double hold_rate(double period, const double* q) noexcept;
  /// Returns to the state after construction.
  virtual void reset() noexcept;
  /// Throws what a part of the law that is written in Python raised in the last step.
  virtual void rethrow() {}
  /// Estimates, integrals, filters and signals; torque limits too. Derived classes add theirs, signals excepted.
  virtual void archive(StateArchive& state);

 protected:
  /// K_d is the gain of laws that have one on a joint velocity; the hold does not use it.
  Controller(std::shared_ptr<const Model> model, Eigen::MatrixXd K_d);

  /// M ddq_r + C dq_r + G + friction of the model or estimate.
  virtual void reference_torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                                double* tau) noexcept;
  /// Called where the law gave no torque: stop integrating and adapting.
  virtual void freeze() noexcept {}
  /// Called where the law's torque was clipped, and after a hold: errors that these cause carry no information.
  virtual void ignore_tracking() noexcept {}

  /// True if torques were clipped in the last step; laws that integrate an error then hold it.
  bool saturated() const noexcept { return status_ == Status::saturated; }

  /// Called before `law` with the state of the motors; false where a law that sees them has none that is finite.
  virtual bool read_motors(const Motors&) noexcept { return true; }
  /// The torque where the law gave none: the arm is held, or, where it was not measured, gravity is compensated.
  virtual void replace_law(Status status, bool measured, double t, const double* q, const double* dq,
                           double* tau) noexcept;
  /// The arm has been measured since the last reset.
  bool seen_state() const noexcept { return seen_state_; }

  /// False where t, q or dq is not finite.
  bool read_state(double t, const double* q, const double* dq) noexcept;
  /// Ends a step. Where the law gave no torque, the arm is held; where it was not `measured`, the torque is gravity
  /// compensation at the last known position, with the load of a hold, and damping. Torques are clipped to the limits.
  Status finish(Status status, bool measured, double t, const double* q, const double* dq, double* tau) noexcept;
  /// True if the arm is held since the law was singular.
  bool holding() const noexcept { return holding_; }
  /// True if the errors are those of a hold that has just ended.
  bool settling() const noexcept { return hold_.settling(); }
  const std::vector<std::string>& joint_names() const noexcept { return dynamics_.model().data().joint_names; }
  void publish(std::string name, const double* data, std::vector<std::string> labels);
  /// Last finite position, zero before any.
  const Eigen::VectorXd& last_q() const noexcept { return last_q_; }
  /// The torque that the last step ended with, clipped.
  const Eigen::VectorXd& last_torque() const noexcept { return last_torque_; }

  Evaluator dynamics_;  // of the nominal model
  Eigen::MatrixXd K_d_;

 private:
  bool clip(double* tau) const noexcept;
  void hold(bool coasts, double t, const double* q, const double* dq, double* tau) noexcept;
  void compensate_gravity(const double* dq, double* tau) noexcept;

  Status status_ = Status::ok;
  std::vector<Signal> signals_;
  Eigen::VectorXd last_q_;
  Eigen::VectorXd torque_limits_;
  Eigen::VectorXd last_torque_;
  Hold hold_;
  RowMajor M_;  // where a hold starts
  Eigen::VectorXd zero_, gravity_, change_;
  StepClock steps_;
  double period_ = 0.0;  // between the last two steps, 0 where it is not known [s]
  std::unique_ptr<ElasticDamping> elastic_damping_;
  bool seen_state_ = false, holding_ = false;
};

/// A controller of one kind of reference. Derived classes write `law`, the formula of the paper.
template <class Reference>
class TrackingController : public Controller {
 public:
  /// Torque at time t. Never throws, never allocates; always writes a finite torque.
  Status step(double t, const double* q, const double* dq, const Reference& reference, double* tau,
              const Motors& motors = {}) noexcept {
    const bool motors_measured = this->read_motors(motors), measured = read_state(t, q, dq) && motors_measured;
    const Status status = measured && reference.valid() ? law(t, q, dq, reference, tau) : Status::invalid_input;
    return finish(status, measured, t, q, dq, tau);
  }

 protected:
  using Controller::Controller;
  virtual Status law(double t, const double* q, const double* dq, const Reference& reference, double* tau) noexcept = 0;
};

using JointController = TrackingController<JointReference>;
using TaskController = TrackingController<TaskReference>;

}  // namespace thunder
