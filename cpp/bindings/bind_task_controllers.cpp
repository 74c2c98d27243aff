// Controllers in task space, for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "null_space.hpp"
#include "prediction.hpp"
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

TaskSetup task_setup(const Model& model, const std::vector<int>& rows, const py::object& frame, NullSpace null_space) {
  return {find_frame(model, frame), task_rows(model, rows), std::move(null_space)};
}

Eigen::MatrixXd read_K_d(const Model& model, const ArrayLike& K_d) { return read_gain(K_d, "K_d", model.n()); }

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

void bind_operational_space(py::module_& module) {
  ExclusiveClass<OperationalSpace, TaskController, std::shared_ptr<OperationalSpace>>(
      module, "OperationalSpace", "Inverse dynamics in task space with integral action.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_0, const ArrayLike& K_1, const ArrayLike& K_d,
                       const py::object& K_integral, const py::object& integral_limit, const std::vector<int>& rows,
                       const py::object& frame, const NullSpaceArguments& null_space) {
             TaskSetup task = task_setup(*model, rows, frame, torque_null_space(null_space, read_K_d(*model, K_d)));
             const int m = task.rows.count();
             OperationalSpace::Gains gains{read_gain(K_0, "K_0", m), read_gain(K_1, "K_1", m), {}, {}};
             if (!K_integral.is_none()) gains.K_I = read_gain(K_integral, "K_integral", m);
             gains.integral_limit = read_limit(integral_limit, "integral_limit", m);
             return std::make_shared<OperationalSpace>(model, std::move(task), std::move(gains));
           }),
           py::arg("model").none(false), py::arg("K_0"), py::arg("K_1"), py::arg("K_d"), py::arg("K_integral"),
           py::arg("integral_limit"), py::arg("rows"), py::arg("frame"), py::arg("null_space"));
}

void bind_cartesian_computed_torque(py::module_& module) {
  using C = CartesianComputedTorque;
  ExclusiveClass<C, TaskController, std::shared_ptr<C>>(module, "CartesianComputedTorque",
                                                    "Computed torque in task space with a secondary task.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_0, const ArrayLike& K_1, const ArrayLike& K_d,
                       const std::vector<int>& rows, const py::object& frame, const NullSpaceArguments& null_space,
                       const py::list& points, double gain, double influence, double largest_force) {
             TaskSetup task = task_setup(*model, rows, frame, torque_null_space(null_space, read_K_d(*model, K_d)));
             const int m = task.rows.count();
             Repulsion repulsion(read_points(*model, points), {gain, influence, largest_force}, model->n());
             return std::make_shared<C>(model, std::move(task), read_gain(K_0, "K_0", m), read_gain(K_1, "K_1", m),
                                        std::move(repulsion));
           }),
           py::arg("model").none(false), py::arg("K_0"), py::arg("K_1"), py::arg("K_d"), py::arg("rows"), py::arg("frame"),
           py::arg("null_space"), py::arg("points"), py::arg("gain"), py::arg("influence"), py::arg("largest_force"))
      .def_property("_obstacles", [](C& c) { return to_numpy(obstacles(c)); }, &set_obstacles,
                    "Spheres, rows of (x, y, z, radius).");
}

void bind_impedance(py::module_& module) {
  ExclusiveClass<Impedance, TaskController, std::shared_ptr<Impedance>>(module, "Impedance",
                                                                    "Impedance control in task space.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K, const ArrayLike& D, const ArrayLike& K_d,
                       const py::object& inertia, const std::vector<int>& rows, const py::object& frame,
                       const NullSpaceArguments& null_space) {
             TaskSetup task = task_setup(*model, rows, frame, torque_null_space(null_space, read_K_d(*model, K_d)));
             const int m = task.rows.count();
             Impedance::Gains gains{read_gain(K, "K", m), read_gain(D, "D", m), {}};
             if (!inertia.is_none()) gains.inertia = read_gain(inertia, "inertia", m);
             return std::make_shared<Impedance>(model, std::move(task), std::move(gains));
           }),
           py::arg("model").none(false), py::arg("K"), py::arg("D"), py::arg("K_d"), py::arg("inertia"), py::arg("rows"),
           py::arg("frame"), py::arg("null_space"))
      .def_property(
          "wrench", [](const Impedance& c) { return to_numpy(Eigen::VectorXd(c.wrench())); },
          [](Impedance& c, const ArrayLike& value) {
            if (!c.shapes_inertia())
              throw py::value_error("wrench must not be set without a desired inertia");
            c.set_wrench(read_column(value, "wrench", 6));
          },
          "Measured wrench (6,) [N, N m] of the environment on the controlled frame: force and moment about its\n"
          "origin, world axes. Set it before each step; initially zero.");
}

void bind_cartesian_mact(py::module_& module) {
  ExclusiveClass<CartesianMACT, TaskController, std::shared_ptr<CartesianMACT>> cls(
      module, "CartesianMACT", "Modified adaptive computed torque in task space.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_d,
                      const LawArgument& law, const std::vector<bool>& unknown,
                      const PredictionArguments& prediction, const std::vector<int>& rows, const py::object& frame,
                      const NullSpaceArguments& null_space) {
            TaskSetup task = task_setup(*model, rows, frame, velocity_null_space(null_space, read_K_d(*model, K_d)));
            const int m = task.rows.count();
            return std::make_shared<CartesianMACT>(make_adaptive_model(model, unknown, law),
                                                   make_prediction_error(model, prediction), std::move(task),
                                                   read_gain(K_p, "K_p", m));
          }),
          py::arg("model").none(false), py::arg("K_p"), py::arg("K_d"), py::arg("law"), py::arg("unknown"),
          py::arg("prediction"), py::arg("rows"), py::arg("frame"), py::arg("null_space"));
  bind_estimate(cls);
}

}  // namespace

void bind_task_controllers(py::module_& module) {
  bind_operational_space(module);
  bind_cartesian_computed_torque(module);
  bind_impedance(module);
  bind_cartesian_mact(module);
}

}  // namespace thunder::python
