// The control loop of the nodes for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "pickling.hpp"
#include "realtime.hpp"
#include "thunder/realtime/control_loop.hpp"

namespace thunder::python {

namespace {

using namespace realtime;

using MaybePlaces = py::typing::Optional<Places>;
using MaybeReference = py::typing::Optional<Arrays>;
using Answer = py::typing::Optional<py::tuple>;

std::int64_t read_stamp(py::handle value, const char* name) {
  const auto number = read_index(value);
  if (!number) throw py::type_error(std::string(name) + " must be a whole number of nanoseconds");
  return *number;
}

/// A measured state from a message.
struct Message {
  std::int64_t stamp, now;
  std::optional<Dropped> why;          // where the message is no state
  std::vector<double> q, dq;           // of the joints, then of the motors if it lists them

  /// `places` are those of the robot's joints among `count` names; None for other names.
  Message(py::handle stamp_, py::handle now_, const py::object& places, py::ssize_t count, py::handle positions,
          py::handle velocities)
      : stamp(read_stamp(stamp_, "stamp")), now(read_stamp(now_, "now")) {
    if (places.is_none()) {
      why = Dropped::names;
      return;
    }
    const auto at = py::cast<Places>(places);
    auto q_ = gather(positions, at, count), dq_ = gather(velocities, at, count);
    if (q_ && dq_)
      q = std::move(*q_), dq = std::move(*dq_);
    else
      why = Dropped::size;
  }
};

Array array_of(const Span& values) { return Array(values.size, values.data); }

Answer answer(const Command* c) {
  if (c == nullptr) return py::none();
  return py::make_tuple(c->stamp, to_numpy(c->tau), static_cast<int>(c->mode), static_cast<int>(c->reason),
                        static_cast<int>(c->status),
                        array_of(c->error), array_of(c->parameters), c->period, c->latency, c->computing,
                        array_of(c->external), c->contact);
}

Answer answer_state(ControlLoop& loop, py::handle stamp, py::handle now, const py::object& places, py::ssize_t count,
                    py::handle q, py::handle dq) {
  const auto begun = ControlLoop::Clock::now();
  Message message(stamp, now, places, count, q, dq);
  const auto n = static_cast<std::size_t>(loop.n());
  const std::size_t e = loop.law().controller().model()->elastic_joints().size();
  if (!message.why && message.q.size() != n && message.q.size() != n + e) message.why = Dropped::names;
  if (message.why) {
    loop.refuse(message.stamp, message.now, *message.why);
    return py::none();
  }
  const bool motors = message.q.size() > n;
  const Motors measured = motors ? Motors{message.q.data() + n, message.dq.data() + n} : Motors{};
  return answer(loop.state({message.stamp, message.now, message.q.data(), message.dq.data(), measured}, begun));
}

std::shared_ptr<ControlLoop> make_loop(std::shared_ptr<Safety> safety, std::shared_ptr<SafeTorque> brake,
                                       const std::optional<std::shared_ptr<Controller>>& law,
                                       const std::optional<std::shared_ptr<ExternalObserver>>& observer,
                                       const std::optional<std::shared_ptr<Controller>>& known,
                                       const py::KWArgs<py::object>& given) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int n = brake->n();
  ControlLoop::Settings s;
  s.motion = {Eigen::VectorXd::Constant(n, -kInfinity), Eigen::VectorXd::Constant(n, kInfinity),
              Eigen::VectorXd::Constant(n, kInfinity)};
  s.joining_speed = Eigen::VectorXd::Ones(n);
  const auto read = [&](const char* name, auto&& set) {
    if (given.contains(name)) set(given[name]);
  };
  const std::pair<const char*, Eigen::VectorXd*> columns[] = {{"lower", &s.motion.lower}, {"upper", &s.motion.upper},
                                                              {"velocity", &s.motion.velocity},
                                                              {"joining_speed", &s.joining_speed}};
  for (const auto& [name, column] : columns) read(name, [&](py::object value) { *column = read_limits(value, name, n); });
  const std::pair<const char*, double*> numbers[] = {
      {"state_late", &s.state_late}, {"state_lost", &s.state_lost}, {"reference_timeout", &s.reference_timeout},
      {"patience", &s.patience},     {"largest_error", &s.largest_error}, {"watchdog", &s.watchdog}, {"duration", &s.duration}};
  for (const auto& [name, number] : numbers) read(name, [&](py::object value) { *number = py::cast<double>(value); });
  const std::pair<const char*, int*> counts[] = {
      {"invalid_states", &s.invalid_states}, {"most_holds", &s.most_holds}, {"most_missed", &s.most_missed}};
  for (const auto& [name, count] : counts) read(name, [&](py::object value) { *count = py::cast<int>(value); });
  for (const auto& [name, flag] : {std::pair{"recover", &s.recover}, {"run", &s.run}})
    read(name, [&](py::object value) { *flag = py::cast<bool>(value); });
  read("task", [&](py::object value) {
    const Eigen::VectorXd task = read_column(value, "task", 5);
    s.task = {task[0], task[1], task[2], task[3], task[4]};
  });
  read("frame", [&](py::object value) { s.frame = find_frame(*(law ? (*law)->model() : brake->model()), value); });
  return std::make_shared<ControlLoop>(std::move(safety), std::move(brake), law ? *law : nullptr, std::move(s),
                                       observer ? *observer : nullptr, known ? *known : nullptr);
}

/// A step of a run whose torque comes from Python: whether it is wanted, time, q and dq; None where the state is not answered.
py::typing::Optional<py::tuple> begin(ControlLoop& loop, py::handle stamp, const Places& places, py::ssize_t count, py::handle q,
                                      py::handle dq, const std::optional<Array>& gravity) {
  const Message message(stamp, stamp, places, count, q, dq);
  if (message.why) {
    loop.refuse(message.stamp, message.now, *message.why);
    return py::none();
  }
  const bool wants = loop.begin({message.stamp, message.now, message.q.data(), message.dq.data(), {},
                                 gravity ? gravity->data() : nullptr});
  if (!loop.answers()) return py::none();
  return py::make_tuple(wants, loop.t(), Array(loop.n(), message.q.data()), Array(loop.n(), message.dq.data()));
}

/// Demand, command and the reason for a stop.
py::tuple finish(ControlLoop& loop, const std::optional<Array>& tau, int status) {
  const auto found = read_enum<Status>(status, static_cast<int>(Status::invalid_input) + 1, "status");
  const Command* const c = loop.finish(tau ? tau->data() : nullptr, found);
  if (c == nullptr) throw py::value_error("a state must be taken by `begin` before");
  return py::make_tuple(to_numpy(loop.demand()), to_numpy(c->tau), static_cast<int>(loop.report().reason));
}

JointReference read_joint_reference(py::handle parts, int n) {
  const auto given = py::cast<py::tuple>(parts);
  if (given.size() != 3) throw py::value_error("a reference must have q, dq and ddq");
  JointReference result(n);
  result.q = read_column(given[0], "q", n);
  result.dq = read_column(given[1], "dq", n);
  result.ddq = read_column(given[2], "ddq", n);
  return result;
}

void bind_loop(py::module_& module) {
  ExclusiveClass<ControlLoop, std::shared_ptr<ControlLoop>> c(
      module, "ControlLoop", "The loop of `thunder_py.realtime.ControlLoop`, without names and messages.", py::dynamic_attr());
  bind_state(c);
  c.def(py::init(&make_loop), py::arg("safety").none(false), py::arg("brake").none(false), py::arg("law").none(true),
        py::arg("observer").none(true) = py::none(), py::arg("known").none(true) = py::none())
      .def("begin", &begin, py::arg("stamp"), py::arg("places"), py::arg("count"), py::arg("q"), py::arg("dq"),
           py::arg("gravity").none(true),
           "Take a state of a run; whether a torque is wanted, time, q and dq, or None if the loop does not answer it.")
      .def("finish", &finish, py::arg("tau").none(true), py::arg("status"),
           "Return demand, command, and the number of the reason for a stop.")
      .def(
          "request", [](ControlLoop& loop, int reason) { loop.request(read_enum<Reason>(reason, kReasons, "reason")); },
          py::arg("reason"), "Ask for a stop of a run.")
      .def(
          "stop",
          [](ControlLoop& loop, int reason, bool at_once) { loop.stop(read_enum<Reason>(reason, kReasons, "reason"), at_once); },
          py::arg("reason"), py::arg("at_once") = false, "Stop a run.")
      .def_property_readonly("ended", &ControlLoop::ended, "Whether the drive is to be stopped.")
      .def_property_readonly(
          "report",
          [](const ControlLoop& loop) {
            py::typing::Dict<py::str, py::object> result;
            set_report(result, loop.report());
            return result;
          },
          "Outcome of a run so far.")
      .def("state", &answer_state, py::arg("stamp"), py::arg("now"), py::arg("places"), py::arg("count"), py::arg("q"),
           py::arg("dq"),
           "Answer a message of `count` names, whose robot's joints, and motors, are at `places`; None if it is dropped.")
      .def(
          "watch", [](ControlLoop& loop, py::handle now) { return answer(loop.watch(read_stamp(now, "now"))); },
          py::arg("now"), "Return a command if states are late.")
      .def(
          "follow",
          [](ControlLoop& loop, double start, double end, std::optional<std::shared_ptr<JointReferenceSource>> source,
             const py::tuple& first, const py::tuple& last) {
            if (source && (*source)->blank().q.size() != loop.n()) throw py::value_error("a motion must have the joints of the loop");
            loop.follow(std::make_unique<JointMotion>(start, end, source ? *source : nullptr,
                                                      read_joint_reference(first, loop.n()), read_joint_reference(last, loop.n())));
          },
          py::arg("start"), py::arg("end"), py::arg("source").none(true), py::arg("first"), py::arg("last"),
          "Follow a motion from the next state on: a source from start to end [s], then at rest; None for a single point.")
      .def(
          "take_pose",
          [](ControlLoop& loop, double t, const std::array<double, 3>& p, const std::array<double, 4>& quaternion) {
            return static_cast<int>(loop.take_pose(t, p.data(), quaternion.data()));
          },
          py::arg("t"), py::arg("position"), py::arg("quaternion"), "Take a pose; 0, or the number of a refusal.")
      .def(
          "take_twist",
          [](ControlLoop& loop, double t, const std::array<double, 3>& v, const std::array<double, 3>& w) {
            return static_cast<int>(loop.take_twist(t, v.data(), w.data()));
          },
          py::arg("t"), py::arg("linear"), py::arg("angular"), "Take a twist; 0, or the number of a refusal.")
      .def("cancel", &ControlLoop::cancel, "Give the reference up: the arm is held.")
      .def_property_readonly(
          "reference",
          [](const ControlLoop& loop) -> MaybeReference {
            if (const JointReference* joints = loop.joint_reference()) return as_tuple(*joints);
            if (const TaskReference* pose = loop.task_reference()) return as_tuple(*pose);
            return py::none();
          },
          "What the law followed at the last state; None unless it tracked.")
      .def(
          "time_of", [](const ControlLoop& loop, py::handle stamp) { return loop.time_of(read_stamp(stamp, "stamp")); },
          py::arg("stamp"), "Stamp on the loop's clock [s].")
      .def("reset", &ControlLoop::reset, "Reset the state, but not the law.")
      .def_property_readonly(
          "origin",
          [](const ControlLoop& loop) { return loop.has_clock() ? std::optional<std::int64_t>(loop.origin()) : std::nullopt; },
          "Stamp of time 0 of the loop's clock [ns]; None without a state.")
      .def_property_readonly("stamp", [](const ControlLoop& loop) { return loop.gate().last_stamp(); },
                             "Stamp of the last state [ns]; 0 before the first one.")
      .def_property_readonly("t", &ControlLoop::t, "Time of the last state [s].")
      .def_property_readonly("q", [](const ControlLoop& loop) { return to_numpy(loop.q()); },
                             "Positions of the last state, zero before the first one.")
      .def_property_readonly("dq", [](const ControlLoop& loop) { return to_numpy(loop.dq()); }, "Velocities of the last state.")
      .def_property_readonly("task", &ControlLoop::task, "Whether the law follows poses.")
      .def_property_readonly("mode", [](const ControlLoop& loop) { return static_cast<int>(loop.mode()); }, "Number of the mode.")
      .def_property_readonly("reason", [](const ControlLoop& loop) { return static_cast<int>(loop.reason()); },
                             "Number of the reason.")
      .def_property_readonly("contact", &ControlLoop::contact, "Whether the observer's detector reports a contact.")
      .def_property_readonly("taken", [](const ControlLoop& loop) { return loop.gate().taken(); }, "Number of accepted states.")
      .def_property_readonly("dropped", [](const ControlLoop& loop) { return dropped(loop.gate()); },
                             "Numbers of dropped states by reason.")
      .def_property_readonly("motions_refused", &ControlLoop::motions_refused,
                             "Number of motions that could not be joined within the limits.")
      .def_property_readonly("period", [](const ControlLoop& loop) { return loop.period(); }, "Copy of the statistics.")
      .def_property_readonly("latency", [](const ControlLoop& loop) { return loop.latency(); }, "Copy of the statistics.")
      .def_property_readonly("computing", [](const ControlLoop& loop) { return loop.computing(); }, "Copy of the statistics.");
}

double quantile(const Quantiles& quantiles, double part) {
  if (!(part >= 0.0 && part <= 1.0))
    throw py::value_error("part must be from 0 to 1, got " + std::string(py::str(py::float_(part))));
  return quantiles.quantile(part);
}

py::typing::Dict<py::str, py::float_> summary(const Quantiles& quantiles) {
  py::typing::Dict<py::str, py::float_> result;
  result["count"] = quantiles.count();
  result["mean"] = quantiles.mean();
  result["median"] = quantiles.quantile(0.5);
  result["p99"] = quantiles.quantile(0.99);
  result["worst"] = quantiles.worst();
  return result;
}

void bind_quantiles(py::module_& module) {
  py::class_<Quantiles> c(module, "Quantiles", "Quantiles of durations in constant memory.");
  c.def(py::init<>())
      .def(py::pickle(
          [](Quantiles& quantiles) -> py::object {
            StateArchive archive;
            quantiles.archive(archive);
            return state_array(archive);
          },
          [](const py::object& state) {
            Quantiles quantiles;
            set_state(quantiles, read_state(state));
            return quantiles;
          }))
      .def("add", &Quantiles::add, py::arg("seconds"), "Count a duration [s]; NaN is ignored, negative ones count as zero.")
      .def("quantile", &quantile, py::arg("part"),
           "Return a quantile of the durations, at most 4.5 % too large [s].\n\n"
           "Parameters\n----------\npart : float\n    Probability, 0 to 1.")
      .def("summary", &summary, "Return count, mean, median, p99 and worst; times in seconds.")
      .def_property_readonly("count", &Quantiles::count, "Number of durations.")
      .def_property_readonly("worst", &Quantiles::worst, "The longest one [s]; 0 without any.")
      .def_property_readonly("mean", &Quantiles::mean, "Mean [s]; 0 without any.");
}

Array safe_torque(SafeTorque& safe, double t, const ArrayLike& q, const ArrayLike& dq, const std::optional<ArrayLike>& x,
                  const std::optional<ArrayLike>& dx, const std::optional<ArrayLike>& load) {
  const auto q_ = read_measurement(q, "q", safe.n()), dq_ = read_measurement(dq, "dq", safe.n());
  const MeasuredMotors motors(x, dx, x && dx ? safe.motors() : 0);
  const Array load_ = load ? Array(read_measurement(*load, "load", safe.n())) : Array();
  Array tau(safe.n());
  safe.step(t, q_.data(), dq_.data(), motors.view(), tau.mutable_data(), load ? load_.data() : nullptr);
  return tau;
}

void bind_safe_torque(py::module_& module) {
  module.def("braking_rate", &braking_rate, py::arg("period"), "Return the rate of braking [1/s] for a period [s].");
  ExclusiveClass<SafeTorque, std::shared_ptr<SafeTorque>> c(module, "SafeTorque", "Brakes an arm, then holds its position.",
                                                            py::dynamic_attr());
  bind_state(c);
  c.def(py::init([](std::shared_ptr<Model> model, double rate, const ArrayLike& limits, const ArrayLike& torque_rate) {
          const int n = model->n();
          return std::make_shared<SafeTorque>(std::move(model), rate, read_limits(limits, "torque_limits", n),
                                              read_limits(torque_rate, "torque_rate", n));
        }),
        py::arg("model").none(false), py::arg("rate"), py::arg("torque_limits"), py::arg("torque_rate"))
      .def("leave", &SafeTorque::leave, "Discard the held position.")
      .def(
          "step",
          &safe_torque, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("x") = py::none(), py::arg("dx") = py::none(),
          py::arg("load") = py::none(),
          "Return the safe torque (n,); x and dx (e,) are those of the motors of elastic joints, if measured, and load (n,) is "
          "added to the gravity of the model.");
}

}  // namespace

std::optional<std::vector<double>> gather(py::handle from, const Places& places, py::ssize_t count) {
  const auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(from);
  if (!numbers || numbers.ndim() != 1 || numbers.size() != count) return std::nullopt;
  std::vector<double> to;
  for (py::ssize_t k = 0; k < places.size(); ++k) {
    if (places.data()[k] < 0 || places.data()[k] >= count) return std::nullopt;
    to.push_back(numbers.data()[places.data()[k]]);
  }
  return to;
}

Counts dropped(const StateGate& gate) {
  Counts result;
  for (int k = 0; k < kDropped; ++k) result.append(gate.dropped(static_cast<Dropped>(k)));
  return result;
}

void set_report(py::typing::Dict<py::str, py::object>& result, const RunReport& report) {
  const auto set = [&](const char* name, auto value) { result[name] = py::cast(value); };
  set("reason", static_cast<int>(report.reason));
  set("at_once", report.at_once);
  set("at_rest", report.at_rest);
  set("t", report.t);
  set("cycles", report.cycles);
  set("missed", report.missed);
  set("worst_missed", report.worst_missed);
}

void bind_realtime(py::module_& module) {
  bind_quantiles(module);
  bind_safe_torque(module);
  bind_loop(module);
}

}  // namespace thunder::python
