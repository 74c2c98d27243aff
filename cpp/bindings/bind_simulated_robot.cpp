// The simulated arm behind a drive, for Python.
#include "exclusive.hpp"
#include "pickling.hpp"
#include "python_parts.hpp"
#include "realtime.hpp"
#include "simulation.hpp"
#include "thunder/realtime/simulated_robot.hpp"

namespace thunder::python {

namespace {

using namespace realtime;

/// A plant that is written in Python takes the GIL for its steps, and what it raises fails the arm.
class PythonArm final : public SimulatedRobot, public CallsPython {
 public:
  using SimulatedRobot::SimulatedRobot;

 private:
  bool integrate(Plant& plant, Integrator& integrator, double t, double dt, const double* tau, double* x) noexcept override {
    const py::gil_scoped_acquire acquire;
    try {
      return SimulatedRobot::integrate(plant, integrator, t, dt, tau, x);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("the plant of a SimulatedRobot");
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      PyErr_WriteUnraisable(nullptr);
    }
    return false;
  }
};

std::shared_ptr<SimulatedRobot> make_simulated_robot(const py::object& plant, const ArrayLike& state, std::shared_ptr<Model> known,
                                                 double period, double cycle, double watchdog, const ArrayLike& torque_limits,
                                                 const ArrayLike& torque_rate, const std::vector<PayloadTuple>& payloads,
                                                 const std::vector<ActionTuple>& external, bool compensates_gravity,
                                                 bool real_time, int parts, const std::string& integrator) {
  const int n = known->n();
  const bool native = py::isinstance<Model>(plant);
  std::unique_ptr<Plant> arm;
  if (native) {
    auto model = py::cast<std::shared_ptr<Model>>(plant);
    auto actions = read_actions(external, *model);
    arm = make_arm(std::move(model), read_payloads(payloads), std::move(actions));
  } else {
    arm = std::make_unique<PythonPlant>(plant, n);
  }
  auto steps = make_integrator(py::str(integrator), plant, *arm);
  const int size = arm->state_size();
  SimulatedRobot::Settings settings{{period, cycle, watchdog, read_limits(torque_limits, "torque_limits", n),
                                   read_limits(torque_rate, "torque_rate", n)},
                                  read_column(state, "state", size),
                                  std::move(known),
                                  compensates_gravity,
                                  real_time,
                                  parts};
  if (native) return std::make_shared<SimulatedRobot>(std::move(arm), std::move(settings), std::move(steps));
  return std::make_shared<PythonArm>(std::move(arm), std::move(settings), std::move(steps));
}

Array numbers(const double* values, int size) { return Array(size, values); }

/// Number of the reason for a refusal, or None.
std::optional<int> take_command(SimulatedRobot& arm, std::int64_t stamp, std::int64_t now, const py::object& places,
                                py::ssize_t count, py::handle given) {
  const auto refuse = [&](Dropped why) { return static_cast<int>(arm.refuse(stamp, now, why)); };
  if (places.is_none()) return refuse(Dropped::names);
  const auto tau = gather(given, py::cast<Places>(places), count);
  if (!tau || static_cast<int>(tau->size()) != arm.n()) return refuse(Dropped::size);
  const auto why = arm.command(stamp, now, tau->data());
  return why ? std::optional<int>(static_cast<int>(*why)) : std::nullopt;
}

py::typing::Optional<py::tuple> read_drive_state(SimulatedRobot& arm) {
  DriveState state;
  switch (arm.read(state)) {
    case DriveResult::fault: throw std::runtime_error("the drive of the simulated arm reports a fault");
    case DriveResult::nothing: return py::none();
    case DriveResult::ok: break;
  }
  py::object gravity = py::none();
  if (state.gravity != nullptr) gravity = numbers(state.gravity, arm.n());
  return py::make_tuple(state.stamp, numbers(state.q, arm.n()), numbers(state.dq, arm.n()), gravity);
}

}  // namespace

void bind_simulated_robot(py::module_& module) {
  py::class_<Drive, std::shared_ptr<Drive>>(module, "Drive", "Drive of an arm, for loops in C++.");
  ExclusiveClass<SimulatedRobot, Drive, std::shared_ptr<SimulatedRobot>> c(module, "SimulatedRobot",
                                                                       "An arm that is simulated behind a drive.", py::dynamic_attr());
  bind_state(c);
  // not marked as a use: another thread may call it while a loop uses the drive
  static_cast<py::class_<SimulatedRobot, Drive, std::shared_ptr<SimulatedRobot>>&>(c).def(
      "_inject",
      [](SimulatedRobot& arm, int fault, double time) { arm.inject(read_enum<DriveFault>(fault, kDriveFaults, "fault"), time); },
      py::arg("fault"), py::arg("time"));
  c.def(py::init(&make_simulated_robot), py::arg("plant").none(false), py::arg("state"), py::arg("known").none(false),
        py::arg("period"), py::arg("cycle"), py::arg("watchdog"), py::arg("torque_limits"), py::arg("torque_rate"),
        py::arg("payloads"), py::arg("external"), py::arg("compensates_gravity"), py::arg("real_time"), py::arg("parts"),
        py::arg("integrator"))
      .def("_advance", &SimulatedRobot::advance, py::arg("now"))
      .def("_command", &take_command, py::arg("stamp"), py::arg("now"), py::arg("places"), py::arg("count"), py::arg("tau"))
      .def("_start", &SimulatedRobot::start)
      .def("_read", &read_drive_state)
      .def(
          "_write",
          [](SimulatedRobot& arm, const ArrayLike& tau) { return arm.write(read_measurement(tau, "tau", arm.n()).data()); },
          py::arg("tau"))
      .def("stop", [](SimulatedRobot& arm) { arm.stop(); }, "Stop at once by mechanical brakes; commands are valid no more.")
      .def_property_readonly("_state", [](const SimulatedRobot& arm) {
        const int n = arm.n(), e = arm.motors();
        return py::make_tuple(arm.time(), numbers(arm.q(), n), numbers(arm.dq(), n), to_numpy(arm.torque()), arm.safe(),
                              numbers(arm.motor_state(), e), numbers(arm.motor_state() + e, e));
      })
      .def_property_readonly("q", [](const SimulatedRobot& arm) { return numbers(arm.q(), arm.n()); },
                             "Present positions (n,) [rad or m].")
      .def_property_readonly("dq", [](const SimulatedRobot& arm) { return numbers(arm.dq(), arm.n()); },
                             "Present velocities (n,) [rad/s or m/s].")
      .def_property_readonly("running", &SimulatedRobot::running, "Whether it was started and not stopped.")
      .def_property_readonly("failed", &SimulatedRobot::failed, "Whether it reported a fault, or the plant ran away.")
      .def_property_readonly("safe", &SimulatedRobot::safe, "Whether the safe torque acts, for lack of a valid command.")
      .def_property_readonly("slipped", &SimulatedRobot::slipped, "Time that was skipped, because the computer was blocked [s].")
      .def_property_readonly("taken", [](const SimulatedRobot& arm) { return arm.gate().taken(); }, "Number of accepted commands.")
      .def_property_readonly("clipped", &SimulatedRobot::clipped, "Number of commands that were clipped to the torque limits.")
      .def_property_readonly("_refused", [](const SimulatedRobot& arm) { return dropped(arm.gate()); })
      .def_property_readonly("_age", [](const SimulatedRobot& arm) { return arm.age(); })
      .def_property_readonly("largest_step", &SimulatedRobot::largest_step,
                             "Largest step between two commands of a loop, as a part of the torque rate's.");
}

}  // namespace thunder::python
