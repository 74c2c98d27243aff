// The constant-velocity filter and the interceptor for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "pickling.hpp"
#include "thunder/planning/interception/interceptor.hpp"

#include <algorithm>

namespace thunder::python {

namespace {

using A = const ArrayLike&;
using Filter = ConstantVelocityFilter;
using Pair = py::typing::Tuple<Array, Array>;

constexpr const char* kUpdates[] = {"started",   "accepted", "late",   "rejected", "reinitialized",
                                    "duplicate", "too old",  "frozen", "invalid"};
constexpr const char* kPhases[] = {"waiting", "reaching", "closing", "leaving", "finished", "aborted"};
constexpr const char* kReasons[] = {"none",     "no estimate", "silent",       "stopped",
                                    "reversed", "too fast",    "out of reach", "too late"};

template <class Enum, std::size_t Size>
const char* name_of(Enum value, const char* const (&names)[Size]) {
  return names[static_cast<std::size_t>(value)];
}

double finite(double value, const char* name) {
  if (!std::isfinite(value))
    throw py::value_error(std::string(name) + " must be finite, got " + std::string(py::str(py::float_(value))));
  return value;
}

Eigen::Vector3d read_point(py::handle value, const char* name) { return read_column(value, name, 3); }

/// A measured position; one that is not finite is passed on and reported as "invalid".
Eigen::Vector3d read_position(A value) {
  const auto array = read_measurement(value, "position", 3);
  return Eigen::Map<const Eigen::Vector3d>(array.data());
}

Filter make_filter(const std::string& process, double intensity, A R, double velocity_deviation, double gate,
                   int reinitialize_after, int frozen_after) {
  using Process = ConstantVelocitySettings::Process;
  ConstantVelocitySettings settings;
  settings.process = process == "paper" ? Process::paper : process == "discrete" ? Process::discrete : Process::continuous;
  settings.intensity = intensity;
  settings.R = Eigen::Map<const Rows3>(read_array(R, "R", {3, 3}).data());
  settings.velocity_deviation = velocity_deviation;
  settings.gate = gate;
  if (reinitialize_after < 0 || reinitialize_after > Filter::kMostRejected)
    throw py::value_error("reinitialize_after must be 0 to " + std::to_string(Filter::kMostRejected) + ", got " +
                          std::to_string(reinitialize_after));
  settings.reinitialize_after = reinitialize_after;
  settings.frozen_after = frozen_after;
  return Filter(settings);
}

void require_started(const Filter& filter) {
  if (!filter.started()) throw py::value_error("there is no estimate before the first measurement");
}

Pair estimate(const Filter& filter, const py::object& t) {
  require_started(filter);
  Filter::State x;
  Filter::Covariance P;
  filter.at(t.is_none() ? filter.time() : finite(py::cast<double>(t), "t"), x, P);
  return py::make_tuple(to_numpy(Eigen::VectorXd(x)), to_numpy(RowMajor(P)));
}

void bind_filter(py::module_& module) {
  ExclusiveClass<Filter> c(module, "ConstantVelocityFilter", "Kalman filter for motion at constant velocity.");
  bind_state(c);
  c.def(py::init(&make_filter), py::arg("process"), py::arg("intensity"), py::arg("R"), py::arg("velocity_deviation"),
           py::arg("gate"), py::arg("reinitialize_after"), py::arg("frozen_after"))
      .def("reset", &Filter::reset, "Discard all measurements.")
      .def(
          "update",
          [](Filter& filter, double t, A position) { return name_of(filter.update(t, read_position(position)), kUpdates); },
          py::arg("t"), py::arg("position"),
          "Update with a position (3,) [m] from an image taken at t [s]; returns the outcome.")
      .def("estimate", &estimate, py::arg("t") = py::none(),
           "State (6,), position [m] and velocity [m/s], and covariance (6, 6) at time t [s], by default of the newest measurement.")
      .def_property_readonly("started", &Filter::started, "True once there is an estimate.")
      .def_property_readonly("updates", &Filter::updates, "Number of measurements accepted since the last initialization.")
      .def_property_readonly("distance", &Filter::distance, "Squared Mahalanobis distance of the last innovation.")
      .def_property_readonly(
          "time", [](const Filter& filter) { return require_started(filter), filter.time(); },
          "Time of the newest accepted image [s].");
}

double number(const py::dict& from, const char* name) { return py::cast<double>(from[name]); }

InterceptionSettings read_settings(const py::dict& from) {
  using Strategy = InterceptionSettings::Strategy;
  InterceptionSettings s;
  const std::string strategy = py::cast<std::string>(from["strategy"]);
  s.strategy = strategy == "single shot"          ? Strategy::single_shot
               : strategy == "variable structure" ? Strategy::variable_structure
                                                  : Strategy::time_augmentation;
  const std::pair<const char*, Eigen::Vector3d*> points[] = {
      {"reference", &s.reference}, {"direction", &s.direction}, {"low", &s.low}, {"high", &s.high}, {"offset", &s.offset}};
  for (const auto& [name, to] : points) *to = read_point(from[name], name);
  const std::pair<const char*, double*> numbers[] = {
      {"threshold", &s.threshold},
      {"behind", &s.behind},
      {"ahead", &s.ahead},
      {"scale", &s.scale},
      {"lead", &s.lead},
      {"rate", &s.rate},
      {"lag", &s.lag},
      {"longest_reach", &s.longest_reach},
      {"shortest_reach", &s.shortest_reach},
      {"freeze_time", &s.freeze},
      {"closing_time", &s.closing_time},
      {"lift", &s.lift},
      {"leave_time", &s.leave_time},
      {"max_condition_number", &s.max_condition_number},
      {"velocity_limit", &s.velocity_limit},
      {"acceleration_limit", &s.acceleration_limit},
      {"braking", &s.braking},
      {"least_speed", &s.least_speed},
      {"greatest_speed", &s.greatest_speed},
      {"longest_silence", &s.longest_silence},
      {"patience", &s.patience}};
  for (const auto& [name, to] : numbers) *to = number(from, name);
  s.least_updates = py::cast<int>(from["least_updates"]);
  s.order = py::cast<int>(from["order"]);
  return s;
}

std::shared_ptr<Interceptor> make_interceptor(std::shared_ptr<FunctionalPlanner> planner, const Filter& filter,
                                              const py::dict& settings, A start, A R, A goal_rotation) {
  const Exclusive::Use use(filter);
  return std::make_shared<Interceptor>(std::move(planner), filter, read_settings(settings), read_point(start, "start"),
                                       read_rotation(R, "R"), read_point(goal_rotation, "goal_rotation"));
}

/// Times, arrivals, goals, velocities and fallbacks of all plans, a row each.
Array plans(const Interceptor& interceptor) {
  const auto& all = interceptor.plans();
  Array rows({static_cast<py::ssize_t>(all.size()), py::ssize_t{9}});
  double* out = rows.mutable_data();
  for (const PlannedArrival& plan : all) {
    *out++ = plan.time;
    *out++ = plan.arrival;
    for (const Eigen::Vector3d* v : {&plan.goal, &plan.velocity}) out = std::copy_n(v->data(), 3, out);
    *out++ = plan.fallback ? 1.0 : 0.0;
  }
  return rows;
}

using Source = ReferenceSource<TaskReference>;

std::shared_ptr<ScheduledInterception> schedule(std::shared_ptr<Interceptor> interceptor, A taken, A available, A positions) {
  const auto t = read_array(taken, "taken", {-1}), a = read_array(available, "available", {t.size()});
  const auto p = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(positions);  // may hold NaN
  if (!p || p.ndim() != 2 || p.shape(0) != t.size() || p.shape(1) != 3) throw py::value_error(
      "positions must have a row of three numbers for each time");
  std::vector<ScheduledInterception::Measurement> all;
  for (py::ssize_t k = 0; k < t.size(); ++k)
    all.push_back({t.data()[k], a.data()[k], Eigen::Map<const Eigen::Vector3d>(p.data() + 3 * k)});
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.available < y.available; });
  return std::make_shared<ScheduledInterception>(std::move(interceptor), std::move(all));
}

void bind_interceptor(py::module_& module) {
  using I = Interceptor;
  ExclusiveClass<I, std::shared_ptr<I>> interceptor(module, "Interceptor", "One grasp of a moving object, from waiting to lifting.");
  bind_state(interceptor);
  interceptor.def(py::init(&make_interceptor), py::arg("planner").none(false), py::arg("filter"), py::arg("settings"), py::arg("start"),
           py::arg("R"), py::arg("goal_rotation"))
      .def("reset", &I::reset, "Return to waiting and discard all measurements.")
      .def(
          "measure",
          [](I& i, double now, double taken, A position) {
            return name_of(i.measure(now, taken, read_position(position)), kUpdates);
          },
          py::arg("now"), py::arg("taken"), py::arg("position"),
          "Update at time `now` with a position (3,) [m] from an image taken at `taken` [s]: filter, decide and replan where "
          "the current plan would miss. Returns the outcome of the filter.")
      .def("advance", [](I& i, double now) { i.advance(finite(now, "now")); }, py::arg("now"),
           "Advance to time `now` [s]; call once in every control period.")
      .def(
          "at",
          [](const I& i, double t) {
            TaskReference reference;
            i.at(finite(t, "t"), reference);
            return as_tuple(reference);
          },
          py::arg("t"), "Reference (p, R, xi, xi_dot) at a time t [s] not before the last `advance`.")
      .def_property_readonly("phase", [](const I& i) { return name_of(i.phase(), kPhases); })
      .def_property_readonly("reason", [](const I& i) { return name_of(i.reason(), kReasons); })
      .def_property_readonly("arrival", &I::arrival)
      .def_property_readonly("goal", [](const I& i) { return to_numpy(Eigen::VectorXd(i.goal().x)); })
      .def_property_readonly("goal_velocity", [](const I& i) { return to_numpy(Eigen::VectorXd(i.goal().v)); })
      .def_property_readonly("filter", &I::filter, py::return_value_policy::copy, "Copy of the current filter.")
      .def_property_readonly("path", &I::path, py::return_value_policy::copy)
      .def_property_readonly("_plans", &plans);
  using S = ScheduledInterception;
  ExclusiveClass<S, Source, std::shared_ptr<S>> scheduled(module, "ScheduledInterception",
                                                          "Interceptor with a schedule of future measurements.");
  bind_state(scheduled);
  scheduled.def(py::init(&schedule), py::arg("interceptor").none(false), py::arg("taken"), py::arg("available"), py::arg("positions"))
      .def_constant("interceptor", &S::interceptor);
}

MovingTarget target(double time, A position, A velocity) {
  return {finite(time, "time"), read_point(position, "position"), read_point(velocity, "velocity")};
}

void bind_decisions(py::module_& module) {
  module.def(
      "_arrival_time",
      [](const py::dict& settings, double time, A position, A velocity) {
        return arrival_time(read_settings(settings), target(time, position, velocity));
      },
      py::arg("settings"), py::arg("time"), py::arg("position"), py::arg("velocity"));
  module.def(
      "_misses",
      [](const py::dict& settings, double time, A position, A velocity, A goal, double arrival) {
        return misses(read_settings(settings), target(time, position, velocity), read_point(goal, "goal"), arrival);
      },
      py::arg("settings"), py::arg("time"), py::arg("position"), py::arg("velocity"), py::arg("goal"), py::arg("arrival"));
  module.def(
      "_new_arrival",
      [](const py::dict& settings, double time, A position, A velocity, double arrival, double remaining, A hand,
         double frequency, double old_frequency) {
        const ReplanSituation situation{time, arrival, remaining, read_point(hand, "hand"), frequency, old_frequency};
        return new_arrival(read_settings(settings), target(time, position, velocity), situation);
      },
      py::arg("settings"), py::arg("time"), py::arg("position"), py::arg("velocity"), py::arg("arrival"),
      py::arg("remaining"), py::arg("hand"), py::arg("frequency"), py::arg("old_frequency"));
}

}  // namespace

void bind_interception(py::module_& module) {
  bind_filter(module);
  bind_interceptor(module);
  bind_decisions(module);
}

}  // namespace thunder::python
