// Statuses and the base classes of controllers for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "pickling.hpp"

#include <pybind11/native_enum.h>

#include <optional>

namespace thunder::python {

Eigen::MatrixXd solve_lyapunov(const Eigen::MatrixXd& K_p, const Eigen::MatrixXd& K_v, const Eigen::MatrixXd& Q) {
  const Eigen::Index n = K_p.rows();
  RowMajor H = RowMajor::Zero(2 * n, 2 * n), minus_Q = -Q;
  H.topRightCorner(n, n).setIdentity();
  H.bottomLeftCorner(n, n) = -K_p;
  H.bottomRightCorner(n, n) = -K_v;
  const RowMajor H_transposed = H.transpose();
  const py::object solve = py::module_::import("scipy.linalg").attr("solve_continuous_lyapunov");
  const auto P = py::cast<py::array_t<double, py::array::c_style | py::array::forcecast>>(
      solve(to_numpy(H_transposed), to_numpy(minus_Q)));
  const Eigen::Map<const RowMajor> found(P.data(), 2 * n, 2 * n);
  return 0.5 * (found + found.transpose());
}

namespace {

NamedArrays signal_arrays(const Controller& controller) {
  NamedArrays result;
  for (const Signal& signal : controller.signals())
    result[py::str(signal.name)] = Array(signal.size(), signal.data);
  return result;
}

template <class Reference>
Array step(TrackingController<Reference>& controller, double t, const ArrayLike& q, const ArrayLike& dq,
           py::handle reference, const std::optional<ArrayLike>& x, const std::optional<ArrayLike>& dx) {
  if (controller.sees_motors() && !(x && dx))
    throw py::value_error("x and dx must be given: this controller sees the motors of elastic joints");
  const MeasuredMotors motors(x, dx, controller.sees_motors() ? controller.model()->elastic_count() : 0);
  const auto q_ = read_measurement(q, "q", controller.n()), dq_ = read_measurement(dq, "dq", controller.n());
  Reference desired = blank(controller);
  read_reference(reference, desired, controller.reference_order());
  Array tau(controller.n());
  controller.step(t, q_.data(), dq_.data(), desired, tau.mutable_data(), motors.view());
  controller.rethrow();
  return tau;
}

template <class Reference>
void bind_step(py::module_& module, const char* name, const char* doc) {
  using C = TrackingController<Reference>;
  ExclusiveClass<C, Controller, std::shared_ptr<C>>(module, name, doc)
      .def("step", &step<Reference>, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("reference"),
           py::arg("x") = py::none(), py::arg("dx") = py::none(),
           "Compute the torque (n,) [N m or N] at time t [s] and set `status`.\n\n"
           "Controllers with `sees_motors` need the positions x and velocities dx (e,) of the motors of elastic joints;\n"
           "all others do not look at them.\n\n"
           "A NaN in the input does not raise: the status is ``invalid_input``. With an invalid reference the arm is\n"
           "held; without a measurement the torque is gravity compensation minus ``K_d dq``.");
}

}  // namespace

void bind_control(py::module_& module) {
  py::native_enum<Status>(module, "Status", "enum.IntEnum", "Result of a control step.\n\n"
                           "Examples\n--------\n>>> import thunder_py as th\n>>> th.control.Status.ok.name\n'ok'\n"
                           ">>> th.control.Status(1).name\n'saturated'\n")
      .value("ok", Status::ok)
      .value("saturated", Status::saturated)
      .value("singular", Status::singular)
      .value("diverged", Status::diverged)
      .value("invalid_input", Status::invalid_input)
      .finalize();
  const py::object cls = module.attr("Status");
  cls.attr("__str__") = py::cpp_function([](const py::object& status) -> py::str { return status.attr("name"); },
                                         py::name("__str__"), py::is_method(cls));
  cls.attr("__format__") = py::cpp_function(
      [](const py::object& status, const py::object& form) -> py::str { return status.attr("name").attr("__format__")(form); },
      py::name("__format__"), py::is_method(cls));
  bind_references(module);
  bind_adaptation(module);
  bind_planning(module);
  ExclusiveClass<Controller, std::shared_ptr<Controller>> controller(module, "Controller", "A control law with its state.");
  bind_state(controller);
  controller.attr("__repr__") = py::cpp_function(
      [](const py::object& self) {
        const auto& law = py::cast<const Controller&>(self);
        return py::str("<{} of {}, {}>").format(py::type::of(self).attr("__name__"), law.model()->name(), law.status());
      },
      py::name("__repr__"), py::is_method(controller));
  controller.def_constant("n", &Controller::n, "Number of joints.")
      .def_constant("sees_motors", &Controller::sees_motors,
                    "Whether `step` needs the state of the motors of elastic joints.")
      .def_property_readonly("status", &Controller::status, "Status of the last step.")
      .def_property_readonly("signals", &signal_arrays, "Copies of the signals of the last step, by name.")
      .def_property(
          "torque_limits",
          [](const Controller& controller) -> py::typing::Optional<Array> {
            if (controller.torque_limits().size() == 0) return py::none();
            return to_numpy(controller.torque_limits());
          },
          [](Controller& controller, const std::optional<ArrayLike>& limits) {
            const int n = controller.n();
            if (!limits) return controller.set_torque_limits({});
            if (PyFloat_Check(limits->ptr()) || PyLong_Check(limits->ptr()))
              return controller.set_torque_limits(Eigen::VectorXd::Constant(n, py::cast<double>(*limits)));
            const auto given = read_measurement(*limits, "torque_limits", n);  // infinity: unlimited
            controller.set_torque_limits(Eigen::Map<const Eigen::VectorXd>(given.data(), n));
          },
          "Symmetric torque limits [N m or N]: a number, (n,) or None (no limits, the default). The status is\n"
          "``saturated`` where they clip the torque. The robot's effort limits are ``robot.limits.effort``.")
      .def("reset", &Controller::reset, "Return to the state after construction.")
      .def(
          "_hold_rate",
          [](Controller& controller, double period, const ArrayLike& q) {
            return controller.hold_rate(period, read_measurement(q, "q", controller.n()).data());
          },
          py::arg("period"), py::arg("q"), "Return the rate of a hold for a period [1/s].")
      .def(
          "_unmodeled_gravity",
          [](Controller& controller, const ArrayLike& q, const std::shared_ptr<Model>& known) {
            if (!known || known->n() != controller.n()) throw py::value_error("known must have the joints of the controller's robot");
            Evaluator gravity(known);
            Array tau(controller.n());
            controller.unmodeled_gravity(read_measurement(q, "q", controller.n()).data(), gravity, tau.mutable_data());
            return tau;
          },
          py::arg("q"), py::arg("known"),
          "Return the gravity (n,) that the estimate knows beyond another model of the robot.");
  bind_step<JointReference>(module, "JointController", "A controller that follows joint-space references.");
  bind_step<TaskReference>(module, "TaskController", "A controller that follows task-space references.");
  bind_joint_controllers(module);
  bind_task_controllers(module);
  bind_elastic_controllers(module);
  bind_length_adaptation(module);
}

}  // namespace thunder::python
