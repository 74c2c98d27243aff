// Inverse kinematics, numeric and analytic, for Python.
#include "control.hpp"
#include "gil.hpp"
#include "kinematics.hpp"
#include "thunder/kinematics/inverse_kinematics.hpp"
#include "thunder/kinematics/spherical_wrist.hpp"

namespace thunder::python {

namespace {

std::shared_ptr<InverseKinematics> make_solver(std::shared_ptr<Model> model, const py::object& frame, int mask,
                                               bool newton, double tolerance, int max_iterations, double learning_rate,
                                               const ArrayLike& lower, const ArrayLike& upper,
                                               const ArrayLike& starts) {
  using Column = Eigen::Map<const Eigen::VectorXd>;
  using Method = InverseKinematics::Method;
  const Frame<double>& at = find_frame(*model, frame);
  const auto starts_ = read_array(starts, "starts", {-1, model->n()});
  const auto lower_ = read_measurement(lower, "lower", model->n());  // may be infinite
  const auto upper_ = read_measurement(upper, "upper", model->n());
  InverseKinematics::Settings s{newton ? Method::levenberg_marquardt : Method::gradient_descent,
                                tolerance,
                                max_iterations,
                                learning_rate,
                                Column(lower_.data(), lower_.size()),
                                Column(upper_.data(), upper_.size()),
                                Eigen::Map<const RowMajor>(starts_.data(), starts_.shape(0), starts_.shape(1))};
  return std::make_shared<InverseKinematics>(std::move(model), at, TaskRows{require_row_mask(mask)}, std::move(s));
}

/// T is (k, 4, 4); q0 (k, n), (1, n) or None.
py::tuple solve(const InverseKinematics& solver, const ArrayLike& T, const py::object& q0, int threads) {
  if (threads < 0) throw py::value_error("threads must not be negative, got " + std::to_string(threads));
  const int n = solver.n();
  const auto T_ = read_array(T, "T", {-1, 4, 4});
  const py::ssize_t count = T_.shape(0);
  py::array_t<double, py::array::c_style> start;
  if (!q0.is_none()) start = read_array(q0, "q0", {-1, n});
  if (!q0.is_none() && start.shape(0) != 1 && start.shape(0) != count)
    throw py::value_error("q0 must have one row, or one for each target");
  Array q({count, static_cast<py::ssize_t>(n)});
  std::vector<InverseKinematics::Solution> solutions(count);
  InverseKinematics::Batch batch{T_.data(), q0.is_none() ? nullptr : start.data(),     16,
                                 !q0.is_none() && start.shape(0) > 1 ? n : 0, q.mutable_data(), solutions.data(),
                                 static_cast<std::size_t>(count)};
  {
    const GilRelease release;
    solver.solve_batch(batch, threads, check_signals);
  }
  py::array_t<bool> success(count);
  Array error(count);
  py::array_t<std::int64_t> iterations(count), restarts(count);
  for (py::ssize_t b = 0; b < count; ++b) {
    success.mutable_at(b) = solutions[b].success;
    error.mutable_at(b) = solutions[b].error;
    iterations.mutable_at(b) = solutions[b].iterations;
    restarts.mutable_at(b) = solutions[b].restarts;
  }
  return py::make_tuple(q, success, error, iterations, restarts);
}

Eigen::Vector3d row(const py::array_t<double, py::array::c_style>& rows, py::ssize_t i) {
  return {rows.at(i, 0), rows.at(i, 1), rows.at(i, 2)};
}

std::shared_ptr<SphericalWrist> make_wrist(const ArrayLike& axes, const ArrayLike& points, const ArrayLike& wrist,
                                           const ArrayLike& T) {
  const auto axes_ = read_array(axes, "axes", {6, 3}), points_ = read_array(points, "points", {3, 3});
  const auto T_ = read_array(T, "T", {4, 4});
  SphericalWrist::Geometry g;
  for (int i = 0; i < 6; ++i) g.axes[i] = row(axes_, i);
  for (int i = 0; i < 3; ++i) g.points[i] = row(points_, i);
  g.wrist = read_column(wrist, "wrist", 3);
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> pose(T_.data());
  g.R = pose.topLeftCorner<3, 3>();
  g.p = pose.topRightCorner<3, 1>();
  return std::make_shared<SphericalWrist>(g);
}

Array solve_wrist(const SphericalWrist& wrist, const ArrayLike& T, const ArrayLike& near) {
  const auto T_ = read_array(T, "T", {4, 4});
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> pose(T_.data());
  const auto solutions =
      wrist.solve(pose.topRightCorner<3, 1>(), pose.topLeftCorner<3, 3>(), read_column(near, "near", 6));
  Array result({static_cast<py::ssize_t>(solutions.count), static_cast<py::ssize_t>(6)});
  for (int k = 0; k < solutions.count; ++k) std::copy_n(solutions.q[k].data(), 6, result.mutable_data(k, 0));
  return result;
}

}  // namespace

void bind_kinematics(py::module_& module) {
  bind_clik(module);
  py::class_<InverseKinematics, std::shared_ptr<InverseKinematics>>(module, "InverseKinematics",
                                                                    "Numeric inverse kinematics.")
      .def(py::init(&make_solver), py::arg("model").none(false), py::arg("frame"), py::arg("mask"), py::arg("newton"),
           py::arg("tolerance"), py::arg("max_iterations"), py::arg("learning_rate"), py::arg("lower"),
           py::arg("upper"), py::arg("starts"))
      .def_property_readonly("n", &InverseKinematics::n, "Number of joints.")
      .def("_solve", &solve, py::arg("T"), py::arg("q0"), py::arg("threads"), "See InverseKinematics.solve.");
  py::class_<SphericalWrist, std::shared_ptr<SphericalWrist>>(module, "SphericalWrist",
                                                              "Analytic inverse kinematics of elbow arms.")
      .def(py::init(&make_wrist), py::arg("axes"), py::arg("points"), py::arg("wrist"), py::arg("T"))
      .def("_solve", &solve_wrist, py::arg("T"), py::arg("near"), "See SphericalWristIK.solve.");
}

}  // namespace thunder::python
