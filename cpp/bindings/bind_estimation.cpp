// Velocity and acceleration from sampled positions for Python.
#include "control.hpp"
#include "estimation.hpp"
#include "exclusive.hpp"
#include "pickling.hpp"

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

}  // namespace

void bind_estimation(py::module_& module) {
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
