// Fixed-step integrators; the torque is constant over a step, as a sampled controller holds it. Where friction, springs or
// drives are stiff for the step, all take the same `StiffStep` instead of their own.
#pragma once

#include "stiff_step.hpp"

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
  explicit RungeKutta4(const Plant& plant) : stiff_(plant), k1_(plant.state_size()), k2_(k1_), k3_(k1_), k4_(k1_), y_(k1_) {}

  void step(Plant& plant, double t, double dt, const double* tau, double* state) override {
    Eigen::Map<Eigen::VectorXd> x(state, y_.size());
    plant.derivative(t, state, tau, k1_.data());
    if (stiff_.step(plant, t, dt, tau, state, k1_.data())) return;
    y_ = x + 0.5 * dt * k1_;
    plant.derivative(t + 0.5 * dt, y_.data(), tau, k2_.data());
    y_ = x + 0.5 * dt * k2_;
    plant.derivative(t + 0.5 * dt, y_.data(), tau, k3_.data());
    y_ = x + dt * k3_;
    plant.derivative(t + dt, y_.data(), tau, k4_.data());
    x += dt / 6.0 * (k1_ + 2.0 * k2_ + 2.0 * k3_ + k4_);
  }

 private:
  StiffStep stiff_;
  Eigen::VectorXd k1_, k2_, k3_, k4_, y_;
};

/// First order: velocities first, then positions with the new velocities, drives last. Symplectic, and so with a bounded
/// energy error, for a constant mass matrix only.
class SemiImplicitEuler final : public Integrator {
 public:
  explicit SemiImplicitEuler(const Plant& plant) : stiff_(plant), x_dot_(plant.state_size()) {}

  void step(Plant& plant, double t, double dt, const double* tau, double* state) override {
    Eigen::Map<Eigen::VectorXd> x(state, x_dot_.size());
    plant.derivative(t, state, tau, x_dot_.data());
    if (stiff_.step(plant, t, dt, tau, state, x_dot_.data())) return;
    int start = 0;
    for (const int count : {plant.n(), plant.motors()}) {
      x.segment(start + count, count) += dt * x_dot_.segment(start + count, count);
      x.segment(start, count) += dt * x.segment(start + count, count);
      start += 2 * count;
    }
    x.tail(plant.actuator_states()) += dt * x_dot_.tail(plant.actuator_states());
  }

 private:
  StiffStep stiff_;
  Eigen::VectorXd x_dot_;
};

/// Second order: the implicit midpoint rule in positions and momenta p = M(q) dq, which is symplectic for any mass matrix:
/// without friction and actuators the energy error stays bounded. It equals the variational integrator of the discrete
/// Lagrangian dt L((q0 + q1) / 2, (q1 - q0) / dt). A step whose equation is not solved makes the state NaN.
class ImplicitMidpoint final : public Integrator {
 public:
  explicit ImplicitMidpoint(const Plant& plant);
  void step(Plant& plant, double t, double dt, const double* tau, double* x) override;

 private:
  struct Step;  // the arguments of `step`
  bool solve(const Step& step);
  double residual(const Step& step);
  void update_inverse();
  void finish(const Step& step);

  StiffStep stiff_;
  int n_, motors_, actuators_;
  Eigen::MatrixXd M_, M_dot_, inverse_;  // the last approximates the inverse Jacobian of the residual
  Eigen::VectorXd momentum_;             // n, at the start of the step
  Eigen::VectorXd middle_, rate_;        // state at the midpoint and its derivative
  Eigen::VectorXd y_;                    // velocities of joints and motors, and states of actuators, at the midpoint
  Eigen::VectorXd f_, last_f_, change_, update_, row_;
};

}  // namespace thunder
