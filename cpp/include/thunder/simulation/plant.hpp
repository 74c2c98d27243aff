// What a controller drives.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <vector>

#include "../model/model.hpp"

namespace thunder {

/// A system x' = f(t, x, tau), whose state x starts with q and dq; filters, motors and springs may follow.
class Plant {
 public:
  virtual ~Plant() = default;
  virtual int n() const = 0;
  virtual int state_size() const { return 2 * n(); }
  /// Called before each integration step, for what changes at an instant.
  virtual void begin_step(double /*t*/) {}
  virtual void derivative(double t, const double* x, const double* tau, double* x_dot) = 0;
};

/// A rigid body fixed to a link from a time on.
struct Payload {
  double time;
  int link;  // 1..n
  Eigen::Matrix<double, kLinkParameters, 1> parameters;  // REG, about the origin of the link frame
};

/// The rigid arm with its own, true parameters; friction is part of the model.
class RigidPlant final : public Plant {
 public:
  explicit RigidPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads = {});
  int n() const override { return model_->n(); }
  void begin_step(double t) override;
  void derivative(double t, const double* x, const double* tau, double* x_dot) override;

  /// The model in force, payloads included.
  const Model& model() const { return *model_; }

 private:
  struct Phase {
    double start;
    std::shared_ptr<const Model> model;
  };
  std::shared_ptr<const Model> model_;
  std::vector<Phase> phases_;  // by start time
  std::size_t phase_ = 0;
};

}  // namespace thunder
