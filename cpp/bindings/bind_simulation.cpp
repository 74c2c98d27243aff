// The closed loop for Python; plant, controller and reference may be native or written in Python.
#include "bindings.hpp"
#include "estimation.hpp"
#include "exclusive.hpp"
#include "gil.hpp"
#include "python_parts.hpp"
#include "simulation.hpp"

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <optional>

namespace thunder::python {

using Logs = py::typing::Dict<py::str, py::object>;

namespace {

template <class Reference>
class NativeControl final : public LoggedControl {
 public:
  NativeControl(TrackingController<Reference>& controller, ReferenceSource<Reference>& source)
      : controller_(controller), tracking_(controller, source) {}
  Status operator()(double t, const double* q, const double* dq, const Motors& motors, double* tau) override {
    const Status status = tracking_(t, q, dq, motors, tau);
    controller_.rethrow();
    return status;
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
  auto& source = py::cast<S&>(reference);
  const int size = joints(source.blank());
  if (size != 0 && size != n)
    throw py::value_error("reference must have " + std::to_string(n) + " joints, got " + std::to_string(size));
  return std::make_unique<NativeControl<Reference>>(py::cast<C&>(controller), source);
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
py::array owned(RowMajor&& rows, Eigen::Index count) {
  auto* kept = new RowMajor(std::move(rows));
  const py::capsule owner(kept, [](void* p) { delete static_cast<RowMajor*>(p); });
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

/// Handles signals such as Ctrl-C and reports progress; needs no GIL.
ClosedLoop::Progress make_progress(const py::object& progress) {
  return [&progress](double done) {
    check_signals();
    const py::gil_scoped_acquire acquire;
    if (!progress.is_none()) progress(done);
  };
}

/// Names of the estimate and of the contacts in the log.
using ObserverTuple = std::tuple<std::string, std::string, std::shared_ptr<ExternalObserver>>;
using Options = py::typing::Dict<py::str, py::object>;

Eigen::VectorXd read_numbers(py::handle value, const char* name, int size) {
  const auto array = read_array(value, name, {size});
  return Eigen::Map<const Eigen::VectorXd>(array.data(), array.size());
}

/// Also throws for NaN.
Eigen::VectorXd not_negative(Eigen::VectorXd values, const char* name) {
  for (const double value : values)
    if (!(value >= 0.0))
      throw py::value_error(std::string(name) + " must be at least 0, got " + std::string(py::str(py::float_(value))));
  return values;
}

/// One finite number for each joint, at least 0.
Eigen::VectorXd per_joint(const Options& options, const char* name, int n) {
  return not_negative(read_numbers(options[name], name, n), name);
}

/// One number for each joint, at least 0 and possibly infinite, or no numbers for None.
Eigen::VectorXd joint_limits(const Options& options, const char* name, int n) {
  if (options[name].is_none()) return {};
  const auto array = read_measurement(options[name], name, n);
  return not_negative(Eigen::Map<const Eigen::VectorXd>(array.data(), array.size()), name);
}

double read_dropout(const Options& options) {
  const auto dropout = py::cast<double>(options["dropout"]);
  if (dropout >= 0.0 && dropout < 1.0) return dropout;
  throw py::value_error("dropout must be at least 0 and less than 1, got " + std::string(py::str(options["dropout"])));
}

long read_delay(const Options& options) {
  const auto delay = py::cast<long>(options["delay"]);
  if (delay < 0) throw py::value_error("delay must not be negative, got " + std::to_string(delay));
  return delay;
}

struct LoopArguments {
  py::object plant, controller, reference;
  std::vector<PayloadTuple> payloads;
  std::vector<ActionTuple> external;
  std::optional<Options> sensors, actuators, friction;
  std::vector<ObserverTuple> observers;
  bool native_plant, native_control;
};

JointFriction read_friction(const Options& given, int n) {
  const auto sides = [&](const char* name) -> Eigen::MatrixX2d {
    return Eigen::Map<const RowMajor>(read_array(given[name], name, {n, 2}).data(), n, 2);
  };
  return JointFriction({sides("viscous"), sides("coulomb"), read_numbers(given["stribeck"], "stribeck", n),
                        read_numbers(given["velocity"], "velocity", n), py::cast<double>(given["delta"]),
                        py::cast<bool>(given["stiction"])});
}

std::unique_ptr<Plant> make_plant(const LoopArguments& a, int n) {
  if (!a.native_plant) return std::make_unique<PythonPlant>(a.plant, n);
  const auto& known = py::cast<const Model&>(a.plant);  // refuses None
  if (known.n() != n)
    throw py::value_error("n must be the plant's " + std::to_string(known.n()) + ", got " + std::to_string(n));
  auto model = py::cast<std::shared_ptr<Model>>(a.plant);
  auto payloads = read_payloads(a.payloads);
  auto actions = read_actions(a.external, *model);
  std::unique_ptr<ArmPlant> arm = make_arm(std::move(model), std::move(payloads), std::move(actions));
  if (a.friction) arm->set_friction(read_friction(*a.friction, n));
  return arm;
}

std::unique_ptr<Plant> add_actuators(const LoopArguments& a, std::unique_ptr<Plant> arm) {
  if (!a.actuators) return arm;
  const int n = arm->n();
  return std::make_unique<ActuatedPlant>(
      std::move(arm), Drives{per_joint(*a.actuators, "time_constants", n), per_joint(*a.actuators, "damping", n)});
}

std::unique_ptr<Sensors> make_sensors(const LoopArguments& a, const Plant& plant, double period) {
  if (!a.sensors) return nullptr;
  const Options& given = *a.sensors;
  const int n = plant.n();
  SensorSettings settings{per_joint(given, "position_noise", n),
                          per_joint(given, "velocity_noise", n),
                          per_joint(given, "position_resolution", n),
                          per_joint(given, "velocity_resolution", n),
                          read_dropout(given),
                          read_delay(given),
                          period,
                          py::cast<std::uint64_t>(given["seed"]),
                          nullptr};
  if (!given["velocity"].is_none()) settings.velocity = py::cast<const Estimation&>(given["velocity"]).filter->new_state(n);
  return std::make_unique<Sensors>(settings, plant.motor_joints());
}

std::unique_ptr<CommandPath> make_command(const LoopArguments& a, int n, double period) {
  if (!a.actuators) return nullptr;
  const Options& given = *a.actuators;
  Eigen::VectorXd feedforward;
  if (!given["feedforward"].is_none()) feedforward = per_joint(given, "feedforward", n);
  return std::make_unique<CommandPath>(
      n, CommandSettings{read_delay(given), period, joint_limits(given, "torque_limits", n),
                         joint_limits(given, "rate_limits", n), std::move(feedforward), joint_limits(given, "stall", n)});
}

std::unique_ptr<LoggedControl> make_control(const LoopArguments& a, const Plant& plant) {
  const int n = plant.n();
  if (py::isinstance<Controller>(a.controller) && py::cast<const Controller&>(a.controller).n() != n)
    throw py::value_error("controller must have the plant's " + std::to_string(n) + " joints, got " +
                          std::to_string(py::cast<const Controller&>(a.controller).n()));
  const bool sees_motors = py::cast<bool>(py::bool_(py::getattr(a.controller, "sees_motors", py::bool_(false))));
  if (sees_motors && plant.motors() == 0)
    throw py::value_error("plant must have elastic joints for a controller that sees their motors");
  if (sees_motors && py::isinstance<Controller>(a.controller) &&
      py::cast<const Controller&>(a.controller).model()->elastic_joints() != plant.motor_joints())
    throw py::value_error("controller and plant must have the same elastic joints");
  std::unique_ptr<LoggedControl> control;
  if (a.native_control) control = native_control<JointReference>(a.controller, a.reference, n);
  if (a.native_control && !control) control = native_control<TaskReference>(a.controller, a.reference, n);
  if (!control) control = std::make_unique<PythonControl>(a.controller, a.reference, n, plant.motors());
  return control;
}

/// Resets them.
std::vector<ExternalObserver*> make_observers(const LoopArguments& a, const Plant& plant) {
  std::vector<ExternalObserver*> observers;
  for (const ObserverTuple& named : a.observers) {
    const auto& observer = std::get<2>(named);
    if (observer->n() != plant.n())
      throw py::value_error("observers must have the plant's " + std::to_string(plant.n()) + " joints, got " +
                            std::to_string(observer->n()));
    if (observer->elastic_joints() != plant.motor_joints())
      throw py::value_error("observers must have the plant's elastic joints, whose torques drive motors: " +
                            std::to_string(plant.motors()) + ", got " + std::to_string(observer->elastic_joints().size()));
    observer->reset();
    observers.push_back(observer.get());
  }
  return observers;
}

void log_observer(ClosedLoop& loop, const ObserverTuple& named, py::dict& labels) {
  const auto& [name, contact, shared] = named;
  const ExternalObserver& observer = *shared;
  std::vector<Signal> signals{{name, observer.estimate().data(), observer.labels()}};
  if (observer.contact() != nullptr) signals.push_back({contact, observer.contact()->data(), observer.labels()});
  for (const Signal& signal : signals) {
    if (labels.contains(signal.name))
      throw py::value_error("observers: a signal '" + signal.name + "' is logged already, choose another name");
    loop.log(signal);
    labels[py::str(signal.name)] = py::tuple(py::cast(signal.labels));
  }
}

/// Locks the stateful parts of a run against other threads.
class PartsInUse {
 public:
  explicit PartsInUse(const LoopArguments& a) {
    add<Controller>(a.controller);
    if (uses_.empty()) python_.add(a.controller);
    add<JointReferenceSource>(a.reference);
    add<TaskReferenceSource>(a.reference);
    for (const auto& [name, contact, observer] : a.observers) {
      if (!observer) throw py::value_error("observers must be observers, '" + name + "' is None");
      uses_.emplace_back(*observer);
    }
    if (py::hasattr(a.plant, "begin_step") || py::hasattr(a.plant, "advance")) python_.add(a.plant);
  }

 private:
  template <class T>
  void add(py::handle object) {
    if (!py::isinstance<T>(object)) return;
    if (auto use = use_if_exclusive(py::cast<const T&>(object))) uses_.push_back(std::move(*use));
  }

  std::vector<Exclusive::Use> uses_;
  PythonUses python_;
};

Logs simulate(const LoopArguments& arguments, int n, const LoopSettings& settings, const Eigen::VectorXd& x0,
              const py::object& integration, const std::optional<std::vector<std::string>>& log,
              const py::object& progress) {
  if (n < 1) throw py::value_error("n must be at least 1, got " + std::to_string(n));
  const PartsInUse in_use(arguments);
  if (py::hasattr(arguments.controller, "reset")) arguments.controller.attr("reset")();
  const double period = settings.dt * settings.steps_per_period;
  auto arm = make_plant(arguments, n);
  const Plant& driven = *arm;
  const auto observers = make_observers(arguments, driven);
  const auto plant = add_actuators(arguments, std::move(arm));
  const auto control = make_control(arguments, *plant);
  const auto sensors = make_sensors(arguments, *plant, period);
  const auto command = make_command(arguments, n, period);
  const auto integrator = make_integrator(integration, arguments.plant, *plant);
  ClosedLoop loop(*plant, *control, *integrator, settings, x0, {sensors.get(), command.get(), observers});
  py::dict labels;
  add_logs(loop, *control, log, labels);
  for (const ObserverTuple& observer : arguments.observers) log_observer(loop, observer, labels);
  {
    const GilRelease release(&driven, control.get(), integrator.get());
    loop.run(make_progress(progress));
  }
  return collect(loop, labels);
}

Eigen::VectorXd to_vector(const ArrayLike& value, const char* name) { return read_up_to_matrix(value, name).reshaped(); }

}  // namespace

std::unique_ptr<Integrator> make_integrator(const py::object& integrator, const py::object& owner, const Plant& plant) {
  const int size = plant.state_size();
  if (!py::isinstance<py::str>(integrator)) return std::make_unique<PythonIntegrator>(integrator, size);
  const auto name = py::cast<std::string>(integrator);
  if (name == "plant") return std::make_unique<OwnIntegrator>(owner, plant.n());
  if (name == "rk4") return std::make_unique<RungeKutta4>(plant);
  if (name == "semi_implicit_euler") return std::make_unique<SemiImplicitEuler>(plant);
  if (name == "implicit_midpoint") return std::make_unique<ImplicitMidpoint>(plant);
  throw py::value_error("integrator must be 'plant', 'rk4', 'semi_implicit_euler' or 'implicit_midpoint', got '" + name +
                        "'");
}

std::unique_ptr<ArmPlant> make_arm(std::shared_ptr<Model> model, std::vector<Payload> payloads,
                                std::vector<ExternalAction> actions) {
  if (model->elastic_count() == 0)
    return std::make_unique<RigidPlant>(std::move(model), std::move(payloads), std::move(actions));
  require_motor_inertia(*model);
  return std::make_unique<ElasticPlant>(std::move(model), std::move(payloads), std::move(actions));
}

std::vector<Payload> read_payloads(const std::vector<PayloadTuple>& tuples) {
  std::vector<Payload> payloads;
  for (const auto& [time, link, parameters] : tuples)
    payloads.push_back({time, link, read_numbers(parameters, "payload parameters", kLinkParameters)});
  return payloads;
}

std::vector<ExternalAction> read_actions(const std::vector<ActionTuple>& tuples, const Model& model) {
  std::vector<ExternalAction> actions;
  for (const auto& [start, stop, frame, values] : tuples) {
    const bool joints = py::isinstance<py::bool_>(frame);
    actions.push_back({start, stop, joints ? -1 : find_frame_index(model, frame),
                       read_numbers(values, "external", joints ? model.n() : 6)});
  }
  return actions;
}

void bind_simulation(py::module_& module) {
  module.def(
      "simulate",
      [](py::object plant, py::object controller, py::object reference, int n, const ArrayLike& x0, double dt,
         int steps_per_period, long periods, long log_every, const ArrayLike& torque_limits,
         std::vector<PayloadTuple> payloads, std::vector<ActionTuple> external, std::optional<Options> sensors,
         std::optional<Options> actuators, std::optional<Options> friction, std::vector<ObserverTuple> observers, const py::object& integrator,
         std::optional<std::vector<std::string>> log, const py::object& progress, bool native_plant,
         bool native_control) {
        const LoopArguments arguments{std::move(plant), std::move(controller), std::move(reference),
                                  std::move(payloads), std::move(external), std::move(sensors),
                                  std::move(actuators), std::move(friction), std::move(observers), native_plant, native_control};
        const LoopSettings settings{dt, steps_per_period, periods, log_every,
                                    not_negative(to_vector(torque_limits, "torque_limits"), "torque_limits")};
        return simulate(arguments, n, settings, to_vector(x0, "x0"), integrator, log, progress);
      },
      py::arg("plant"), py::arg("controller"), py::arg("reference"), py::kw_only(), py::arg("n"), py::arg("x0"), py::arg("dt"),
      py::arg("steps_per_period"), py::arg("periods"), py::arg("log_every"), py::arg("torque_limits"),
      py::arg("payloads"), py::arg("external"), py::arg("sensors"), py::arg("actuators"), py::arg("friction"),
      py::arg("observers"), py::arg("integrator"),
      py::arg("log"), py::arg("progress"), py::arg("native_plant"), py::arg("native_control"),
      "Reset the controller and simulate a closed loop; `thunder_py.simulation.simulate` checks the arguments.");
}

}  // namespace thunder::python
