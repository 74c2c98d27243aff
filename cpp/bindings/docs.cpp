#include "docs.hpp"

#include <algorithm>

#include "thunder/kernels/quantities.hpp"

namespace thunder::python {

namespace {

std::string describe(const std::string& input) {
  if (input == "q") return "Joint positions [rad or m].";
  if (input == "dq") return "Joint velocities [rad/s or m/s].";
  if (input == "ddq") return "Joint accelerations [rad/s^2 or m/s^2].";
  if (input == "d3q") return "Joint jerks [rad/s^3 or m/s^3].";
  if (input == "d4q") return "Derivatives of the joint jerks [rad/s^4 or m/s^4].";
  if (input == "x") return "Motor positions of the elastic joints, seen at the joint [rad or m].";
  if (input == "dx") return "Motor velocities of the elastic joints [rad/s or m/s].";
  if (input == "ddx") return "Motor accelerations of the elastic joints [rad/s^2 or m/s^2].";
  if (input == "dq_r") return "Reference velocities [rad/s or m/s].";
  if (input == "ddq_r") return "Reference accelerations [rad/s^2 or m/s^2].";
  if (input == "s") return "Joint vector that multiplies the transposed regressor.";
  if (input == "pi") return "Parameters, in the order of ``parameter_names``.";
  return "Joint torques or forces [N m or N].";
}

std::string theory_page(const std::string& kernel) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return kernel.find(name) != std::string::npos; });
  };
  if (is_one_of({"dynamics_derivatives", "partial_derivatives", "regressor_products"})) return "derivatives.md";
  if (is_one_of({"regressor", "matrix_algebra"})) return "theory/regressors.md";
  return is_one_of({"kinematics", "jacobian", "manipulability"}) ? "theory/kinematics.md" : "theory/dynamics.md";
}

/// A batch of the Panda's states. Bundled robots have no elastic joints.
std::string example(const QuantityInfo& quantity) {
  if (quantity.motor_inputs != 0) return "";
  std::string names, values, shape = "10, 7";
  int vectors = 0;
  for (int k = 0; k < quantity.input_count; ++k) {
    const bool parameters = is_of_parameters(quantity.inputs[k]);
    values += std::string(k ? ", " : "") + (parameters ? "robot.parameters" : quantity.inputs[k]);
    if (!parameters) names += std::string(vectors++ ? ", " : "") + quantity.inputs[k];
  }
  if (vectors > 1) shape = std::to_string(vectors) + ", " + shape;
  std::string text = "\nExamples\n--------\n>>> import numpy as np\n>>> import thunder_py as th\n";
  text += ">>> robot = th.Robot.load(\"panda\")\n>>> " + names + " = np.full((" + shape + "), 0.5)  # 10 states\n";
  text += ">>> robot." + std::string(quantity.name) + "(" + values + ").shape\n(10,";
  const Shape result = quantity.shape(Sizes{7, 70, 6, 0, 0, 0, 0});
  for (int k = 0; k < result.rank; ++k) text += (k ? ", " : " ") + std::to_string(result.dims[k]);
  return text + ")\n";
}

}  // namespace

std::string numpydoc(const QuantityInfo& quantity) {
  const char* const* inputs = quantity.inputs;
  const int count = quantity.input_count;
  std::string text = std::string(quantity.summary) + "\n\nParameters\n----------\n";
  for (int k = 0; k < count; ++k)
    text += std::string(inputs[k]) + " : (..., " + (is_of_motors(inputs[k]) ? "e" : is_of_parameters(inputs[k]) ? "p" : "n") + ") array_like\n    " +
            describe(inputs[k]) + "\n";
  if (quantity.takes_frame) text += "frame : int or str, optional\n    Link index (0 is the base), frame name; default the end effector.\n";
  if (quantity.takes_rows) text += "rows : sequence of int, optional\n    Rows of the Jacobian in the task, 0-5; default all six.\n";
  text += "out : ndarray, optional\n    Result array to fill: float64, C-contiguous, of the exact shape.\n";
  text += "threads : int, default 1\n    Threads for a batch; 0 is one per core.\n";
  text += std::string("\nReturns\n-------\n") + quantity.returns + "\n";
  text += "\nRaises\n------\nValueError\n    For a wrong shape or type, or a value that is not finite";
  text += std::any_of(inputs, inputs + count, is_of_motors) ? "; for a robot without elastic joints.\n" : ".\n";
  text += "\nNotes\n-----\n";
  if (*quantity.notes) text += std::string(quantity.notes) + "\n\n";
  text += std::string("Kernel: ``cpp/include/thunder/") + quantity.kernel + "``; theory: ``docs/" +
          theory_page(quantity.kernel) + "``.\n";
  return text + example(quantity);
}

}  // namespace thunder::python
