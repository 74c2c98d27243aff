// Table of contents of the extension.
#include <pybind11/typing.h>

#include "bindings.hpp"
#include "pickling.hpp"
#include "thunder/evaluation.hpp"

namespace py = pybind11;
using namespace thunder;

namespace {

py::typing::Dict<py::str, py::object> build_config() {
  py::typing::Dict<py::str, py::object> config;
#if defined(__clang__)
  config["compiler"] = "clang " __clang_version__;
#else
  config["compiler"] = "gcc " __VERSION__;
#endif
  config["cxx_standard"] = __cplusplus / 100 % 100;
  config["eigen"] = std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                    std::to_string(EIGEN_MINOR_VERSION);
  config["pybind11"] = PYBIND11_TOSTRING(PYBIND11_VERSION_MAJOR) "." PYBIND11_TOSTRING(PYBIND11_VERSION_MINOR);
#ifdef NDEBUG
  config["build_type"] = "release";
#else
  config["build_type"] = "debug";
#endif
  config["batch_instruction_set"] = best_instruction_set() == InstructionSet::avx2 ? "avx2+fma" : "baseline";
  config["max_joints"] = kMaxJoints;
  return config;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "Compute core of thunder_py.";
  module.attr("__version__") = THUNDER_VERSION;
  module.def("build_config", &build_config, "How this extension was built, as a dict.");
  auto model = python::bind_model(module);
  python::bind_quantities(model);
  python::bind_control(module);
  python::bind_estimation(module);
  python::bind_kinematics(module);
  python::bind_simulation(module);
  python::bind_expression(module);
  python::bind_function(module);
  python::bind_symbolic(module);
  python::bind_codegen(module);
  python::enable_pickling(module);
}
