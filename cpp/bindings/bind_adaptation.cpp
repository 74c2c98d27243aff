// Adaptation laws, and estimators that apply them, for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "pickling.hpp"
#include "prediction.hpp"
#include "thunder/control/natural_law.hpp"
#include "thunder/control/parameter_estimator.hpp"

#include <optional>

namespace thunder::python {

namespace {

Eigen::VectorXd read_positive(const ArrayLike& value, const char* name) {
  const Eigen::VectorXd v = read_column(value, name, -1);
  if (!(v.array() > 0.0).all()) throw py::value_error(std::string(name) + " must be positive");
  return v;
}

template <class Law>
std::shared_ptr<Law> with_dead_zone(std::shared_ptr<Law> law, const std::optional<ArrayLike>& dead_zone) {
  if (dead_zone) law->set_dead_zone(read_column(*dead_zone, "dead_zone", -1));
  return law;
}

/// Bounds may be infinite, which `read_column` refuses.
Eigen::VectorXd read_bounds(const ArrayLike& value, const char* name, int size) {
  const auto array = read_measurement(value, name, size);
  return Eigen::Map<const Eigen::VectorXd>(array.data(), array.size());
}

Status step_estimator(ParameterEstimator& estimator, double t, const ArrayLike& q, const ArrayLike& dq, const ArrayLike& tau,
                      double hold) {
  const int n = estimator.n();
  const auto q_ = read_measurement(q, "q", n), dq_ = read_measurement(dq, "dq", n), tau_ = read_measurement(tau, "tau", n);
  return estimator.step(t, q_.data(), dq_.data(), tau_.data(), hold);
}

/// A row for each sample; the estimates, y, y - W pihat and W after it, and how many times it was too long for the gains.
py::tuple run_estimator(ParameterEstimator& estimator, const ArrayLike& t, const ArrayLike& q, const ArrayLike& dq,
                        const ArrayLike& tau, double hold) {
  const py::ssize_t n = estimator.n(), p = estimator.model()->parameter_count();
  const auto t_ = read_array(t, "t", {-1});
  const py::ssize_t rows = t_.shape(0);
  const auto q_ = read_array(q, "q", {rows, n}), dq_ = read_array(dq, "dq", {rows, n}), tau_ = read_array(tau, "tau", {rows, n});
  Array estimates({rows, p}), y({rows, n}), errors({rows, n}), W({rows, n, p}), excess(rows);
  py::ssize_t k = 0;
  for (; k < rows; ++k) {
    if (estimator.step(t_.data()[k], q_.data() + k * n, dq_.data() + k * n, tau_.data() + k * n, hold) == Status::diverged) break;
    const PredictionError& prediction = estimator.prediction_error();
    std::copy_n(estimator.adaptive_model().estimate().data(), p, estimates.mutable_data() + k * p);
    std::copy_n(prediction.y().data(), n, y.mutable_data() + k * n);
    std::copy_n(prediction.error().data(), n, errors.mutable_data() + k * n);
    std::copy_n(prediction.W().data(), n * p, W.mutable_data() + k * n * p);
    excess.mutable_data()[k] = estimator.excess();
  }
  return py::make_tuple(k, estimates, y, errors, W, excess);
}

void bind_estimator(py::module_& module) {
  ExclusiveClass<ParameterEstimator, std::shared_ptr<ParameterEstimator>> c(module, "ParameterEstimator",
                                                                            "The estimate of an adaptive controller.");
  bind_state(c);
  bind_estimate(c);
  c.def(py::init([](std::shared_ptr<Model> model, const LawArgument& law, const std::vector<bool>& unknown,
                    const PredictionArguments& prediction, const std::optional<ArrayLike>& K_d) {
          const auto& [route, cutoff, gamma, R_t] = prediction;
          const int n = model->n();
          PredictionError error(make_prediction(model, route, cutoff), gamma, read_gain(R_t, "R_t", n));
          return std::make_shared<ParameterEstimator>(make_adaptive_model(model, unknown, law), std::move(error),
                                                      K_d ? read_gain(*K_d, "K_d", n) : Eigen::MatrixXd());
        }),
        py::arg("model").none(false), py::arg("law"), py::arg("unknown"), py::arg("prediction"), py::arg("K_d"))
      .def_constant("n", &ParameterEstimator::n, "Number of joints.")
      .def("step", &step_estimator, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("tau"), py::arg("hold") = 0.0,
           "Take the state and the torque (n,) at time t [s]; the torque is held for `hold` seconds from then on, and changes\n"
           "evenly to the next one.\n\n"
           "Return ``ok``; ``invalid_input`` for what is not finite, and ``diverged`` until `reset`. These, a pause of 0.1 s\n"
           "and time that does not advance restart the filters; the estimate stays.")
      .def("_run", &run_estimator, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("tau"), py::arg("hold"))
      .def_property_readonly(
          "prediction_error", [](const ParameterEstimator& e) { return to_numpy(e.prediction_error().error()); },
          "y - W pihat (n,) of the last step, before its adaptation.")
      .def_property_readonly("s", [](const ParameterEstimator& e) { return to_numpy(e.s()); },
                             "v - dq (n,) of the last step; zero without K_d.")
      .def_property_readonly("excess", &ParameterEstimator::excess,
                             "How many times too long the last step was for its gains; 1 if it was not.")
      .def("reset", &ParameterEstimator::reset, "Return to the state after construction.");
}

}  // namespace

void bind_adaptation(py::module_& module) {
  py::class_<AdaptationLaw, std::shared_ptr<AdaptationLaw>>(module, "AdaptationLaw", "Adaptation law of the unknown parameters.",
                                                            py::dynamic_attr())
      .def_property_readonly("size", &AdaptationLaw::size, "Number of parameters that adapt.");
  py::class_<GradientLaw, AdaptationLaw, std::shared_ptr<GradientLaw>>(module, "GradientLaw", "Gradient adaptation law.")
      .def(py::init([](const ArrayLike& Gamma, int size, const std::optional<ArrayLike>& lower,
                       const std::optional<ArrayLike>& upper, const std::optional<ArrayLike>& dead_zone) {
             if (size < 1) throw py::value_error("size must be positive, got " + std::to_string(size));
             const Eigen::MatrixXd gain = read_gain(Gamma, "Gamma", size);
             auto law = !lower || !upper ? std::make_shared<GradientLaw>(gain)
                                         : std::make_shared<GradientLaw>(gain, read_bounds(*lower, "lower", size),
                                                                         read_bounds(*upper, "upper", size));
             return with_dead_zone(std::move(law), dead_zone);
           }),
           py::arg("Gamma"), py::arg("size"), py::arg("lower"), py::arg("upper"), py::arg("dead_zone"));
  py::class_<NaturalLaw, AdaptationLaw, std::shared_ptr<NaturalLaw>>(module, "NaturalLaw", "Natural adaptation law.")
      .def(py::init([](const ArrayLike& gamma, const ArrayLike& rest, const std::optional<ArrayLike>& dead_zone) {
             return with_dead_zone(
                 std::make_shared<NaturalLaw>(read_positive(gamma, "gamma"), read_positive(rest, "rest")), dead_zone);
           }),
           py::arg("gamma"), py::arg("rest"), py::arg("dead_zone"));
  bind_estimator(module);
}

}  // namespace thunder::python
