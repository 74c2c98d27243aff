// The closed loop for Python: whatever of plant, controller and reference is written in Python is called there.
#include "array.hpp"
#include "bindings.hpp"
#include "thunder/control/controller.hpp"
#include "thunder/simulation/closed_loop.hpp"

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <optional>

namespace thunder::python {

using Logs = py::typing::Dict<py::str, py::object>;

namespace {

py::array vector_copy(const double* x, int n) { return py::array_t<double>(n, x); }

/// Any object with `forward_dynamics(q, dq, tau)`.
class PythonPlant final : public Plant {
 public:
  PythonPlant(const py::object& plant, int n) : forward_dynamics_(plant.attr("forward_dynamics")), n_(n) {}
  int n() const override { return n_; }
  void derivative(double, const double* x, const double* tau, double* x_dot) override {
    const py::object ddq = forward_dynamics_(vector_copy(x, n_), vector_copy(x + n_, n_), vector_copy(tau, n_));
    const auto values = read_measurement(ddq, "result of plant.forward_dynamics", n_);
    std::copy_n(x + n_, n_, x_dot);
    std::copy_n(values.data(), n_, x_dot + n_);
  }

 private:
  py::object forward_dynamics_;
  int n_;
};

/// A control step that may be logged.
class LoggedControl : public ControlStep {
 public:
  virtual const std::vector<Signal>& signals() const = 0;
};

template <class Reference>
class NativeControl final : public LoggedControl {
 public:
  NativeControl(TrackingController<Reference>& controller, const ReferenceSource<Reference>& source)
      : controller_(controller), tracking_(controller, source) {}
  Status operator()(double t, const double* q, const double* dq, double* tau) override {
    return tracking_(t, q, dq, tau);
  }
  const std::vector<Signal>& signals() const override { return controller_.signals(); }

 private:
  TrackingController<Reference>& controller_;
  Tracking<Reference> tracking_;
};

/// Any object with `step(t, q, dq, reference)` that returns the torque; `status` and `signals` are optional.
class PythonControl final : public LoggedControl {
 public:
  PythonControl(py::object controller, py::object reference, int n)
      : controller_(std::move(controller)), reference_(std::move(reference)), step_(controller_.attr("step")), n_(n) {
    if (py::isinstance<Controller>(controller_))
      native_ = &py::cast<const Controller&>(controller_);
    else if (py::hasattr(controller_, "signals"))
      make_signals();
  }

  Status operator()(double t, const double* q, const double* dq, double* tau) override {
    const py::object torque = step_(t, vector_copy(q, n_), vector_copy(dq, n_), reference_(t));
    const auto values = read_measurement(torque, "result of controller.step", n_);
    std::copy_n(values.data(), n_, tau);
    if (native_ != nullptr) return native_->status();
    if (!signals_.empty()) refresh_signals();
    if (!py::hasattr(controller_, "status")) return Status::ok;
    return static_cast<Status>(py::cast<int>(py::int_(controller_.attr("status"))));
  }

  const std::vector<Signal>& signals() const override { return native_ != nullptr ? native_->signals() : signals_; }

 private:
  void make_signals() {
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

  void refresh_signals() {
    const py::object values = controller_.attr("signals");
    for (std::size_t k = 0; k < signals_.size(); ++k) {
      const auto array = read_measurement(values[py::str(signals_[k].name)], signals_[k].name.c_str(),
                                          signals_[k].size());
      std::copy_n(array.data(), array.size(), buffers_[k].data());
    }
  }

  py::object controller_, reference_, step_;
  int n_;
  const Controller* native_ = nullptr;
  std::vector<Signal> signals_;
  std::vector<std::vector<double>> buffers_;
};

int joints(const JointReference& reference) { return static_cast<int>(reference.q.size()); }
int joints(const TaskReference&) { return 0; }  // any number

template <class Reference>
std::unique_ptr<LoggedControl> native_control(const py::object& controller, const py::object& reference, int n) {
  using C = TrackingController<Reference>;
  using S = ReferenceSource<Reference>;
  if (!py::isinstance<C>(controller) || !py::isinstance<S>(reference)) return nullptr;
  const auto& source = py::cast<const S&>(reference);
  const int size = joints(source.blank());
  if (size != 0 && size != n)
    throw py::value_error("reference must have " + std::to_string(n) + " joints, got " + std::to_string(size));
  return std::make_unique<NativeControl<Reference>>(py::cast<C&>(controller), source);
}

std::unique_ptr<Integrator> make_integrator(const std::string& name, int state_size) {
  if (name == "rk4") return std::make_unique<RungeKutta4>(state_size);
  return std::make_unique<SemiImplicitEuler>(state_size);
}

void add_logs(ClosedLoop& loop, const LoggedControl& control, const std::optional<std::vector<std::string>>& log,
              py::dict& labels) {
  std::vector<std::string> wanted;
  std::string known;
  for (const Signal& signal : control.signals()) {
    known += (known.empty() ? "" : ", ") + signal.name;
    if (!log) wanted.push_back(signal.name);
  }
  if (log) wanted = *log;
  for (const std::string& name : wanted) {
    const auto& all = control.signals();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Signal& s) { return s.name == name; });
    if (found == all.end())
      throw py::value_error("log: the controller has no signal '" + name + "', it has: " + (known.empty() ? "none" : known));
    loop.log(*found);
    labels[py::str(name)] = py::tuple(py::cast(found->labels));
  }
}

/// The first `count` rows as an array that owns them.
py::array owned(Recorder::Rows&& rows, Eigen::Index count) {
  auto* kept = new Recorder::Rows(std::move(rows));
  const py::capsule owner(kept, [](void* p) { delete static_cast<Recorder::Rows*>(p); });
  return py::array_t<double>({count, kept->cols()}, kept->data(), owner);
}

Logs collect(ClosedLoop& loop, const py::dict& labels) {
  Logs result;
  Recorder& recorder = loop.recorder();
  for (Recorder::Channel& channel : recorder.channels())
    result[py::str(channel.name)] = owned(std::move(channel.rows), recorder.count());
  py::array_t<std::int64_t> statuses(static_cast<py::ssize_t>(loop.statuses().size()));
  std::transform(loop.statuses().begin(), loop.statuses().end(), statuses.mutable_data(),
                 [](Status s) { return static_cast<std::int64_t>(s); });
  result["status"] = statuses;
  result["labels"] = labels;
  return result;
}

/// Lets signals such as Ctrl-C through and reports progress; wants no GIL.
ClosedLoop::Progress make_progress(const py::object& progress) {
  return [&progress](double done) {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(done);
  };
}

struct Arguments {
  py::object plant, controller, reference;
  std::vector<std::tuple<double, int, std::vector<double>>> payloads;
  bool native_plant, native_control;
};

std::unique_ptr<Plant> make_plant(const Arguments& a, int n) {
  if (!a.native_plant) return std::make_unique<PythonPlant>(a.plant, n);
  std::vector<Payload> payloads;
  for (const auto& [time, link, parameters] : a.payloads) {
    Payload payload{time, link, {}};
    std::copy_n(parameters.begin(), kLinkParameters, payload.parameters.data());
    payloads.push_back(payload);
  }
  auto model = py::cast<std::shared_ptr<Model>>(a.plant);
  if (model->elastic_count() == 0) return std::make_unique<RigidPlant>(std::move(model), std::move(payloads));
  require_motor_inertia(*model);
  return std::make_unique<ElasticPlant>(std::move(model), std::move(payloads));
}

std::unique_ptr<LoggedControl> make_control(const Arguments& a, int n) {
  if (py::isinstance<Controller>(a.controller) && py::cast<const Controller&>(a.controller).n() != n)
    throw py::value_error("controller must be for " + std::to_string(n) + " joints as the plant, got " +
                          std::to_string(py::cast<const Controller&>(a.controller).n()));
  std::unique_ptr<LoggedControl> control;
  if (a.native_control) control = native_control<JointReference>(a.controller, a.reference, n);
  if (a.native_control && !control) control = native_control<TaskReference>(a.controller, a.reference, n);
  if (!control) control = std::make_unique<PythonControl>(a.controller, a.reference, n);
  return control;
}

Logs simulate(const Arguments& arguments, int n, const LoopSettings& settings, const Eigen::VectorXd& x0,
                  const std::string& integrator_name, const std::optional<std::vector<std::string>>& log,
                  const py::object& progress) {
  const auto plant = make_plant(arguments, n);
  const auto control = make_control(arguments, n);
  const auto integrator = make_integrator(integrator_name, plant->state_size());
  ClosedLoop loop(*plant, *control, *integrator, settings, x0);
  py::dict labels;
  add_logs(loop, *control, log, labels);
  std::optional<py::gil_scoped_release> release;
  if (arguments.native_plant && dynamic_cast<PythonControl*>(control.get()) == nullptr) release.emplace();
  loop.run(make_progress(progress));
  release.reset();
  return collect(loop, labels);
}

Eigen::VectorXd to_vector(const ArrayLike& value, const char* name) { return read_up_to_matrix(value, name).reshaped(); }

}  // namespace

void bind_simulation(py::module_& module) {
  module.def(
      "simulate",
      [](py::object plant, py::object controller, py::object reference, int n, const ArrayLike& x0, double dt,
         int steps_per_period, long periods, long log_every, const ArrayLike& torque_limits,
         std::vector<std::tuple<double, int, std::vector<double>>> payloads, const std::string& integrator,
         std::optional<std::vector<std::string>> log, const py::object& progress, bool native_plant,
         bool native_control) {
        const Arguments arguments{std::move(plant), std::move(controller), std::move(reference), std::move(payloads),
                                  native_plant, native_control};
        const LoopSettings settings{dt, steps_per_period, periods, log_every, to_vector(torque_limits, "torque_limits")};
        return simulate(arguments, n, settings, to_vector(x0, "x0"), integrator, log, progress);
      },
      py::arg("plant"), py::arg("controller"), py::arg("reference"), py::kw_only(), py::arg("n"), py::arg("x0"), py::arg("dt"),
      py::arg("steps_per_period"), py::arg("periods"), py::arg("log_every"), py::arg("torque_limits"),
      py::arg("payloads"), py::arg("integrator"), py::arg("log"), py::arg("progress"), py::arg("native_plant"),
      py::arg("native_control"), "Run a closed loop; `thunder_py.simulation.simulate` checks the arguments.");
}

}  // namespace thunder::python
