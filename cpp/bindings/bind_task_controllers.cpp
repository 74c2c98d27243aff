// Controllers in task space, for Python.
#include "control.hpp"
#include "exclusive.hpp"
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

TaskSetup task_setup(const Model& model, const std::vector<int>& rows, const py::object& frame,
                     const ArrayLike& damping, const py::object& posture, const py::object& K_posture,
                     const char* damping_name = "K_d") {
  TaskSetup task{find_frame(model, frame), task_rows(model, rows), {}};
  task.null_space.K_d = read_gain(damping, damping_name, model.n());
  if (posture.is_none() != K_posture.is_none())
    throw py::value_error(std::string("posture and K_posture belong together, ") +
                          (posture.is_none() ? "posture" : "K_posture") + " is missing");
  if (!posture.is_none()) {
    task.null_space.posture = read_column(posture, "posture", model.n());
    task.null_space.K_posture = read_gain(K_posture, "K_posture", model.n());
  }
  return task;
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

void bind_operational_space(py::module_& module) {
  ExclusiveClass<OperationalSpace, TaskController, std::shared_ptr<OperationalSpace>>(
      module, "OperationalSpace", "Inverse dynamics in task space with integral action.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_v, const ArrayLike& K_d,
                       const py::object& K_i, const py::object& integral_limit, const std::vector<int>& rows,
                       const py::object& frame, const py::object& posture, const py::object& K_posture) {
             TaskSetup task = task_setup(*model, rows, frame, K_d, posture, K_posture);
             const int m = task.rows.count();
             OperationalSpace::Gains gains{read_gain(K_p, "K_p", m), read_gain(K_v, "K_v", m), {}, {}};
             if (!K_i.is_none()) gains.K_i = read_gain(K_i, "K_i", m);
             gains.integral_limit = read_limit(integral_limit, "integral_limit", m);
             return std::make_shared<OperationalSpace>(model, std::move(task), std::move(gains));
           }),
           py::arg("model").none(false), py::arg("K_p"), py::arg("K_v"), py::arg("K_d"), py::arg("K_i"), py::arg("integral_limit"),
           py::arg("rows"), py::arg("frame"), py::arg("posture"), py::arg("K_posture"));
}

void bind_cartesian_computed_torque(py::module_& module) {
  using C = CartesianComputedTorque;
  ExclusiveClass<C, TaskController, std::shared_ptr<C>>(module, "CartesianComputedTorque",
                                                    "Computed torque in task space with a secondary task.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_v, const ArrayLike& K_d,
                       const std::vector<int>& rows, const py::object& frame, const py::object& posture,
                       const py::object& K_posture, const py::list& points, double gain, double influence,
                       double largest_force) {
             TaskSetup task = task_setup(*model, rows, frame, K_d, posture, K_posture);
             const int m = task.rows.count();
             Repulsion repulsion(read_points(*model, points), {gain, influence, largest_force}, model->n());
             return std::make_shared<C>(model, std::move(task), read_gain(K_p, "K_p", m), read_gain(K_v, "K_v", m),
                                        std::move(repulsion));
           }),
           py::arg("model").none(false), py::arg("K_p"), py::arg("K_v"), py::arg("K_d"), py::arg("rows"), py::arg("frame"),
           py::arg("posture"), py::arg("K_posture"), py::arg("points"), py::arg("gain"), py::arg("influence"),
           py::arg("largest_force"))
      .def_property("_obstacles", [](C& c) { return to_numpy(obstacles(c)); }, &set_obstacles,
                    "Spheres, rows of (x, y, z, radius).");
}

void bind_impedance(py::module_& module) {
  ExclusiveClass<Impedance, TaskController, std::shared_ptr<Impedance>>(module, "Impedance",
                                                                    "Impedance control in task space.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K, const ArrayLike& D, const ArrayLike& K_d,
                       const py::object& inertia, const std::vector<int>& rows, const py::object& frame,
                       const py::object& posture, const py::object& K_posture) {
             TaskSetup task = task_setup(*model, rows, frame, K_d, posture, K_posture);
             const int m = task.rows.count();
             Impedance::Gains gains{read_gain(K, "K", m), read_gain(D, "D", m), {}};
             if (!inertia.is_none()) gains.inertia = read_gain(inertia, "inertia", m);
             return std::make_shared<Impedance>(model, std::move(task), std::move(gains));
           }),
           py::arg("model").none(false), py::arg("K"), py::arg("D"), py::arg("K_d"), py::arg("inertia"), py::arg("rows"),
           py::arg("frame"), py::arg("posture"), py::arg("K_posture"))
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
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_xi, const ArrayLike& K_v,
                      const LawArgument& law, const std::vector<bool>& unknown,
                      const PredictionArguments& prediction, const std::vector<int>& rows, const py::object& frame,
                      const py::object& posture, const py::object& K_posture) {
            TaskSetup task = task_setup(*model, rows, frame, K_v, posture, K_posture, "K_v");
            const int m = task.rows.count();
            return std::make_shared<CartesianMACT>(make_adaptive_model(model, unknown, law),
                                                   make_prediction_error(model, prediction), std::move(task),
                                                   read_gain(K_xi, "K_xi", m));
          }),
          py::arg("model").none(false), py::arg("K_xi"), py::arg("K_v"), py::arg("law"), py::arg("unknown"),
          py::arg("prediction"), py::arg("rows"), py::arg("frame"), py::arg("posture"), py::arg("K_posture"));
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
