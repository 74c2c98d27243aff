#include "python_parts.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace thunder::python {

namespace {

constexpr std::size_t kPose = 12;  // position and rotation matrix

std::vector<int> read_motor_joints(const py::object& plant, int n) {
  const py::object given = py::getattr(plant, "motor_joints", py::tuple());
  const auto joints = py::cast<std::vector<int>>(given);
  for (std::size_t k = 0; k < joints.size(); ++k)
    if (joints[k] < 0 || joints[k] >= n || (k > 0 && joints[k] <= joints[k - 1]))
      throw py::value_error("plant.motor_joints must be ascending numbers from 0 to " + std::to_string(n - 1) + ", got " +
                            py::cast<std::string>(py::repr(given)));
  return joints;
}

/// Copies the vectors of a sequence that Python returned, one behind the other.
void read_parts(const py::object& result, const char* what, std::initializer_list<std::pair<const char*, int>> parts,
                double* out) {
  if (!py::isinstance<py::sequence>(result) || py::len(result) != parts.size()) {
    std::string names;
    for (const auto& part : parts) names += (names.empty() ? "" : ", ") + std::string(part.first);
    throw py::value_error(std::string(what) + " must return " + names + ", got " +
                          py::cast<std::string>(py::repr(result)));
  }
  int k = 0;
  for (const auto& [name, size] : parts) {
    const auto values = read_measurement(result[py::int_(k++)], (std::string(name) + " of " + what).c_str(), size);
    out = std::copy_n(values.data(), size, out);
  }
}

}  // namespace

PythonPlant::PythonPlant(const py::object& plant, int n)
    : Plant(read_motor_joints(plant, n)),
      plant_(plant),
      forward_dynamics_(plant.attr("forward_dynamics")),
      begin_step_(py::getattr(plant, "begin_step", py::none())),
      n_(n),
      acceleration_(static_cast<std::size_t>(n + motors())) {}

void PythonPlant::begin_step(double t) {
  if (!begin_step_.is_none()) begin_step_(t);
}

void PythonPlant::derivative(double, const double* state, const double* tau, double* state_dot) {
  const int e = motors();
  const double *q = state, *dq = q + n_, *x = dq + n_, *dx = x + e;
  std::copy_n(dq, n_, state_dot);
  if (e == 0) {
    const py::object ddq = forward_dynamics_(vector_copy(q, n_), vector_copy(dq, n_), vector_copy(tau, n_));
    const auto values = read_measurement(ddq, "result of plant.forward_dynamics", n_);
    std::copy_n(values.data(), n_, state_dot + n_);
    return;
  }
  const py::object both = forward_dynamics_(vector_copy(q, n_), vector_copy(dq, n_), vector_copy(tau, n_),
                                            vector_copy(x, e), vector_copy(dx, e));
  read_parts(both, "plant.forward_dynamics", {{"ddq", n_}, {"ddx", e}}, acceleration_.data());
  std::copy_n(acceleration_.data(), n_, state_dot + n_);
  std::copy_n(dx, e, state_dot + 2 * n_);
  std::copy_n(acceleration_.data() + n_, e, state_dot + 2 * n_ + e);
}

void PythonPlant::inertia(const double* q, const double* dq, double* M, double* M_dot) {
  const auto read = [this](const py::object& matrix, const char* name, double* out) {
    const auto values = read_array(matrix, name, {n_, n_});
    std::copy_n(values.data(), values.size(), out);
  };
  read(plant_.attr("mass_matrix")(vector_copy(q, n_)), "result of plant.mass_matrix", M);
  if (M_dot == nullptr) return;
  read(plant_.attr("mass_matrix_dot")(vector_copy(q, n_), vector_copy(dq, n_)), "result of plant.mass_matrix_dot", M_dot);
}

void OwnIntegrator::step(Plant& plant, double t, double dt, const double* u, double* state) {
  const int n = plant.n(), e = plant.motors();
  plant.torque(state, u, tau_.data());
  const py::object q = vector_copy(state, n), dq = vector_copy(state + n, n), tau = vector_copy(tau_.data(), n);
  if (e == 0) return read_parts(advance_(t, q, dq, tau, dt), "plant.advance", {{"q", n}, {"dq", n}}, state);
  const py::object end =
      advance_(t, q, dq, tau, dt, vector_copy(state + 2 * n, e), vector_copy(state + 2 * n + e, e));
  read_parts(end, "plant.advance", {{"q", n}, {"dq", n}, {"x", e}, {"dx", e}}, state);
}

void PythonIntegrator::step(Plant& plant, double t, double dt, const double* tau, double* x) {
  struct Step {  // Python may keep the function longer than the step lasts
    Plant* plant;
    const double* tau;
    int size;
  };
  const auto now = std::make_shared<Step>(Step{&plant, tau, size_});
  const std::unique_ptr<Step, void (*)(Step*)> end_of_step(now.get(), [](Step* step) { step->plant = nullptr; });
  const py::cpp_function derivative([now](double time, const py::array_t<double>& state) {
    if (now->plant == nullptr) throw py::value_error("f(t, x) of an integrator must be called within its step");
    const auto x = read_measurement(state, "state", now->size);
    py::array_t<double> result(now->size);
    now->plant->derivative(time, x.data(), now->tau, result.mutable_data());
    return result;
  });
  const py::object end = advance_(derivative, vector_copy(x, size_), t, dt);
  const auto values = read_measurement(end, "result of the integrator", size_);
  std::copy_n(values.data(), size_, x);
}

PythonControl::PythonControl(py::object controller, py::object reference, int n, int motors)
    : controller_(std::move(controller)),
      reference_(std::move(reference)),
      step_(controller_.attr("step")),
      n_(n),
      motors_(py::cast<bool>(py::bool_(py::getattr(controller_, "sees_motors", py::bool_(false)))) ? motors : 0) {
  if (py::isinstance<Controller>(controller_)) {
    native_ = &py::cast<const Controller&>(controller_);
    return;
  }
  if (py::hasattr(controller_, "signals")) make_signals();
  const auto is_error = [](const Signal& signal) { return signal.name == "error"; };
  if (std::any_of(signals_.begin(), signals_.end(), is_error)) return;
  target_.resize(static_cast<std::size_t>(n_) + kPose);
  signals_.push_back({"error", target_.data(), std::vector<std::string>(target_.size(), "reference")});
}

Status PythonControl::operator()(double t, const double* q, const double* dq, const Motors& motors, double* tau) {
  const py::object q_ = vector_copy(q, n_), dq_ = vector_copy(dq, n_), reference = reference_(t);
  if (!target_.empty()) read_reference(reference);
  const py::object torque = motors_ == 0 ? step_(t, q_, dq_, reference)
                                         : step_(t, q_, dq_, reference, vector_copy(motors.x, motors_),
                                                 vector_copy(motors.dx, motors_));
  const auto values = read_measurement(torque, "result of controller.step", n_);
  std::copy_n(values.data(), n_, tau);
  if (native_ != nullptr) return native_->status();
  refresh_signals();
  if (!py::hasattr(controller_, "status")) return Status::ok;
  return read_enum<Status>(py::cast<int>(py::int_(controller_.attr("status"))), 5, "controller.status");
}

void PythonControl::make_signals() {
  const py::dict values(controller_.attr("signals"));
  buffers_.reserve(values.size());
  for (const auto& [key, value] : values) {
    const auto name = py::cast<std::string>(key);
    const auto array = read_array(value, name.c_str(), {-1});
    std::vector<std::string> labels;
    for (py::ssize_t i = 0; i < array.size(); ++i) labels.push_back(name + "[" + std::to_string(i) + "]");
    buffers_.emplace_back(array.size(), 0.0);
    signals_.push_back({name, buffers_.back().data(), std::move(labels)});
  }
}

void PythonControl::read_reference(const py::object& reference) {
  std::fill(target_.begin(), target_.end(), std::nan(""));
  double* out = target_.data();
  for (const auto& [name, size] : {std::pair{"q", n_}, {"p", 3}, {"R", 9}}) {
    const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(
        py::getattr(reference, name, py::none()));
    if (values && values.size() == size) std::copy_n(values.data(), size, out);
    out += size;
  }
}

void PythonControl::refresh_signals() {
  if (buffers_.empty()) return;
  const py::object values = controller_.attr("signals");
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    const auto array = read_measurement(values[py::str(signals_[k].name)], signals_[k].name.c_str(), signals_[k].size());
    std::copy_n(array.data(), array.size(), buffers_[k].data());
  }
}

}  // namespace thunder::python
