// Controllers in task space, for Python.
#include "task_law.hpp"
#include "thunder/control/cartesian_computed_torque.hpp"
#include "thunder/control/cartesian_mact.hpp"
#include "thunder/control/impedance.hpp"
#include "thunder/control/operational_space.hpp"

namespace thunder::python {

namespace {

/// `rows` of Python's `resolve_rows`, checked there.
TaskRows task_rows(const Model& model, const std::vector<int>& rows) {
  const TaskRows result{read_row_mask(rows)};
  if (result.count() > model.n())
    throw py::value_error("rows: a task of " + std::to_string(result.count()) + " rows needs as many joints, got " +
                          std::to_string(model.n()) + "; choose fewer with rows=");
  return result;
}

/// Of the arguments rows, frame, orientation, null_space and K_d; the null space gives torques or velocities.
TaskSetup task_setup(const LawArguments& a, NullSpace (*null_space)(const NullSpaceArguments&, const Eigen::MatrixXd&)) {
  return {find_frame(*a.model, a["frame"]), task_rows(*a.model, a.get<std::vector<int>>("rows")), orientation_kind(a),
          null_space(a.null_space(), a.gain("K_d"))};
}

/// One value for all rows or one per row; empty for None.
Eigen::VectorXd read_limit(py::handle value, const char* name, int size) {
  if (value.is_none()) return {};
  const Eigen::MatrixXd given = read_up_to_matrix(value, name);
  Eigen::VectorXd limit = given.reshaped();
  if (limit.size() == 1) limit = Eigen::VectorXd::Constant(size, given(0, 0));
  if (limit.size() != size || !(limit.array() > 0.0).all())
    throw py::value_error(std::string(name) + " must be a positive number or " + std::to_string(size) +
                          " of them, got " + std::string(py::str(py::repr(value))));
  return limit;
}

std::vector<Frame<double>> read_points(const Model& model, const py::list& points) {
  std::vector<Frame<double>> result;
  for (const py::handle item : points) {
    const auto pair = py::cast<py::tuple>(item);
    Frame<double> frame = find_frame(model, pair[0]);
    const Eigen::VectorXd offset = read_column(pair[1], "points offset", 3);
    frame.pose.p = frame.pose.p + frame.pose.R * Vec3<double>{offset[0], offset[1], offset[2]};
    result.push_back(frame);
  }
  return result;
}

RowMajor obstacles(CartesianComputedTorque& controller) {
  const auto& spheres = controller.repulsion().spheres();
  RowMajor result(spheres.size(), 4);
  for (std::size_t i = 0; i < spheres.size(); ++i) result.row(i) << spheres[i].center.transpose(), spheres[i].radius;
  return result;
}

void set_obstacles(CartesianComputedTorque& controller, const ArrayLike& rows) {
  const auto given = read_array(rows, "obstacles", {-1, 4});
  std::vector<Repulsion::Sphere> spheres;
  for (py::ssize_t i = 0; i < given.shape(0); ++i)
    spheres.push_back({Eigen::Map<const Eigen::Vector3d>(given.data(i, 0)), given.at(i, 3)});
  controller.repulsion().set_spheres(std::move(spheres));
}

NamedArrays evaluate_backstepping(Backstepping& controller, const ArrayLike& q, const ArrayLike& dq, py::handle reference) {
  const auto q_ = read_array(q, "q", {controller.n()}), dq_ = read_array(dq, "dq", {controller.n()});
  TaskReference desired;
  read_reference(reference, desired);
  Backstepping::Terms terms = controller.blank_terms();
  if (controller.evaluate(q_.data(), dq_.data(), desired, terms) != Status::ok)
    throw py::value_error("the law is singular at this state: the orientation error has no Jacobian, or J is rank deficient");
  NamedArrays result;
  put_task_error(terms.task, controller.rows(), result);
  for (auto [name, v] : {std::pair{"dq_r", &terms.dq_r}, {"ddq_r", &terms.ddq_r}, {"s", &terms.s}, {"tau", &terms.tau}})
    result[name] = to_numpy(*v);
  return result;
}

template <class C>
constexpr auto bind_task_law = &bind_law<C, TaskController>;

}  // namespace

void bind_task_controllers(py::module_& module) {
  using T = Takes;
  using A = const LawArguments&;
  bind_task_law<OperationalSpace>(
      module, "OperationalSpace", "Inverse dynamics in task space with integral action.",
      {{"K_0", T::gain}, {"K_1", T::gain}, {"K_d", T::gain}, {"K_integral", T::any}, {"integral_limit", T::any},
       {"rows", T::rows}, {"frame", T::any}, {"orientation", T::count}, {"null_space", T::null_space}},
      [](A a) {
        TaskSetup task = task_setup(a, torque_null_space);
        const int m = task.rows.count();
        OperationalSpace::Gains gains{a.gain("K_0", m), a.gain("K_1", m), a.gain_or_none("K_integral", m),
                                      read_limit(a["integral_limit"], "integral_limit", m)};
        return std::make_shared<OperationalSpace>(a.model, std::move(task), std::move(gains));
      });
  bind_task_law<CartesianComputedTorque>(
      module, "CartesianComputedTorque", "Computed torque in task space with a secondary task.",
      {{"K_0", T::gain}, {"K_1", T::gain}, {"K_d", T::gain}, {"rows", T::rows}, {"frame", T::any},
       {"orientation", T::count}, {"null_space", T::null_space}, {"points", T::any}, {"gain", T::number}, {"influence", T::number},
       {"largest_force", T::number}},
      [](A a) {
        TaskSetup task = task_setup(a, torque_null_space);
        const int m = task.rows.count();
        Repulsion repulsion(read_points(*a.model, a.get<py::list>("points")),
                            {a.number("gain"), a.number("influence"), a.number("largest_force")}, a.model->n());
        return std::make_shared<CartesianComputedTorque>(a.model, std::move(task), a.gain("K_0", m), a.gain("K_1", m),
                                                         std::move(repulsion));
      })
      .def_property("_obstacles", [](CartesianComputedTorque& c) { return to_numpy(obstacles(c)); }, &set_obstacles,
                    "Spheres, rows of (x, y, z, radius).");
  bind_task_law<Impedance>(
      module, "Impedance", "Impedance control in task space.",
      {{"K", T::gain}, {"D", T::gain}, {"K_d", T::gain}, {"inertia", T::any}, {"rows", T::rows}, {"frame", T::any},
       {"orientation", T::count}, {"null_space", T::null_space}},
      [](A a) {
        TaskSetup task = task_setup(a, torque_null_space);
        const int m = task.rows.count();
        Impedance::Gains gains{a.gain("K", m), a.gain("D", m), a.gain_or_none("inertia", m)};
        return std::make_shared<Impedance>(a.model, std::move(task), std::move(gains));
      })
      .def_property(
          "wrench", [](const Impedance& c) { return to_numpy(Eigen::VectorXd(c.wrench())); },
          [](Impedance& c, const ArrayLike& value) {
            if (!c.shapes_inertia())
              throw py::value_error("wrench must not be set without a desired inertia");
            c.set_wrench(read_column(value, "wrench", 6));
          },
          "Measured wrench (6,) [N, N m] of the environment on the controlled frame: force and moment about its\n"
          "origin, world axes. Set it before each step; initially zero.");
  auto mact = bind_task_law<CartesianMACT>(
      module, "CartesianMACT", "Modified adaptive computed torque in task space.",
      {{"K_p", T::gain}, {"K_d", T::gain}, {"law", T::law}, {"unknown", T::mask}, {"prediction", T::prediction},
       {"rows", T::rows}, {"frame", T::any}, {"orientation", T::count}, {"null_space", T::null_space}},
      [](A a) {
        TaskSetup task = task_setup(a, velocity_null_space);
        const int m = task.rows.count();
        return std::make_shared<CartesianMACT>(a.adaptive_model(), a.prediction_error(), std::move(task), a.gain("K_p", m));
      });
  bind_estimate(mact);
  auto backstepping = bind_task_law<Backstepping>(
      module, "Backstepping", "Adaptive backstepping in task space.",
      {{"Lambda", T::gain}, {"K_p", T::gain}, {"K_d", T::gain}, {"law", T::law}, {"unknown", T::mask}, {"position_only", T::flag},
       {"frame", T::any}, {"orientation", T::count}, {"null_space", T::null_space}},
      [](A a) {
        auto [task, gains] = backstepping_arguments(a);
        return std::make_shared<Backstepping>(a.adaptive_model(), find_frame(*a.model, a["frame"]), task, orientation_kind(a), std::move(gains));
      });
  backstepping.def(
      "_evaluate", &evaluate_backstepping, py::arg("q"), py::arg("dq"), py::arg("reference"),
      "Evaluate the terms of the law at one state under the current estimate, as a dict of arrays: e, e_dot, L, L_dot, dq_r,\n"
      "ddq_r, s, tau. Neither the estimate nor the signals change.\n\nRaises ValueError where the law is singular.");
  bind_estimate(backstepping);
}

}  // namespace thunder::python
