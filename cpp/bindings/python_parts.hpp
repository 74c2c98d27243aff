// Parts of a closed loop that are written in Python.
#pragma once

#include "array.hpp"
#include "gil.hpp"
#include "thunder/control/controller.hpp"
#include "thunder/simulation/closed_loop.hpp"

namespace thunder::python {

inline py::array vector_copy(const double* x, int n) { return py::array_t<double>(n, x); }

/// Any object with `forward_dynamics(q, dq, tau)`; `begin_step(t)` is optional, and so are `mass_matrix(q)` and
/// `mass_matrix_dot(q, dq)`, which the implicit midpoint rule calls. With `motor_joints` it is
/// `forward_dynamics(q, dq, tau, x, dx)`, which returns ddq and ddx.
class PythonPlant final : public Plant, public CallsPython {
 public:
  PythonPlant(const py::object& plant, int n);
  int n() const override { return n_; }
  void begin_step(double t) override;
  void derivative(double, const double* x, const double* tau, double* x_dot) override;
  void inertia(const double* q, const double* dq, double* M, double* M_dot) override;

 private:
  py::object plant_, forward_dynamics_, begin_step_;  // the latter None if there is none
  int n_;
  std::vector<double> acceleration_;  // ddq, then ddx
};

/// Integrator of a plant: `advance(t, q, dq, tau, dt)` returns q and dq at t + dt, tau held; with motors
/// `advance(t, q, dq, tau, dt, x, dx)` returns q, dq, x and dx.
class OwnIntegrator final : public Integrator, public CallsPython {
 public:
  OwnIntegrator(const py::object& plant, int n) : advance_(plant.attr("advance")), tau_(n) {}
  void step(Plant& plant, double t, double dt, const double* u, double* x) override;

 private:
  py::object advance_;
  std::vector<double> tau_;
};

/// Any function `advance(f, x, t, dt)` that returns x at t + dt, where x' = f(t, x).
class PythonIntegrator final : public Integrator, public CallsPython {
 public:
  PythonIntegrator(py::object advance, int state_size) : advance_(std::move(advance)), size_(state_size) {}
  void step(Plant& plant, double t, double dt, const double* tau, double* x) override;

 private:
  py::object advance_;
  int size_;
};

/// A control step that may be logged.
class LoggedControl : public ControlStep {
 public:
  virtual const std::vector<Signal>& signals() const = 0;
};

/// Any object with `step(t, q, dq, reference)` that returns the torque; `status` and `signals` are optional. Where
/// `sees_motors` is true it is `step(t, q, dq, reference, x, dx)`. Without a signal ``error`` of its own it has one
/// labeled `reference`, which is that: q, p and R (row by row), NaN for what it lacks.
class PythonControl final : public LoggedControl, public CallsPython {
 public:
  PythonControl(py::object controller, py::object reference, int n, int motors);
  Status operator()(double t, const double* q, const double* dq, const Motors& motors, double* tau) override;
  const std::vector<Signal>& signals() const override { return native_ != nullptr ? native_->signals() : signals_; }

 private:
  void make_signals();
  void refresh_signals();
  void read_reference(const py::object& reference);

  py::object controller_, reference_, step_;
  int n_, motors_;  // motors of which it sees the state
  const Controller* native_ = nullptr;
  std::vector<Signal> signals_;
  std::vector<std::vector<double>> buffers_;
  std::vector<double> target_;  // q, p, R; empty where the controller has an error of its own
};

}  // namespace thunder::python
