// Fixed-step integrators; the torque is constant over a step, as a sampled controller holds it.
#pragma once

#include "plant.hpp"

namespace thunder {

class Integrator {
 public:
  virtual ~Integrator() = default;
  /// Advances x from t to t + dt.
  virtual void step(Plant& plant, double t, double dt, const double* tau, double* x) = 0;
};

/// Classical fourth-order Runge-Kutta.
class RungeKutta4 final : public Integrator {
 public:
  explicit RungeKutta4(int state_size) : k1_(state_size), k2_(state_size), k3_(state_size), k4_(state_size), y_(state_size) {}

  void step(Plant& plant, double t, double dt, const double* tau, double* state) override {
    Eigen::Map<Eigen::VectorXd> x(state, y_.size());
    plant.derivative(t, state, tau, k1_.data());
    y_ = x + 0.5 * dt * k1_;
    plant.derivative(t + 0.5 * dt, y_.data(), tau, k2_.data());
    y_ = x + 0.5 * dt * k2_;
    plant.derivative(t + 0.5 * dt, y_.data(), tau, k3_.data());
    y_ = x + dt * k3_;
    plant.derivative(t + dt, y_.data(), tau, k4_.data());
    x += dt / 6.0 * (k1_ + 2.0 * k2_ + 2.0 * k3_ + k4_);
  }

 private:
  Eigen::VectorXd k1_, k2_, k3_, k4_, y_;
};

/// First order: velocities first, then positions with the new velocities, drives last. Cheap, and its energy error stays
/// bounded.
class SemiImplicitEuler final : public Integrator {
 public:
  explicit SemiImplicitEuler(int state_size) : x_dot_(state_size) {}

  void step(Plant& plant, double t, double dt, const double* tau, double* state) override {
    Eigen::Map<Eigen::VectorXd> x(state, x_dot_.size());
    plant.derivative(t, state, tau, x_dot_.data());
    int start = 0;
    for (const int count : {plant.n(), plant.motors()}) {
      x.segment(start + count, count) += dt * x_dot_.segment(start + count, count);
      x.segment(start, count) += dt * x.segment(start + count, count);
      start += 2 * count;
    }
    x.tail(plant.actuator_states()) += dt * x_dot_.tail(plant.actuator_states());
  }

 private:
  Eigen::VectorXd x_dot_;
};

}  // namespace thunder
