// Controllers in joint space for Python.
#include "law.hpp"
#include "thunder/control/act.hpp"
#include "thunder/control/computed_torque.hpp"
#include "thunder/control/independent_joint.hpp"
#include "thunder/control/mact.hpp"
#include "thunder/control/passivity_based.hpp"
#include "thunder/control/pd_gravity.hpp"
#include "thunder/control/robust_unit_vector.hpp"
#include "thunder/control/slotine_li.hpp"

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

IntegralAction read_integral(const LawArguments& a, bool diagonal) {
  const int n = a.model->n();
  const py::object K_i = a["K_i"], limit = a["integral_limit"];
  if (!limit.is_none() && K_i.is_none()) throw py::value_error("integral_limit needs K_i");
  const Eigen::VectorXd bound = limit.is_none() ? Eigen::VectorXd() : read_per_joint(limit, "integral_limit", n, false);
  if (K_i.is_none()) return {Eigen::MatrixXd(), bound, n};
  if (diagonal) return {read_diagonal_gain(K_i, "K_i", n).asDiagonal(), bound, n};
  return {read_gain(K_i, "K_i", n), bound, n};
}

template <class C>
constexpr auto bind_joint_law = &bind_law<C, JointController>;

}  // namespace

void bind_joint_controllers(py::module_& module) {
  using T = Takes;
  using A = const LawArguments&;
  bind_joint_law<IndependentJoint>(
      module, "IndependentJoint", "Independent joint control.",
      {{"K_p", T::gain}, {"K_d", T::gain}, {"inertia", T::gain}, {"damping", T::gain}, {"K_i", T::any},
       {"integral_limit", T::any}, {"model_feedforward", T::flag}},
      [](A a) {
        using C = IndependentJoint;
        const int n = a.model->n();
        return std::make_shared<C>(
            a.model, C::Gains{read_diagonal_gain(a["K_p"], "K_p", n), read_diagonal_gain(a["K_d"], "K_d", n)},
            C::Motors{read_per_joint(a["inertia"], "inertia", n, true), read_per_joint(a["damping"], "damping", n, true)},
            read_integral(a, true), a.flag("model_feedforward") ? C::Feedforward::model : C::Feedforward::motor);
      });
  bind_joint_law<PDGravity>(
      module, "PDGravity", "PD control with gravity compensation.",
      {{"K_p", T::gain}, {"K_d", T::gain}, {"K_i", T::any}, {"integral_limit", T::any},
       {"desired_gravity", T::flag}}, [](A a) {
        using C = PDGravity;
        return std::make_shared<C>(a.model, a.gain("K_p"), a.gain("K_d"), read_integral(a, false),
                                   a.flag("desired_gravity") ? C::Gravity::desired : C::Gravity::actual);
      });
  bind_joint_law<ComputedTorque>(
      module, "ComputedTorque", "Computed torque control.",
      {{"position", T::gain}, {"velocity", T::gain}, {"impedance", T::flag}}, [](A a) {
        using C = ComputedTorque;
        const bool impedance = a.flag("impedance");
        return std::make_shared<C>(a.model, a.gain("position", 0, impedance ? "K_p" : "K_0"),
                                   a.gain("velocity", 0, impedance ? "K_d" : "K_1"),
                                   impedance ? C::Form::impedance : C::Form::craig);
      });
  bind_joint_law<PassivityBased>(
      module, "PassivityBased", "Passivity-based control.", {{"Lambda", T::gain}, {"K_d", T::gain}},
      [](A a) { return std::make_shared<PassivityBased>(a.model, a.gain("Lambda"), a.gain("K_d")); });
  bind_joint_law<RobustUnitVector>(
      module, "RobustUnitVector", "Robust unit-vector control.",
      {{"K_0", T::gain}, {"K_1", T::gain}, {"rho", T::number}, {"epsilon", T::number}, {"Q", T::gain}}, [](A a) {
        RobustUnitVector::Gains gains{a.gain("K_0"), a.gain("K_1"), a.gain("Q", 2 * a.model->n()), a.number("rho"), a.number("epsilon")};
        gains.P = solve_lyapunov(gains.K_0, gains.K_1, gains.P);
        return std::make_shared<RobustUnitVector>(a.model, std::move(gains));
      })
      .def_constant(
          "lyapunov_matrix", [](const RobustUnitVector& c) { return to_numpy(RowMajor(c.lyapunov_matrix())); },
          "Solution P (2n, 2n) of ``H' P + P H = -Q`` with ``H = [0 1; -K_0 -K_1]``.");
  auto slotine_li = bind_joint_law<SlotineLi>(
      module, "SlotineLi", "Slotine-Li adaptive control.", {{"Lambda", T::gain}, {"K_d", T::gain}, {"law", T::law},
       {"unknown", T::mask}},
      [](A a) { return std::make_shared<SlotineLi>(a.adaptive_model(), a.gain("Lambda"), a.gain("K_d")); });
  bind_estimate(slotine_li);
  auto act = bind_joint_law<ACT>(
      module, "ACT", "Adaptive computed torque.",
      {{"position", T::gain}, {"velocity", T::gain}, {"Q", T::gain}, {"damping", T::gain}, {"law", T::law},
       {"unknown", T::mask}, {"craig", T::flag}, {"route", T::text}, {"cutoff", T::number}},
      [](A a) {
        const bool craig = a.flag("craig");
        ACT::Gains gains{a.gain("position", 0, craig ? "K_0" : "K_p"), a.gain("velocity", 0, craig ? "K_1" : "K_d"),
                         a.gain("Q", 2 * a.model->n()), a.gain("damping")};
        gains.P = solve_lyapunov(gains.K_p, gains.K_v, gains.P);
        return std::make_shared<ACT>(
            a.adaptive_model(),
            a["law"].is_none() ? nullptr : make_prediction(a.model, a.get<std::string>("route"), a.number("cutoff")),
            craig ? ACT::Form::craig : ACT::Form::impedance, std::move(gains));
      });
  bind_estimate(act);
  auto mact = bind_joint_law<MACT>(
      module, "MACT", "Modified adaptive computed torque.",
      {{"K_p", T::gain}, {"K_d", T::gain}, {"law", T::law}, {"unknown", T::mask}, {"prediction", T::prediction}}, [](A a) {
        return std::make_shared<MACT>(a.adaptive_model(), a.prediction_error(), a.gain("K_p"), a.gain("K_d"));
      });
  bind_estimate(mact);
}

}  // namespace thunder::python
