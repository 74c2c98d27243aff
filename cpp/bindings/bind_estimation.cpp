// Derivatives of sampled positions and observers of external torques for Python.
#include "control.hpp"
#include "estimation.hpp"
#include "exclusive.hpp"
#include "pickling.hpp"
#include "thunder/estimation/external_observer.hpp"
#include "thunder/estimation/zero_phase.hpp"

namespace thunder::python {

namespace {

using Pair = py::typing::Tuple<Array, Array>;

std::shared_ptr<Estimation> make_estimation(const std::string& kind, double cutoff, int window, int order) {
  auto estimation = std::make_shared<Estimation>();
  if (kind == "first_order")
    estimation->filter = std::make_unique<FirstOrderDerivative>(0, cutoff);
  else if (kind == "butterworth")
    estimation->filter = std::make_unique<ButterworthDerivative>(0, cutoff);
  else
    estimation->filter = std::make_unique<SavitzkyGolayDerivative>(0, window, order);
  return estimation;
}

void require_period(const Estimation& estimation, double dt) {
  if (!(dt > 0.0) || !std::isfinite(dt)) throw py::value_error("dt must be positive and finite, got " + std::to_string(dt));
  estimation.filter->require_period(dt);
}

Pair step_estimation(Estimation& estimation, double dt, const ArrayLike& q) {
  require_period(estimation, dt);
  const py::ssize_t known = estimation.state ? estimation.state->width() : -1;
  const auto sample = read_measurement(q, "q", known >= 0 ? static_cast<int>(known) : static_cast<int>(py::len(q)));
  if (!estimation.state) estimation.state = estimation.filter->new_state(static_cast<int>(sample.size()));
  estimation.state->step(dt, sample.data());
  return py::make_tuple(to_numpy(estimation.state->dq()), to_numpy(estimation.state->ddq()));
}

/// A row of `q` is a sample.
Pair apply(const Estimation& estimation, double dt, const ArrayLike& q) {
  require_period(estimation, dt);
  const auto samples = read_array(q, "q", {-1, -1});
  const py::ssize_t rows = samples.shape(0), width = samples.shape(1);
  const auto state = estimation.filter->new_state(static_cast<int>(width));
  Array dq({rows, width}), ddq({rows, width});
  for (py::ssize_t k = 0; k < rows; ++k) {
    state->step(dt, samples.data() + k * width);
    std::copy_n(state->dq().data(), width, dq.mutable_data() + k * width);
    std::copy_n(state->ddq().data(), width, ddq.mutable_data() + k * width);
  }
  return py::make_tuple(dq, ddq);
}

Array filter_record(const ArrayLike& signals, const ArrayLike& sections, int padding) {
  const auto given = read_array(signals, "x", {-1, -1});
  const auto filter = read_array(sections, "sections", {-1, 6});
  if (padding < 0 || padding >= given.shape(0)) throw py::value_error("padding must be less than the number of rows");
  Array found({given.shape(0), given.shape(1)});
  const py::gil_scoped_release release;
  Eigen::Map<SignalRows>(found.mutable_data(), found.shape(0), found.shape(1)) =
      zero_phase(Eigen::Map<const SignalRows>(given.data(), given.shape(0), given.shape(1)),
                 Eigen::Map<const FilterSections>(filter.data(), filter.shape(0), 6), padding);
  return found;
}

using BoolArray = py::array_t<bool>;

void write_contacts(const Eigen::VectorXd& contact, bool* to) {
  std::transform(contact.begin(), contact.end(), to, [](double flag) { return flag != 0.0; });
}

int motor_count(const ExternalObserver& observer, const std::optional<ArrayLike>& x, const std::optional<ArrayLike>& dx) {
  const int e = static_cast<int>(observer.elastic_joints().size());
  if (e > 0 && !(x && dx))
    throw py::value_error("x and dx must be given: the springs of elastic joints, not their motors, act on the links");
  return e;
}

Array step_observer(ExternalObserver& observer, double t, const ArrayLike& q, const ArrayLike& dq, const ArrayLike& tau,
                    const std::optional<ArrayLike>& x, const std::optional<ArrayLike>& dx) {
  const int n = observer.n(), e = motor_count(observer, x, dx);
  const auto q_ = read_measurement(q, "q", n), dq_ = read_measurement(dq, "dq", n), tau_ = read_measurement(tau, "tau", n);
  const MeasuredMotors motors(x, dx, e);
  observer.step(t, q_.data(), dq_.data(), tau_.data(), motors.view());
  return to_numpy(observer.estimate());
}

/// A row for each sample; the torque of a row is held until the next one.
Array apply_observer(const ExternalObserver& observer, const ArrayLike& t, const ArrayLike& q, const ArrayLike& dq,
                     const ArrayLike& tau, const std::optional<ArrayLike>& x, const std::optional<ArrayLike>& dx) {
  const int n = observer.n(), size = observer.size(), e = motor_count(observer, x, dx);
  const auto t_ = read_array(t, "t", {-1});
  const py::ssize_t rows = t_.shape(0);
  const auto q_ = read_array(q, "q", {rows, n}), dq_ = read_array(dq, "dq", {rows, n}), tau_ = read_array(tau, "tau", {rows, n});
  std::optional<decltype(read_array(q, "", {rows, n}))> x_, dx_;
  if (e > 0) {
    x_ = read_array(*x, "x", {rows, e});
    dx_ = read_array(*dx, "dx", {rows, e});
  }
  double shortest = 0.0;  // of the steps forward in time
  for (py::ssize_t k = 1; k < rows; ++k) {
    const double dt = t_.data()[k] - t_.data()[k - 1];
    if (dt > 0.0 && (shortest == 0.0 || dt < shortest)) shortest = dt;
  }
  if (rows > 1 && !(shortest > 0.0 && shortest < StepClock::kLongestGap))
    throw py::value_error("t must increase by less than " + std::string(py::str(py::float_(StepClock::kLongestGap))) +
                          " s, got steps of at least " + std::string(py::str(py::float_(shortest))) + " s");
  const auto state = observer.new_state();
  Array result({rows, static_cast<py::ssize_t>(size)});
  for (py::ssize_t k = 0; k < rows; ++k) {
    Motors motors;
    if (e > 0) motors = {x_->data() + k * e, dx_->data() + k * e};
    state->step(t_.data()[k], q_.data() + k * n, dq_.data() + k * n, tau_.data() + std::max<py::ssize_t>(k - 1, 0) * n,
                motors);
    std::copy_n(state->estimate().data(), size, result.mutable_data() + k * size);
  }
  return result;
}

BoolArray contacts(const ExternalObserver& observer) {
  BoolArray result(observer.size());
  std::fill_n(result.mutable_data(), observer.size(), false);
  if (observer.contact() != nullptr) write_contacts(*observer.contact(), result.mutable_data());
  return result;
}

BoolArray detect_contacts(const ArrayLike& residuals, const ArrayLike& thresholds, int samples, double release) {
  const auto r = read_array(residuals, "residuals", {-1, -1});
  const py::ssize_t rows = r.shape(0), size = r.shape(1);
  ContactDetector detector(read_column(thresholds, "thresholds", size), samples, release);
  BoolArray result({rows, size});
  for (py::ssize_t k = 0; k < rows; ++k) {
    detector.step(r.data() + k * size);
    write_contacts(detector.contact(), result.mutable_data() + k * size);
  }
  return result;
}

template <class Observer>
void bind_observer(py::module_& module, const char* name, const char* doc, bool scalar) {
  using C = ExclusiveClass<Observer, ExternalObserver, std::shared_ptr<Observer>>;
  C(module, name, doc)
      .def(py::init([scalar](std::shared_ptr<Model> model, const ArrayLike& bandwidth, int order, double damping_ratio,
                             const std::optional<ArrayLike>& thresholds, int samples, double release) {
             const int size = scalar ? 1 : model->n();
             std::unique_ptr<ContactDetector> detector;
             if (thresholds)
               detector = std::make_unique<ContactDetector>(read_column(*thresholds, "thresholds", size), samples, release);
             return std::make_shared<Observer>(
                 std::move(model), LowPass(read_column(bandwidth, "bandwidth", size), order, damping_ratio),
                 std::move(detector));
           }),
           py::arg("model").none(false), py::arg("bandwidth"), py::arg("order"), py::arg("damping_ratio"),
           py::arg("thresholds") = py::none(), py::arg("samples") = 1, py::arg("release") = 1.0);
}

void bind_observers(py::module_& module) {
  ExclusiveClass<ExternalObserver, std::shared_ptr<ExternalObserver>> c(
      module, "ExternalObserver", "An observer of what acts on an arm from outside.");
  bind_state(c);
  c.def_constant("n", &ExternalObserver::n, "Number of joints.")
      .def("step", &step_observer, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("tau"), py::arg("x") = py::none(),
           py::arg("dx") = py::none(),
           "Return the estimate after the state at time t [s], and set `status` and `contact`.\n\n"
           "`tau` (n,) is the torque held since the previous step; in the first step it is ignored. Models with elastic\n"
           "joints need the positions x and velocities dx (e,) of their motors, for the torque of the springs and dampers,\n"
           "which takes the place of `tau` there; all others do not look at them. NaN does not raise:\n"
           "the status is ``invalid_input`` and the estimate is kept. A missing state is bridged by the next one. A\n"
           "missing torque or time, a pause of 0.1 s and time that does not advance restart the measurement at the\n"
           "present state.")
      .def("apply", &apply_observer, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("tau"), py::arg("x") = py::none(),
           py::arg("dx") = py::none(),
           "Return the estimates for a log, (k, n) or (k, 1), without changing the state of `step`.\n\n"
           "`t` is (k,); `q`, `dq` and `tau` are (k, n); `x` and `dx`, of the motors of elastic joints, (k, e).\n"
           "``tau[i]`` is held from ``t[i]`` to ``t[i + 1]``, as in a `SimulationResult`. A pause of 0.1 s or more restarts\n"
           "the measurement, so rows must be closer.")
      .def_property_readonly(
          "estimate", [](const ExternalObserver& observer) { return to_numpy(observer.estimate()); },
          "Estimate of the last step, (n,) or (1,).")
      .def_property_readonly("contact", &contacts,
                             "Boolean mask of the entries in contact, (n,) or (1,); False without a detector.")
      .def_property_readonly("status", &ExternalObserver::status, "Status of the last step: ``ok`` or ``invalid_input``.")
      .def("reset", &ExternalObserver::reset, "Return to the state after construction.");
  bind_observer<MomentumObserver>(module, "MomentumObserver", "External torque from the generalized momentum.", false);
  bind_observer<EnergyObserver>(module, "EnergyObserver", "Power of the external torque from the energy.", true);
  module.def("detect_contacts", &detect_contacts, py::arg("residuals"), py::arg("thresholds"), py::arg("samples"),
             py::arg("release"), "Contacts (k, m) along residuals (k, m).");
}

}  // namespace

void bind_estimation(py::module_& module) {
  bind_observers(module);
  module.def(
      "butterworth",
      [](int order, double cutoff) {
        if (order < 1 || !(cutoff > 0.0 && cutoff < 0.5)) throw py::value_error("cutoff must be in (0, 0.5) and order from 1 on");
        return to_numpy(RowMajor(butterworth(order, cutoff)));
      },
      py::arg("order"), py::arg("cutoff"), "Second-order sections (k, 6) of a low-pass; `cutoff` in samples^-1.");
  module.def("zero_phase", &filter_record, py::arg("x"), py::arg("sections"), py::arg("padding"),
             "Filter signals (k, n) forwards and backwards, without shift.");
  ExclusiveClass<Estimation, std::shared_ptr<Estimation>> c(module, "DerivativeEstimator",
                                                            "Velocity and acceleration from sampled positions.");
  bind_state(c);
  c.def(py::init(&make_estimation), py::arg("kind"), py::kw_only(), py::arg("cutoff") = 1.0, py::arg("window") = 2,
           py::arg("order") = 1)
      .def("_step", &step_estimation, py::arg("dt"), py::arg("q"))
      .def("_apply", &apply, py::arg("dt"), py::arg("q"))
      .def(
          "reset", [](Estimation& estimation) { estimation.state.reset(); },
          "Discard all samples; the next one is the first.");
}

}  // namespace thunder::python
