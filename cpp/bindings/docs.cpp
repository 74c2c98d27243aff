#include "docs.hpp"

#include <algorithm>
#include <stdexcept>

#include "thunder/kernels/quantities.hpp"

namespace thunder::python {

namespace {

const QuantityDoc kDocs[] = {
    {"forward_kinematics", "dynamics/forward_kinematics.hpp",
     "Pose of a frame in the world.", "(..., 4, 4) array [m]", ""},
    {"jacobian", "dynamics/jacobian.hpp",
     "Geometric Jacobian of a frame: world axes, linear rows 0-2, angular rows 3-5.", "(..., 6, n) array",
     "xi = J(q) dq (Thunder article, eq. 3)."},
    {"jacobian_dot", "dynamics/jacobian.hpp",
     "Time derivative of the geometric Jacobian along dq.", "(..., 6, n) array", ""},
    {"mass_matrix", "dynamics/mass_matrix.hpp",
     "Mass matrix M(q), rotors and armature included.", "(..., n, n) array [kg m^2, kg m, kg]", ""},
    {"coriolis_matrix", "dynamics/coriolis.hpp",
     "Coriolis matrix C(q, dq) of Christoffel symbols.", "(..., n, n) array",
     "M_dot - 2 C is skew-symmetric and C dq is the Coriolis torque. Composite form of the factorization of Echeandia "
     "and Wensing (2021)."},
    {"mass_and_coriolis", "dynamics/coriolis.hpp",
     "Mass matrix M, Coriolis matrix C and M_dot = C + C', in one pass.", "(..., 3, n, n) array",
     "For one state, ``M, C, M_dot = robot.mass_and_coriolis(q, dq)``."},
    {"gravity_vector", "dynamics/gravity.hpp",
     "Gravity torque G(q) = dU/dq.", "(..., n) array [N m or N]", ""},
    {"friction_torque", "model/friction.hpp",
     "Friction torque, opposing motion where coefficients are positive.", "(..., n) array [N m or N]",
     "Coulomb friction has the smooth sign dq / (abs(dq) + delta) (D4.2, eq. 62)."},
    {"mass_matrix_dot", "dynamics/coriolis.hpp",
     "Time derivative of the mass matrix along dq: C + C'.", "(..., n, n) array", ""},
    {"coriolis_matrix_dot", "dynamics/derivatives.hpp",
     "Time derivative of the Coriolis matrix along (dq, ddq), by dual numbers.",
     "(..., n, n) array", ""},
    {"gravity_vector_dot", "dynamics/derivatives.hpp",
     "Time derivative of the gravity torque along dq, by dual numbers.", "(..., n) array", ""},
    {"jacobian_ddot", "dynamics/derivatives.hpp",
     "Second time derivative of the geometric Jacobian along (dq, ddq), by dual numbers.",
     "(..., 6, n) array", ""},
    {"mass_matrix_ddot", "dynamics/derivatives.hpp",
     "Second time derivative of the mass matrix along (dq, ddq), by dual numbers.",
     "(..., n, n) array", ""},
    {"coriolis_matrix_ddot", "dynamics/derivatives.hpp",
     "Second time derivative of the Coriolis matrix along (dq, ddq, d3q), by dual numbers.",
     "(..., n, n) array", ""},
    {"gravity_vector_ddot", "dynamics/derivatives.hpp",
     "Second time derivative of the gravity torque along (dq, ddq), by dual numbers.",
     "(..., n) array", ""},
    {"inverse_dynamics", "dynamics/inverse_dynamics.hpp",
     "Joint torque M ddq + C dq + G + friction.", "(..., n) array [N m or N]",
     "Recursive Newton-Euler; equals ``regressor(q, dq, ddq) @ parameters``."},
    {"inverse_dynamics_dot", "dynamics/derivatives.hpp",
     "Time derivative of the joint torque along (dq, ddq, d3q), by dual numbers.", "(..., n) array [N m/s or N/s]", ""},
    {"inverse_dynamics_ddot", "dynamics/derivatives.hpp",
     "Second time derivative of the joint torque along (dq, ddq, d3q, d4q), by dual numbers.",
     "(..., n) array [N m/s^2 or N/s^2]", "Linear in d4q, with the mass matrix; laws of elastic joints invert it."},
    {"forward_dynamics", "dynamics/forward_dynamics.hpp",
     "Joint acceleration under torque tau.", "(..., n) array [rad/s^2 or m/s^2]",
     "Articulated-body algorithm; with rotors, Cholesky factorization of M. Where M is singular (no mass behind "
     "a joint, or only a point mass on its axis) the quotients are rounded zeros: the result is meaningless, and may be "
     "NaN, huge, or inconspicuous where tau is near equilibrium. A condition number of `mass_matrix` above 1e15 shows it."},
    {"christoffel_symbols", "dynamics/coriolis.hpp",
     "Christoffel symbols of the first kind, C_ij = sum_k Gamma[i, j, k] dq_k.",
     "(..., n, n, n) array", "Thunder article, eq. 8."},
    {"regressor", "dynamics/regressor.hpp",
     "Regressor Y with Y parameters = inverse dynamics.", "(..., n, p) array",
     "Thunder article, eq. 5; columns are named by ``parameter_names``."},
    {"slotine_li_regressor", "dynamics/regressor.hpp",
     "Slotine-Li regressor: Y_r parameters = M ddq_r + C(q, dq) dq_r + G + friction(dq).",
     "(..., n, p) array",
     "Thunder article, eq. 6, with the Christoffel C; friction acts on the actual velocity. Columns are named by "
     "``parameter_names``."},
    {"mass_regressor", "dynamics/regressor.hpp",
     "Part of the Slotine-Li regressor that gives M ddq_r.", "(..., n, p) array", ""},
    {"coriolis_regressor", "dynamics/regressor.hpp",
     "Part of the Slotine-Li regressor that gives C(q, dq) dq_r.", "(..., n, p) array", ""},
    {"gravity_regressor", "dynamics/regressor.hpp",
     "Part of the Slotine-Li regressor that gives G(q).", "(..., n, p) array", ""},
    {"friction_regressor", "dynamics/regressor.hpp",
     "Part of the regressors that gives the friction torque.", "(..., n, p) array", ""},
    {"kinetic_energy", "dynamics/energy.hpp",
     "Kinetic energy, 1/2 dq' M dq.", "float or (...) array [J]", ""},
    {"potential_energy", "dynamics/energy.hpp",
     "Potential energy, zero for all mass at the world origin.", "float or (...) array [J]", ""},
    {"slotine_li_torque", "dynamics/slotine_li_torque.hpp",
     "Joint torque M ddq_r + C(q, dq) dq_r + G + friction(dq), without its regressor.", "(..., n) array [N m or N]",
     "Newton-Euler recursion of the Christoffel C; equals ``slotine_li_regressor(q, dq, dq_r, ddq_r) @ parameters``."},
    {"generalized_momentum", "dynamics/momentum.hpp",
     "Generalized momentum p = M dq, rotors and armature included.", "(..., n) array [kg m^2/s or kg m/s]", ""},
    {"momentum_drift", "dynamics/momentum.hpp",
     "C(q, dq)' dq, the gradient of the kinetic energy by q.", "(..., n) array [N m or N]",
     "The momentum's derivative is tau + C' dq - G - friction (De Luca and Mattone, 2003)."},
    {"momentum_regressor", "dynamics/regressor.hpp",
     "Regressor of the generalized momentum.", "(..., n, p) array", "Equals ``mass_regressor(q, dq)``."},
    {"kinetic_energy_regressor", "dynamics/energy_regressors.hpp",
     "Regressor of the kinetic energy.", "(..., p) array", ""},
    {"potential_energy_regressor", "dynamics/energy_regressors.hpp",
     "Regressor of the potential energy.", "(..., p) array", ""},
    {"operational_space_inertia", "dynamics/operational_space.hpp",
     "Operational-space inertia (J M^-1 J')^-1 of the chosen rows.",
     "(..., m, m) array, m chosen rows", "Raises ValueError where the chosen rows are singular."},
    {"manipulability", "dynamics/manipulability.hpp",
     "Yoshikawa's measure sqrt(det(J J')) of the chosen rows.", "float or (...) array", ""},
    {"elastic_torque", "dynamics/elastic.hpp",
     "Torque of the springs on the links, sum_k K[k] (x - q)^(2k+1).", "(..., e) array [N m or N]",
     "The opposite torque acts on the motors."},
    {"elastic_damping_torque", "dynamics/elastic.hpp",
     "Torque of the dampers, parallel to the springs, on the links, sum_k D[k] v |v|^k, v = dx - dq.",
     "(..., e) array [N m or N]", "The opposite torque acts on the motors."},
    {"motor_damping_torque", "dynamics/elastic.hpp",
     "Damping of the motors, sum_k Dm[k] dx |dx|^k, on the left of their equation.",
     "(..., e) array [N m or N]", ""},
    {"motor_inertia_torque", "dynamics/elastic.hpp",
     "Torque that accelerates the motors, Mm ddx.", "(..., e) array [N m or N]", ""},
    {"elastic_regressor", "dynamics/elastic.hpp",
     "Regressor of the springs: times ``elastic_parameters['K']`` it is `elastic_torque`.",
     "(..., e, e k) array, k coefficients per joint", ""},
    {"elastic_damping_regressor", "dynamics/elastic.hpp",
     "Regressor of the dampers: times ``elastic_parameters['D']`` it is `elastic_damping_torque`.",
     "(..., e, e k) array, k coefficients per joint", ""},
    {"motor_damping_regressor", "dynamics/elastic.hpp",
     "Regressor of the motors' damping: times ``elastic_parameters['Dm']`` it is `motor_damping_torque`.",
     "(..., e, e k) array, k coefficients per joint", ""},
    {"motor_inertia_regressor", "dynamics/elastic.hpp",
     "Regressor of the motors' inertia: times ``elastic_parameters['Mm']`` it is `motor_inertia_torque`.",
     "(..., e, e) array", ""},
    {"elastic_forward_dynamics", "dynamics/elastic.hpp",
     "Accelerations of links and motors: ddq (n), then ddx (e).",
     "(..., n + e) array [rad/s^2 or m/s^2]",
     "tau acts on the link at rigid joints and on the motor at elastic ones: M ddq + C dq + G + friction = tau_el and "
     "Mm ddx + damping + tau_el = tau, tau_el of spring and damper (the model of Spong, 1987)."},
    {"inverse_dynamics_derivatives", "dynamics/inverse_dynamics_derivatives.hpp",
     "Partial derivatives of the inverse dynamics by q, by dq and by ddq, which is M.", "(..., 3, n, n) array",
     "Analytic recursion (Singh, Russell and Wensing, 2022), with friction, rotors and armature."},
    {"forward_dynamics_derivatives", "dynamics/forward_dynamics_derivatives.hpp",
     "Partial derivatives of the forward dynamics by q, by dq and by tau, which is M^-1.", "(..., 3, n, n) array",
     "-M^-1 times the derivatives of the inverse dynamics at the acceleration of this state."},
    {"inverse_dynamics_second_derivatives", "dynamics/partial_derivatives.hpp",
     "Second partial derivatives of the inverse dynamics: by q q, by dq q, by ddq q (dM/dq), by dq dq.",
     "(..., 4, n, n, n) array", "Dual numbers over the analytic first ones. The last index is that of the second variable."},
    {"forward_dynamics_second_derivatives", "dynamics/partial_derivatives.hpp",
     "Second partial derivatives of the forward dynamics: by q q, by dq q, by tau q (dM^-1/dq), by dq dq.",
     "(..., 4, n, n, n) array", "Dual numbers over the analytic first ones. The last index is that of the second variable."},
    {"jacobian_derivative", "dynamics/jacobian.hpp",
     "Partial derivatives of the geometric Jacobian, dJ[r, j] / dq[k] (the Hessian of the frame's pose).",
     "(..., 6, n, n) array", "Its product with dq is `jacobian_dot`."},
    {"coriolis_matrix_derivative", "dynamics/partial_derivatives.hpp",
     "Partial derivatives of the Coriolis matrix, dC[i, j] / dq[k], by dual numbers.", "(..., n, n, n) array",
     "By dq they are the `christoffel_symbols`."},
    {"operational_space_inertia_derivative", "dynamics/partial_derivatives.hpp",
     "Partial derivatives of the operational-space inertia, dLambda[i, j] / dq[k], by dual numbers.",
     "(..., m, m, n) array, m chosen rows", "Raises ValueError where the chosen rows are singular."},
    {"regressor_product_derivatives", "dynamics/regressor_products.hpp",
     "Partial derivatives of Y(q, dq, ddq) pi by q, by dq and by ddq, for any vector pi of parameters.",
     "(..., 3, n, n) array", "Those of the inverse dynamics of the arm with the parameters pi; Y is not formed."},
    {"slotine_li_product_derivatives", "dynamics/regressor_products.hpp",
     "Partial derivatives of Y_r(q, dq, dq_r, ddq_r) pi by q, by dq, by dq_r and by ddq_r, for any vector pi of parameters.",
     "(..., 4, n, n) array", "By dq_r and ddq_r they are C and M of the arm with the parameters pi; Y_r is not formed."},
    {"transposed_regressor_derivatives", "dynamics/regressor_products.hpp",
     "Partial derivatives of Y(q, dq, ddq)' s by q, by dq and by ddq, for any joint vector s.",
     "(..., 3, p, n) array", "Dual numbers over a recursion that does not form Y. By s the derivative is Y' itself."},
    {"transposed_slotine_li_derivatives", "dynamics/regressor_products.hpp",
     "Partial derivatives of Y_r(q, dq, dq_r, ddq_r)' s by q, by dq, by dq_r and by ddq_r, for any joint vector s.",
     "(..., 4, p, n) array", "Dual numbers over a recursion that does not form Y_r. By s the derivative is Y_r' itself."},
    {"mass_matrix_derivative", "dynamics/partial_derivatives.hpp",
     "Partial derivatives of the mass matrix, dM[i, j] / dq[k], by dual numbers.",
     "(..., n, n, n) array", "Thunder article, section 3.2. The Coriolis kernel does not need it."},
    {"coriolis_matrix_algebra", "dynamics/matrix_algebra.hpp",
     "Coriolis matrix by matrix algebra, C = 1/2 ([B_q dq] + Q B_q - B_q' Q').",
     "(..., n, n) array", "Thunder article, eq. 11. For study: `coriolis_matrix` is the fast one and equals it."},
    {"coriolis_matrix_christoffel", "dynamics/matrix_algebra.hpp",
     "Coriolis matrix by the classical Christoffel sums, entry by entry.",
     "(..., n, n) array", "Thunder article, eq. 8. For study: `coriolis_matrix` is the fast one and equals it."},
    {"mass_blocks", "dynamics/matrix_algebra.hpp",
     "Blocks B_0, B_1(Q_1..Q_3), B_2(E_1..E_6) of every link: M = sum blocks[i, k] pi[i, k].",
     "(..., n, 10, n, n) array", "Thunder article, eqs. 14-16; links only, without rotors and armature."},
    {"coriolis_blocks", "dynamics/matrix_algebra.hpp",
     "Blocks C_0, C_1(Q_h), C_2(E_k) of every link, eq. 11 applied to each mass block.",
     "(..., n, 10, n, n) array", "Thunder article, eq. 17; links only."},
    {"gravity_blocks", "dynamics/matrix_algebra.hpp",
     "Blocks Z_0 and the three columns of Z_1 of every link: G = sum blocks[i, k] pi[i, k], k < 4.",
     "(..., n, 4, n) array", "Thunder article, eq. 21."},
};

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

}  // namespace

const QuantityDoc& quantity_doc(const std::string& name) {
  for (const QuantityDoc& doc : kDocs)
    if (name == doc.name) return doc;
  throw std::logic_error("no documentation for " + name);  // seen at import, so by every test
}

namespace {

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

std::string numpydoc(const QuantityDoc& doc, const QuantityInfo& quantity) {
  const char* const* inputs = quantity.inputs;
  const int count = quantity.input_count;
  std::string text = std::string(doc.summary) + "\n\nParameters\n----------\n";
  for (int k = 0; k < count; ++k)
    text += std::string(inputs[k]) + " : (..., " + (is_of_motors(inputs[k]) ? "e" : is_of_parameters(inputs[k]) ? "p" : "n") + ") array_like\n    " +
            describe(inputs[k]) + "\n";
  if (quantity.takes_frame) text += "frame : int or str, optional\n    Link index (0 is the base), frame name; default the end effector.\n";
  if (quantity.takes_rows) text += "rows : sequence of int, optional\n    Rows of the Jacobian in the task, 0-5; default all six.\n";
  text += "out : ndarray, optional\n    Result array to fill: float64, C-contiguous, of the exact shape.\n";
  text += "threads : int, default 1\n    Threads for a batch; 0 is one per core.\n";
  text += std::string("\nReturns\n-------\n") + doc.returns + "\n";
  text += "\nRaises\n------\nValueError\n    For a wrong shape or type, or a value that is not finite";
  text += std::any_of(inputs, inputs + count, is_of_motors) ? "; for a robot without elastic joints.\n" : ".\n";
  text += "\nNotes\n-----\n";
  if (*doc.notes) text += std::string(doc.notes) + "\n\n";
  text += std::string("Kernel: ``cpp/include/thunder/") + doc.kernel + "``; theory: ``docs/" +
          theory_page(doc.kernel) + "``.\n";
  return text + example(quantity);
}

}  // namespace thunder::python
