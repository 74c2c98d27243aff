// Limits of states and torques for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "gil.hpp"
#include "pickling.hpp"
#include "realtime.hpp"
#include "thunder/realtime/stopping_distance.hpp"

namespace thunder::python {

namespace {

using namespace realtime;

/// n finite numbers, or null for anything else.
const double* finite_or_null(const py::object& values, int n, std::optional<py::array_t<double>>& kept) {
  auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(values);
  if (!array || array.ndim() != 1 || array.size() != n) return nullptr;
  kept = std::move(array);
  return kept->data();
}

Array limit(Safety& safety, double t, const py::object& tau, const py::object& gravity, bool together) {
  std::optional<py::array_t<double>> demand, added;
  const double* wanted = finite_or_null(tau, safety.n(), demand);
  const double* given = gravity.is_none() ? nullptr : finite_or_null(gravity, safety.n(), added);
  if (!gravity.is_none() && given == nullptr) wanted = nullptr;
  return to_numpy(safety.limit(t, wanted, given, false, together));
}

/// The larger ones of two stops: by the brake at once, and as `Safety` predicts. Of k states, (k, n) and (k,).
py::typing::Tuple<Array, Array> stopping_distances(const std::shared_ptr<Model>& model, const SafetyLimits& limits,
                                                   const ArrayLike& q, const ArrayLike& dq, const ArrayLike& tau) {
  StoppingDistance at_once(model, limits, 1.0, 1), predicted(model, limits, Safety::kTrusted, Safety::kReactionPeriods);
  const py::ssize_t n = model->n();
  const auto q_ = read_array(q, "q", {-1, n});
  const py::ssize_t count = q_.shape(0);
  const auto dq_ = read_array(dq, "dq", {count, n}), tau_ = read_array(tau, "tau", {count, n});
  Array joints({count, n}), tip(count);
  std::fill_n(joints.mutable_data(), joints.size(), 0.0);
  std::fill_n(tip.mutable_data(), count, 0.0);
  for (py::ssize_t k = 0; k < count; ++k) {
    check_signals();
    for (StoppingDistance* const stop : {&at_once, &predicted})
      stop->measure(q_.data(k), dq_.data(k), tau_.data(k), joints.mutable_data(k), tip.mutable_at(k));
  }
  return py::make_tuple(joints, tip);
}

ObstacleSet obstacle_set(const std::vector<std::shared_ptr<Obstacle>>& obstacles) {
  std::vector<MovingObstacle> still;
  for (const auto& obstacle : obstacles) still.push_back({obstacle});
  return ObstacleSet(still);
}

}  // namespace

Eigen::VectorXd read_limits(py::handle value, const char* name, int n) {
  const auto array = read_measurement(value, name, n);
  return Eigen::Map<const Eigen::VectorXd>(array.data(), n);
}

void bind_safety(py::module_& module) {
  module.def(
      "stopping_distances",
      [](const std::shared_ptr<Model>& model, const ArrayLike& torque, const ArrayLike& torque_rate, const ArrayLike& torque_step,
         double period, const ArrayLike& q, const ArrayLike& dq, const ArrayLike& tau) {
        const int n = model->n();
        const Eigen::VectorXd none = Eigen::VectorXd::Constant(n, std::numeric_limits<double>::infinity());
        SafetyLimits limits{-none, none, none, read_limits(torque, "torque", n), read_limits(torque_rate, "torque_rate", n),
                            read_limits(torque_step, "torque_step", n)};
        limits.period = period;
        return stopping_distances(model, limits, q, dq, tau);
      },
      py::arg("model").none(false), py::arg("torque"), py::arg("torque_rate"), py::arg("torque_step"), py::arg("period"),
      py::arg("q"), py::arg("dq"), py::arg("tau"), "Distances of the joints (k, n) and of the end effector (k,) until k stops.");
  ExclusiveClass<Safety, std::shared_ptr<Safety>> c(module, "Safety", "Checks states and limits commands of an arm.",
                                                   py::dynamic_attr());
  bind_state(c);
  c.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& lower, const ArrayLike& upper, const ArrayLike& velocity,
                    const ArrayLike& torque, const ArrayLike& torque_rate, const ArrayLike& torque_step,
                    const std::vector<std::shared_ptr<Obstacle>>& obstacles, double clearance, double lookahead,
                    double patience, double period,
                    const std::optional<std::shared_ptr<ExternalObserver>>& observer) {
          const int n = model->n();
          SafetyLimits limits{read_limits(lower, "lower", n),   read_limits(upper, "upper", n),
                              read_limits(velocity, "velocity", n), read_limits(torque, "torque", n),
                              read_limits(torque_rate, "torque_rate", n), read_limits(torque_step, "torque_step", n),
                              obstacle_set(obstacles), clearance, lookahead, patience, period};
          return std::make_shared<Safety>(std::move(model), std::move(limits), observer ? *observer : nullptr);
        }),
        py::arg("model").none(false), py::arg("lower"), py::arg("upper"), py::arg("velocity"), py::arg("torque"),
        py::arg("torque_rate"), py::arg("torque_step"), py::arg("obstacles"), py::arg("clearance"), py::arg("lookahead"),
        py::arg("patience"), py::arg("period"), py::arg("observer").none(true))
      .def(
          "_check",
          [](Safety& safety, double t, const ArrayLike& q, const ArrayLike& dq) {
            const auto q_ = read_measurement(q, "q", safety.n()), dq_ = read_measurement(dq, "dq", safety.n());
            return static_cast<int>(safety.check(t, q_.data(), dq_.data()));
          },
          py::arg("t"), py::arg("q"), py::arg("dq"))
      .def("_limit", &limit, py::arg("t"), py::arg("tau"), py::arg("gravity"), py::arg("together") = false)
      .def_property(
          "_reason", [](const Safety& safety) { return static_cast<int>(safety.reason()); },
          [](Safety& safety, int reason) {
            safety.set_reason(read_enum<Reason>(reason, kReasons + 1, "reason"));
          })
      .def("reset", &Safety::reset, "Forget the violation; the last command is zero.");
}

}  // namespace thunder::python
