// What every controller shares: statuses, the safe torque, signals for logs.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "../model/model.hpp"
#include "reference.hpp"
#include "status.hpp"

namespace thunder {

/// A vector that a controller shows to logs; it keeps its place as long as the controller lives.
struct Signal {
  std::string name;
  const double* data;
  std::vector<std::string> labels;  // of its entries
  int size() const { return static_cast<int>(labels.size()); }
};

class Controller {
 public:
  virtual ~Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  int n() const noexcept { return model_->n(); }
  const std::shared_ptr<const Model>& model() const noexcept { return model_; }
  /// Status of the last step.
  Status status() const noexcept { return status_; }
  const std::vector<Signal>& signals() const noexcept { return signals_; }
  /// Back to the state after construction.
  virtual void reset() noexcept;

 protected:
  /// K_d damps the safe torque as it damps the law.
  Controller(std::shared_ptr<const Model> model, Eigen::MatrixXd K_d);

  /// Gravity torque as the controller knows it.
  virtual void gravity(const double* q, double* G) noexcept;
  /// Called where the law gave no torque: stop integrating and adapting.
  virtual void freeze() noexcept {}

  bool read_state(double t, const double* q, const double* dq) noexcept;
  /// Ends a step: where the law gave no torque, gravity compensation at the last known position minus K_d dq.
  Status finish(Status status, const double* dq, double* tau) noexcept;
  void publish(std::string name, const double* data, std::vector<std::string> labels);

  std::shared_ptr<const Model> model_;
  Eigen::MatrixXd K_d_;

 private:
  Status status_ = Status::ok;
  std::vector<Signal> signals_;
  Eigen::VectorXd last_q_;  // last finite one
  bool seen_state_ = false;
};

/// A controller of one kind of reference. Derived classes write `law`, the formula of the paper.
template <class Reference>
class TrackingController : public Controller {
 public:
  /// Torque at time t. Never throws, never allocates; always writes a finite torque.
  Status step(double t, const double* q, const double* dq, const Reference& reference, double* tau) noexcept {
    const bool valid = read_state(t, q, dq) && reference.valid();
    return finish(valid ? law(t, q, dq, reference, tau) : Status::invalid_input, dq, tau);
  }

 protected:
  using Controller::Controller;
  virtual Status law(double t, const double* q, const double* dq, const Reference& reference, double* tau) noexcept = 0;
};

using JointController = TrackingController<JointReference>;
using TaskController = TrackingController<TaskReference>;

}  // namespace thunder
