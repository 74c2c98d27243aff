#include "python_parts.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>

namespace thunder::python {

PythonPlant::PythonPlant(const py::object& plant, int n)
    : plant_(plant),
      forward_dynamics_(plant.attr("forward_dynamics")),
      begin_step_(py::getattr(plant, "begin_step", py::none())),
      n_(n) {}

void PythonPlant::begin_step(double t) {
  if (!begin_step_.is_none()) begin_step_(t);
}

void PythonPlant::derivative(double, const double* x, const double* tau, double* x_dot) {
  const py::object ddq = forward_dynamics_(vector_copy(x, n_), vector_copy(x + n_, n_), vector_copy(tau, n_));
  const auto values = read_measurement(ddq, "result of plant.forward_dynamics", n_);
  std::copy_n(x + n_, n_, x_dot);
  std::copy_n(values.data(), n_, x_dot + n_);
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

void OwnIntegrator::step(Plant& plant, double t, double dt, const double* u, double* x) {
  const int n = plant.n();
  plant.torque(x, u, tau_.data());
  const py::object end = advance_(t, vector_copy(x, n), vector_copy(x + n, n), vector_copy(tau_.data(), n), dt);
  if (!py::isinstance<py::sequence>(end) || py::len(end) != 2)
    throw py::value_error("plant.advance must return q and dq, got " + py::cast<std::string>(py::repr(end)));
  const auto q = read_measurement(end[py::int_(0)], "q of plant.advance", n);
  const auto dq = read_measurement(end[py::int_(1)], "dq of plant.advance", n);
  std::copy_n(q.data(), n, x);
  std::copy_n(dq.data(), n, x + n);
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

PythonControl::PythonControl(py::object controller, py::object reference, int n)
    : controller_(std::move(controller)), reference_(std::move(reference)), step_(controller_.attr("step")), n_(n) {
  if (py::isinstance<Controller>(controller_))
    native_ = &py::cast<const Controller&>(controller_);
  else if (py::hasattr(controller_, "signals"))
    make_signals();
}

Status PythonControl::operator()(double t, const double* q, const double* dq, double* tau) {
  const py::object torque = step_(t, vector_copy(q, n_), vector_copy(dq, n_), reference_(t));
  const auto values = read_measurement(torque, "result of controller.step", n_);
  std::copy_n(values.data(), n_, tau);
  if (native_ != nullptr) return native_->status();
  if (!signals_.empty()) refresh_signals();
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

void PythonControl::refresh_signals() {
  const py::object values = controller_.attr("signals");
  for (std::size_t k = 0; k < signals_.size(); ++k) {
    const auto array = read_measurement(values[py::str(signals_[k].name)], signals_[k].name.c_str(), signals_[k].size());
    std::copy_n(array.data(), array.size(), buffers_[k].data());
  }
}

}  // namespace thunder::python
