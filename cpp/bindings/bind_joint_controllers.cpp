// Non-adaptive controllers in joint space for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "thunder/control/computed_torque.hpp"
#include "thunder/control/independent_joint.hpp"
#include "thunder/control/passivity_based.hpp"
#include "thunder/control/pd_gravity.hpp"
#include "thunder/control/robust_unit_vector.hpp"

namespace thunder::python {

namespace {

/// n numbers, or one for all, that are positive or, with `zero_allowed`, not negative.
Eigen::VectorXd read_per_joint(py::handle value, const char* name, int n, bool zero_allowed) {
  const Eigen::MatrixXd given = read_up_to_matrix(value, name);
  if (given.size() != 1 && (given.rows() != n || given.cols() != 1))
    throw py::value_error(std::string(name) + " must be a number or " + std::to_string(n) + " numbers, got shape " +
                          shape_text({given.rows(), given.cols()}));
  const Eigen::VectorXd values = given.size() == 1 ? Eigen::VectorXd::Constant(n, given(0, 0)) : Eigen::VectorXd(given);
  if (!(zero_allowed ? values.minCoeff() >= 0.0 : values.minCoeff() > 0.0))
    throw py::value_error(std::string(name) + (zero_allowed ? " must not be negative" : " must be positive") +
                          ", its smallest entry is " + std::to_string(values.minCoeff()));
  return values;
}

/// Diagonal gain of independent loops; a full matrix would couple them.
Eigen::VectorXd read_diagonal_gain(py::handle value, const char* name, int n) {
  const Eigen::MatrixXd gain = read_gain(value, name, n);
  if (!gain.isDiagonal(0.0))
    throw py::value_error(std::string(name) + " must be diagonal: the loops of the joints are independent");
  return gain.diagonal();
}

IntegralAction read_integral(const py::object& K_i, const py::object& limit, int n, bool diagonal) {
  if (!limit.is_none() && K_i.is_none()) throw py::value_error("integral_limit needs K_i");
  const Eigen::VectorXd bound = limit.is_none() ? Eigen::VectorXd() : read_per_joint(limit, "integral_limit", n, false);
  if (K_i.is_none()) return {Eigen::MatrixXd(), bound, n};
  if (diagonal) return {read_diagonal_gain(K_i, "K_i", n).asDiagonal(), bound, n};
  return {read_gain(K_i, "K_i", n), bound, n};
}

void bind_independent_joint(py::module_& module) {
  using C = IndependentJoint;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "IndependentJoint", "Independent joint control.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_d,
                       const ArrayLike& inertia, const ArrayLike& damping, const py::object& K_i,
                       const py::object& integral_limit, bool model_feedforward) {
             const int n = model->n();
             return std::make_shared<C>(
                 model, C::Gains{read_diagonal_gain(K_p, "K_p", n), read_diagonal_gain(K_d, "K_d", n)},
                 C::Motors{read_per_joint(inertia, "inertia", n, true), read_per_joint(damping, "damping", n, true)},
                 read_integral(K_i, integral_limit, n, true),
                 model_feedforward ? C::Feedforward::model : C::Feedforward::motor);
           }),
           py::arg("model").none(false), py::arg("K_p"), py::arg("K_d"), py::arg("inertia"), py::arg("damping"), py::arg("K_i"),
           py::arg("integral_limit"), py::arg("model_feedforward"));
}

void bind_pd_gravity(py::module_& module) {
  using C = PDGravity;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "PDGravity", "PD control with gravity compensation.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_d, const py::object& K_i,
                       const py::object& integral_limit, bool desired_gravity) {
             const int n = model->n();
             return std::make_shared<C>(model, read_gain(K_p, "K_p", n), read_gain(K_d, "K_d", n),
                                        read_integral(K_i, integral_limit, n, false),
                                        desired_gravity ? C::Gravity::desired : C::Gravity::actual);
           }),
           py::arg("model").none(false), py::arg("K_p"), py::arg("K_d"), py::arg("K_i"), py::arg("integral_limit"),
           py::arg("desired_gravity"));
}

void bind_computed_torque(py::module_& module) {
  using C = ComputedTorque;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "ComputedTorque", "Computed torque control.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& position, const ArrayLike& velocity, bool impedance) {
             const int n = model->n();
             return std::make_shared<C>(model, read_gain(position, impedance ? "K_p" : "K_0", n),
                                        read_gain(velocity, impedance ? "K_d" : "K_1", n),
                                        impedance ? C::Form::impedance : C::Form::craig);
           }),
           py::arg("model").none(false), py::arg("position"), py::arg("velocity"), py::arg("impedance"));
}

void bind_passivity_based(py::module_& module) {
  using C = PassivityBased;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "PassivityBased", "Passivity-based control.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& Lambda, const ArrayLike& K_d) {
             const int n = model->n();
             return std::make_shared<C>(model, read_gain(Lambda, "Lambda", n), read_gain(K_d, "K_d", n));
           }),
           py::arg("model").none(false), py::arg("Lambda"), py::arg("K_d"));
}

void bind_robust_unit_vector(py::module_& module) {
  using C = RobustUnitVector;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "RobustUnitVector", "Robust unit-vector control.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_0, const ArrayLike& K_1, double rho,
                       double epsilon, const ArrayLike& Q) {
             const int n = model->n();
             C::Gains gains{read_gain(K_0, "K_0", n), read_gain(K_1, "K_1", n), read_gain(Q, "Q", 2 * n), rho, epsilon};
             gains.P = solve_lyapunov(gains.K_0, gains.K_1, gains.P);
             return std::make_shared<C>(std::move(model), std::move(gains));
           }),
           py::arg("model").none(false), py::arg("K_0"), py::arg("K_1"), py::arg("rho"), py::arg("epsilon"), py::arg("Q"))
      .def_constant(
          "lyapunov_matrix", [](const C& c) { return to_numpy(RowMajor(c.lyapunov_matrix())); },
          "Solution P (2n, 2n) of ``H' P + P H = -Q`` with ``H = [0 1; -K_0 -K_1]``.");
}

}  // namespace

void bind_joint_controllers(py::module_& module) {
  bind_independent_joint(module);
  bind_pd_gravity(module);
  bind_computed_torque(module);
  bind_passivity_based(module);
  bind_robust_unit_vector(module);
}

}  // namespace thunder::python
