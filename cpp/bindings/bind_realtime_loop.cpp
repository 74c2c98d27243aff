// The thread that runs a control loop on a drive in C++, for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "gil.hpp"
#include "realtime.hpp"
#include "thunder/realtime/realtime_loop.hpp"

namespace thunder::python {

namespace {

using namespace realtime;

/// Throws in a process that was forked from the loop's.
RealtimeLoop& here(RealtimeLoop& loop) {
  if (loop.is_here()) return loop;
  PyErr_SetString(PyExc_RuntimeError,
                  "the thread of a RealtimeLoop does not exist in a process that was forked from its own: make the loop in "
                  "the process that runs it");
  throw py::error_already_set();
}

std::shared_ptr<RealtimeLoop> make_realtime_loop(std::shared_ptr<Drive> drive, std::shared_ptr<ControlLoop> loop, int priority,
                                                 int core, bool lock_memory, std::vector<std::string> signals,
                                                 std::size_t log_rows, int log_every) {
  return std::make_shared<RealtimeLoop>(
      std::move(drive), std::move(loop),
      RealtimeLoop::Settings{{priority, core, lock_memory}, std::move(signals), log_rows, log_every});
}

py::typing::Dict<py::str, py::object> statistics(RealtimeLoop& loop) {
  const LoopStatistics s = here(loop).statistics();
  py::typing::Dict<py::str, py::object> result;
  set_report(result, s.report);
  const auto set = [&](const char* name, auto&& value) { result[name] = py::cast(value); };
  set("overruns", s.overruns);
  set("period", s.period);
  set("latency", s.latency);
  set("computing", s.computing);
  set("settings_errors", std::make_tuple(s.outcome.priority, s.outcome.core, s.outcome.memory));
  set("minor_faults", s.usage.minor_faults);
  set("major_faults", s.usage.major_faults);
  set("waits", s.usage.waits);
  set("preemptions", s.usage.preemptions);
  set("processor_time", s.usage.processor);
  set("thread", s.thread);
  set("mode", static_cast<int>(s.mode));
  set("why", static_cast<int>(s.why));
  set("refused", s.refused);
  set("drive_stopped", s.drive_stopped);
  set("log_dropped", loop.dropped_rows());
  return result;
}

Array drain(RealtimeLoop& loop) {
  std::vector<double> rows;
  here(loop).drain(rows);
  const auto width = static_cast<py::ssize_t>(loop.row_width());
  return Array({static_cast<py::ssize_t>(rows.size()) / width, width}, rows.data());
}

/// A reference whose values depend on nothing but the time, as another thread evaluates it.
template <class Source>
std::shared_ptr<Source> timed(const std::shared_ptr<Source>& source) {
  if (source == nullptr) throw py::type_error("reference must not be None");
  if (dynamic_cast<const Exclusive*>(source.get()) != nullptr)
    throw py::value_error("reference must depend on the time only, got one with a state of its own");
  return source;
}

void require_stop(int reason) { read_enum<Reason>(reason, kReasons, "reason"); }

}  // namespace

void bind_realtime_loop(py::module_& module) {
  bind_simulated_robot(module);
  py::class_<RealtimeLoop, std::shared_ptr<RealtimeLoop>>(module, "RealtimeLoop", "A control loop in a thread of its own.")
      .def(py::init(&make_realtime_loop), py::arg("drive").none(false), py::arg("loop").none(false), py::arg("priority"),
           py::arg("core"), py::arg("lock_memory"), py::arg("signals"), py::arg("log_rows"), py::arg("log_every"))
      .def(
          "start",
          [](RealtimeLoop& loop) {
            here(loop);
            const GilRelease release;
            loop.start();
          },
          "Start the thread.")
      .def(
          "request",
          [](RealtimeLoop& loop, int reason) {
            require_stop(reason);
            here(loop).request(static_cast<Reason>(reason));
          },
          py::arg("reason"), "Ask for a stop.")
      .def(
          "wait",
          [](RealtimeLoop& loop, double seconds) {
            here(loop);
            const GilRelease release;
            return loop.wait(seconds);
          },
          py::arg("seconds"), "Wait for the end, at most for a time; true once it has come.")
      .def("_follow_joints",
           [](RealtimeLoop& loop, const std::shared_ptr<JointReferenceSource>& source) { here(loop).follow(timed(source)); },
           py::arg("reference"))
      .def("_follow_task",
           [](RealtimeLoop& loop, const std::shared_ptr<TaskReferenceSource>& source) { here(loop).follow(timed(source)); },
           py::arg("reference"))
      .def(
          "exchange", [](RealtimeLoop& loop, std::shared_ptr<Controller> law) { here(loop).exchange(std::move(law)); },
          py::arg("law"), "Exchange the controller; the estimate goes on.")
      .def(
          "adapt", [](RealtimeLoop& loop, const std::vector<bool>& moving) { here(loop).adapt(moving); }, py::arg("moving"),
          "Choose the parameters that adapt, of all.")
      .def("drain", &drain, "Rows of the log since the last call, (k, width).")
      .def("statistics", &statistics, "What the loop has measured, by name.")
      .def_property_readonly("running", &RealtimeLoop::running, "Whether the thread was started and has not ended.")
      .def_property_readonly("here", &RealtimeLoop::is_here, "Whether the thread is one of this process.")
      .def_property_readonly(
          "logged",
          [](const RealtimeLoop& loop) {
            std::vector<std::pair<std::string, int>> names;
            for (const Signal& signal : loop.logged()) names.emplace_back(signal.name, signal.size());
            return names;
          },
          "Names and sizes of the logged signals.");
}

}  // namespace thunder::python
