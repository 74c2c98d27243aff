// Closed-loop inverse kinematics for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "gil.hpp"
#include "kinematics.hpp"
#include "pickling.hpp"
#include "realtime.hpp"
#include "thunder/kinematics/follow.hpp"
#include "thunder/kinematics/sampled_reference.hpp"

#include <optional>

namespace thunder::python {

namespace {

using Objective = std::shared_ptr<NullObjective>;
template <class Concrete>
using ObjectiveClass = py::class_<Concrete, NullObjective, std::shared_ptr<Concrete>>;

struct ClikOptions {
  py::dict values;
  template <class T>
  T get(const char* name) const {
    return py::cast<T>(values[name]);
  }
};

std::shared_ptr<Clik> make_clik(std::shared_ptr<Model> model, const py::object& frame, int mask, int orientation,
                                const py::dict& given) {
  const ClikOptions o{given};
  const int n = model->n();
  const Frame<double> at = find_frame(*model, frame);
  const TaskRows rows{require_row_mask(mask)};
  const auto kind = read_enum<OrientationKind>(orientation, 6, "orientation");
  Clik::Settings s;
  s.method = read_enum<Clik::Method>(o.get<int>("method"), 4, "method");
  s.order = o.get<int>("order");
  s.K = read_gain(given["K"], "K", rows.count());
  if (s.order == 2) s.K_D = read_gain(given["K_D"], "K_D", rows.count());
  s.damping = o.get<double>("damping");
  s.threshold = o.get<double>("threshold");
  s.measure = read_enum<Clik::Measure>(o.get<int>("measure"), 2, "measure");
  s.null_damping = o.get<double>("null_damping");
  s.largest_condition = o.get<double>("largest_condition");
  s.limits.lower = read_limits(given["lower"], "lower", n);
  s.limits.upper = read_limits(given["upper"], "upper", n);
  s.limits.velocity = read_limits(given["velocity_limits"], "velocity_limits", n);
  s.limits.acceleration = read_limits(given["acceleration_limits"], "acceleration_limits", n);
  s.period = o.get<double>("period");
  if (!given["objective"].is_none()) s.objective = o.get<Objective>("objective");
  return std::make_shared<Clik>(std::move(model), at, rows, kind, std::move(s));
}

/// Step of the CLIK; a NaN in the state is reported by its status.
Array step_clik(Clik& clik, const ArrayLike& q, const py::object& dq, py::handle reference, const py::object& dq_0) {
  const int n = clik.n();
  const auto q_ = read_measurement(q, "q", n);
  if (clik.needs_velocities() && dq.is_none())
    throw py::value_error(std::string("dq must be an array for a CLIK ") +
                          (clik.order() == 2 ? "of order 2" : "with acceleration limits") + ", got None");
  const auto dq_ = dq.is_none() ? q_ : read_measurement(dq, "dq", n);
  TaskReference desired;
  read_reference(reference, desired);
  const auto null = dq_0.is_none() ? q_ : read_measurement(dq_0, "null-space velocity", n);
  Array out(n);
  clik.step(q_.data(), dq_.data(), desired, dq_0.is_none() ? nullptr : null.data(), out.mutable_data());
  return out;
}

void set_tool(Clik& clik, const ArrayLike& tool) {
  const auto T = read_array(tool, "tool", {4, 4});
  const double* d = T.data();
  clik.set_tool({{d[0], d[1], d[2], d[4], d[5], d[6], d[8], d[9], d[10]}, {d[3], d[7], d[11]}});
}

FollowCallbacks make_callbacks(const py::object& reference, const py::object& null_velocity, int n) {
  FollowCallbacks callbacks;
  if (py::isinstance<TaskReferenceSource>(reference)) {
    const auto source = py::cast<std::shared_ptr<TaskReferenceSource>>(reference);
    callbacks.target = [source](double t, TaskReference& desired) {
      source->advance(t);
      source->at(t, desired);
    };
  } else {
    callbacks.target = [reference](double t, TaskReference& desired) { read_reference(reference(t), desired); };
  }
  if (!null_velocity.is_none())
    callbacks.null_velocity = [null_velocity, n](double t, const double* q, double* dq_0) {
      const py::object result = null_velocity(t, Array(n, q));
      const auto values = read_measurement(result, "result of objective", n);
      std::copy_n(values.data(), n, dq_0);
    };
  callbacks.poll = check_signals;
  return callbacks;
}

py::dict run(Clik& clik, const py::object& reference, const py::object& null_velocity, const ArrayLike& q0,
             const ArrayLike& dq0, double dt, long steps, bool runge_kutta) {
  constexpr long kMostSteps = 5000000;  // all are kept: about a gigabyte for seven joints
  if (steps < 0 || steps > kMostSteps)
    throw py::value_error("steps must be 0 to " + std::to_string(kMostSteps) + ", got " + std::to_string(steps));
  const int n = clik.n();
  const auto use = py::isinstance<TaskReferenceSource>(reference)
                       ? use_if_exclusive(py::cast<const TaskReferenceSource&>(reference))
                       : std::nullopt;
  const ClikTrace trace = follow(clik, make_callbacks(reference, null_velocity, n), read_column(q0, "q0", n),
                                 read_column(dq0, "dq0", n), {dt, steps, runge_kutta});
  py::dict result;
  result["t"] = to_numpy(trace.t);
  result["q"] = to_numpy(trace.q);
  result["dq"] = to_numpy(trace.dq);
  result["ddq"] = to_numpy(trace.ddq);
  result["error"] = to_numpy(trace.error);
  result["manipulability"] = to_numpy(trace.manipulability);
  py::array_t<std::int64_t> statuses(static_cast<py::ssize_t>(trace.status.size()));
  std::transform(trace.status.begin(), trace.status.end(), statuses.mutable_data(),
                 [](Status s) { return static_cast<std::int64_t>(s); });
  result["status"] = statuses;
  return result;
}

void bind_objectives(py::module_& module) {
  py::class_<NullObjective, Objective>(module, "NullObjective", "Secondary objective: joint velocities in the null space of a task.", py::dynamic_attr())
      .def(
          "velocity",
          [](const NullObjective& objective, const ArrayLike& q) {
            const Eigen::VectorXd q_ = read_column(q, "q", objective.n());
            Array dq_0(q_.size());
            objective.velocity(thread_workspace(objective.n()), q_.data(), dq_0.mutable_data());
            return dq_0;
          },
          py::arg("q"), "Joint velocities (n,) [rad/s or m/s].");
  ObjectiveClass<ManipulabilityObjective>(module, "ManipulabilityObjective", "Objective that increases the manipulability.")
      .def(py::init([](std::shared_ptr<Model> model, const py::object& frame, int mask, double gain) {
             const Frame<double>& at = find_frame(*model, frame);
             return std::make_shared<ManipulabilityObjective>(std::move(model), at, TaskRows{require_row_mask(mask)}, gain);
           }),
           py::arg("model").none(false), py::arg("frame"), py::arg("mask"), py::arg("gain"));
  ObjectiveClass<JointLimitObjective>(module, "JointLimitObjective", "Objective that attracts joints to the middle of their ranges.")
      .def(py::init([](const Model& model, const ArrayLike& lower, const ArrayLike& upper, double gain) {
             return std::make_shared<JointLimitObjective>(read_limits(lower, "lower", model.n()),
                                                          read_limits(upper, "upper", model.n()), gain);
           }),
           py::arg("model").none(false), py::arg("lower"), py::arg("upper"), py::arg("gain"));
  ObjectiveClass<PostureObjective>(module, "PostureObjective", "Objective that attracts the joints to a posture.")
      .def(py::init([](const Model& model, const ArrayLike& posture, double gain) {
             return std::make_shared<PostureObjective>(read_column(posture, "posture", model.n()), gain);
           }),
           py::arg("model").none(false), py::arg("posture"), py::arg("gain"));
}

}  // namespace

void bind_clik(py::module_& module) {
  bind_objectives(module);
  ExclusiveClass<Clik, std::shared_ptr<Clik>> clik(module, "Clik", "Closed-loop inverse kinematics.");
  bind_state(clik);
  clik.def(py::init(&make_clik), py::arg("model").none(false), py::arg("frame"), py::arg("mask"), py::arg("orientation"),
           py::arg("settings"))
      .def_constant("n", &Clik::n, "Number of joints.")
      .def_constant("order", &Clik::order, "1 for joint velocities, 2 for accelerations.")
      .def_property_readonly("status", &Clik::status, "Status of the last step.")
      .def_property_readonly(
          "error", [](const Clik& clik) { return to_numpy(Eigen::VectorXd(clik.error())); },
          "Task error of the last step, (m,).")
      .def("_set_tool", &set_tool, py::arg("tool"), "See CLIK.set_tool.")
      .def("_step", &step_clik, py::arg("q"), py::arg("dq"), py::arg("reference"), py::arg("dq_0"), "See CLIK.step.")
      .def("_follow", &run, py::arg("reference"), py::arg("null_velocity"), py::arg("q0"), py::arg("dq0"),
           py::arg("dt"), py::arg("steps"), py::arg("runge_kutta"), "See CLIK.follow.");
  py::class_<SampledJointReference, JointReferenceSource, std::shared_ptr<SampledJointReference>>(
      module, "SampledJointReference", "A joint-space reference through samples.")
      .def(py::init([](double dt, const ArrayLike& q, const ArrayLike& dq) {
             const auto q_ = read_array(q, "q", {-1, -1}), dq_ = read_array(dq, "dq", {-1, -1});
             using Map = Eigen::Map<const RowMajor>;
             return std::make_shared<SampledJointReference>(dt, Map(q_.data(), q_.shape(0), q_.shape(1)),
                                                            Map(dq_.data(), dq_.shape(0), dq_.shape(1)));
           }),
           py::arg("dt"), py::arg("q"), py::arg("dq"));
}

}  // namespace thunder::python
