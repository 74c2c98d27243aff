// Adaptation laws for Python.
#include "control.hpp"
#include "thunder/control/natural_law.hpp"

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
}

}  // namespace thunder::python
