// Arguments shared by the bindings of simulations.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "control.hpp"
#include "thunder/simulation/integrators.hpp"

namespace thunder::python {

using PayloadTuple = std::tuple<double, int, ArrayLike>;                // time, link, REG parameters
using ActionTuple = std::tuple<double, double, py::object, ArrayLike>;  // start, stop, frame or False for joints, values

std::vector<Payload> read_payloads(const std::vector<PayloadTuple>& tuples);
std::vector<ExternalAction> read_actions(const std::vector<ActionTuple>& tuples, const Model& model);
std::unique_ptr<ArmPlant> make_arm(std::shared_ptr<Model> model, std::vector<Payload> payloads, std::vector<ExternalAction> actions);
/// A name, "plant" for that of the owner, or a Python function for `PythonIntegrator`.
std::unique_ptr<Integrator> make_integrator(const py::object& integrator, const py::object& owner, const Plant& plant);

}  // namespace thunder::python
