// What a controller drives.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <vector>

#include "../model/model.hpp"

namespace thunder {

/// A system x' = f(t, x, tau), whose state x is q and dq, then positions and velocities of motors if it has any.
class Plant {
 public:
  virtual ~Plant() = default;
  virtual int n() const = 0;
  /// Motors that move apart from their joints.
  virtual int motors() const { return 0; }
  int state_size() const { return 2 * (n() + motors()); }
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

/// A model that changes at given times, when payloads come.
class LoadedModel {
 public:
  LoadedModel(std::shared_ptr<const Model> model, std::vector<Payload> payloads);
  void advance(double t);
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
};

/// The rigid arm with its own, true parameters; friction is part of the model.
class RigidPlant final : public Plant {
 public:
  explicit RigidPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads = {})
      : model_(std::move(model), std::move(payloads)) {}
  int n() const override { return model_->n(); }
  void begin_step(double t) override { model_.advance(t); }
  void derivative(double t, const double* x, const double* tau, double* x_dot) override;

  /// The model in force, payloads included.
  const Model& model() const { return *model_; }

 private:
  LoadedModel model_;
};

/// The arm with motors behind springs at its elastic joints: the state is q, dq, then x and dx of the motors.
class ElasticPlant final : public Plant {
 public:
  explicit ElasticPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads = {})
      : model_(std::move(model), std::move(payloads)), acceleration_(model_->n() + model_->elastic_count()) {}
  int n() const override { return model_->n(); }
  int motors() const override { return model_->elastic_count(); }
  void begin_step(double t) override { model_.advance(t); }
  void derivative(double t, const double* x, const double* tau, double* x_dot) override;

 private:
  LoadedModel model_;
  Eigen::VectorXd acceleration_;  // ddq, then ddx
};

}  // namespace thunder
