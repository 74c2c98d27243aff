// Module definition of the extension.
#include <pybind11/typing.h>

#include "bindings.hpp"
#include "errors.hpp"
#include "pickling.hpp"
#include "thunder/kernels/kernels.hpp"

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
  config["instruction_set"] = kernels().name;
  py::list available;
  for (const Kernels* table : available_kernels()) available.append(table->name);
  config["instruction_sets"] = available;
  config["max_joints"] = kMaxJoints;
  return config;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "Compute core of thunder_py.";
  module.attr("__version__") = THUNDER_VERSION;
  check_environment();
  module.def("use_instruction_set", &use_kernels, py::arg("name"),
             "Choose the kernels by name, or 'best', for tests and benchmarks; users set ``THUNDER_ISA``.");
  module.def("build_config", &build_config, "Build configuration of this extension, as a dict.");
  python::bind_errors();
  auto model = python::bind_model(module);
  python::bind_quantities(model);
  python::bind_control(module);
  python::bind_estimation(module);
  python::bind_kinematics(module);
  python::bind_safety(module);
  python::bind_realtime(module);
  python::bind_simulation(module);
  python::bind_realtime_loop(module);
  python::bind_expression(module);
  python::bind_function(module);
  python::bind_symbolic(module);
  python::bind_codegen(module);
  python::enable_pickling(module);
  python::refuse_uninitialized(module);
}
