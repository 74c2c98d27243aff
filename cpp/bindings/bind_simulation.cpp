// The closed loop for Python: whatever of plant, controller and reference is written in Python is called there.
#include "bindings.hpp"
#include "estimation.hpp"
#include "python_parts.hpp"

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <optional>

namespace thunder::python {

using Logs = py::typing::Dict<py::str, py::object>;

namespace {

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

/// A name, or a Python function for `PythonIntegrator`.
std::unique_ptr<Integrator> make_integrator(const py::object& integrator, const py::object& plant, int n,
                                            int state_size) {
  if (!py::isinstance<py::str>(integrator)) return std::make_unique<PythonIntegrator>(integrator, state_size);
  if (py::cast<std::string>(integrator) == "plant") return std::make_unique<OwnIntegrator>(plant, n);
  if (py::cast<std::string>(integrator) == "rk4") return std::make_unique<RungeKutta4>(state_size);
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

using Numbers = std::vector<double>;
using PayloadTuple = std::tuple<double, int, Numbers>;           // time, link, REG parameters
using ActionTuple = std::tuple<double, double, py::object, Numbers>;  // start, stop, frame or False for joints, values
// noise, resolution (positions, velocities each), dropout, delay, seed, estimator
using SensorTuple = std::tuple<Numbers, Numbers, Numbers, Numbers, double, long, std::uint64_t, std::shared_ptr<Estimation>>;
// delay, limits of torque and rate, feedforward, stall, then T and d of the drives
using ActuatorTuple = std::tuple<long, Numbers, Numbers, Numbers, Numbers, Numbers, Numbers>;

Eigen::VectorXd vector(const Numbers& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

struct LoopArguments {
  py::object plant, controller, reference;
  std::vector<PayloadTuple> payloads;
  std::vector<ActionTuple> external;
  std::optional<SensorTuple> sensors;
  std::optional<ActuatorTuple> actuators;
  bool native_plant, native_control;
};

std::vector<Payload> read_payloads(const std::vector<PayloadTuple>& given) {
  std::vector<Payload> payloads;
  for (const auto& [time, link, parameters] : given) {
    Payload payload{time, link, {}};
    std::copy_n(parameters.begin(), kLinkParameters, payload.parameters.data());
    payloads.push_back(payload);
  }
  return payloads;
}

std::vector<ExternalAction> read_actions(const std::vector<ActionTuple>& given, const Model& model) {
  std::vector<ExternalAction> actions;
  for (const auto& [start, stop, frame, values] : given) {
    int index = -1;
    if (!py::isinstance<py::bool_>(frame)) {
      const Frame<double>& found = find_frame(model, frame);
      for (index = 0; &model.frame(index) != &found;) ++index;
    }
    actions.push_back({start, stop, index, vector(values)});
  }
  return actions;
}

std::unique_ptr<Plant> make_arm(const LoopArguments& a, int n) {
  if (!a.native_plant) return std::make_unique<PythonPlant>(a.plant, n);
  auto model = py::cast<std::shared_ptr<Model>>(a.plant);
  auto payloads = read_payloads(a.payloads);
  auto actions = read_actions(a.external, *model);
  if (model->elastic_count() == 0)
    return std::make_unique<RigidPlant>(std::move(model), std::move(payloads), std::move(actions));
  require_motor_inertia(*model);
  return std::make_unique<ElasticPlant>(std::move(model), std::move(payloads), std::move(actions));
}

std::unique_ptr<Plant> make_plant(const LoopArguments& a, int n) {
  auto arm = make_arm(a, n);
  if (!a.actuators) return arm;
  return std::make_unique<ActuatedPlant>(std::move(arm), vector(std::get<5>(*a.actuators)),
                                         vector(std::get<6>(*a.actuators)));
}

std::unique_ptr<Sensors> make_sensors(const LoopArguments& a, int n, double period) {
  if (!a.sensors) return nullptr;
  const auto& [q_noise, dq_noise, q_resolution, dq_resolution, dropout, delay, seed, estimation] = *a.sensors;
  SensorSettings settings{vector(q_noise), vector(dq_noise), vector(q_resolution), vector(dq_resolution),
                          dropout, delay, period, seed, nullptr};
  if (estimation) settings.velocity = estimation->filter->fresh(n);
  return std::make_unique<Sensors>(std::move(settings));
}

std::unique_ptr<CommandPath> make_command(const LoopArguments& a, int n, double period) {
  if (!a.actuators) return nullptr;
  const auto& [delay, limits, rates, feedforward, stall, T, d] = *a.actuators;
  return std::make_unique<CommandPath>(
      n, CommandSettings{delay, period, vector(limits), vector(rates), vector(feedforward), vector(stall)});
}

std::unique_ptr<LoggedControl> make_control(const LoopArguments& a, int n) {
  if (py::isinstance<Controller>(a.controller) && py::cast<const Controller&>(a.controller).n() != n)
    throw py::value_error("controller must be for " + std::to_string(n) + " joints as the plant, got " +
                          std::to_string(py::cast<const Controller&>(a.controller).n()));
  std::unique_ptr<LoggedControl> control;
  if (a.native_control) control = native_control<JointReference>(a.controller, a.reference, n);
  if (a.native_control && !control) control = native_control<TaskReference>(a.controller, a.reference, n);
  if (!control) control = std::make_unique<PythonControl>(a.controller, a.reference, n);
  return control;
}

Logs simulate(const LoopArguments& arguments, int n, const LoopSettings& settings, const Eigen::VectorXd& x0,
              const py::object& integration, const std::optional<std::vector<std::string>>& log,
              const py::object& progress) {
  const double period = settings.dt * settings.steps_per_period;
  const auto plant = make_plant(arguments, n);
  const auto control = make_control(arguments, n);
  const auto sensors = make_sensors(arguments, n, period);
  const auto command = make_command(arguments, n, period);
  const auto integrator = make_integrator(integration, arguments.plant, n, plant->state_size());
  ClosedLoop loop(*plant, *control, *integrator, settings, x0, {sensors.get(), command.get()});
  py::dict labels;
  add_logs(loop, *control, log, labels);
  const bool python = dynamic_cast<PythonControl*>(control.get()) != nullptr ||
                      dynamic_cast<PythonIntegrator*>(integrator.get()) != nullptr;
  std::optional<py::gil_scoped_release> release;
  if (arguments.native_plant && !python) release.emplace();
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
         std::vector<PayloadTuple> payloads, std::vector<ActionTuple> external, std::optional<SensorTuple> sensors,
         std::optional<ActuatorTuple> actuators, const py::object& integrator,
         std::optional<std::vector<std::string>> log, const py::object& progress, bool native_plant,
         bool native_control) {
        const LoopArguments arguments{std::move(plant), std::move(controller), std::move(reference),
                                  std::move(payloads), std::move(external), std::move(sensors),
                                  std::move(actuators), native_plant, native_control};
        const LoopSettings settings{dt, steps_per_period, periods, log_every, to_vector(torque_limits, "torque_limits")};
        return simulate(arguments, n, settings, to_vector(x0, "x0"), integrator, log, progress);
      },
      py::arg("plant"), py::arg("controller"), py::arg("reference"), py::kw_only(), py::arg("n"), py::arg("x0"), py::arg("dt"),
      py::arg("steps_per_period"), py::arg("periods"), py::arg("log_every"), py::arg("torque_limits"),
      py::arg("payloads"), py::arg("external"), py::arg("sensors"), py::arg("actuators"), py::arg("integrator"),
      py::arg("log"), py::arg("progress"), py::arg("native_plant"), py::arg("native_control"),
      "Run a closed loop; `thunder_py.simulation.simulate` checks the arguments.");
}

}  // namespace thunder::python
