// Timing laws and trajectories for Python.
#include "control.hpp"
#include "thunder/planning/trajectory/fourier_series.hpp"
#include "thunder/planning/trajectory/joint_trajectory.hpp"
#include "thunder/planning/trajectory/task_path.hpp"

namespace thunder::python {

namespace {

template <class Concrete, class Reference>
using SourceClass = py::class_<Concrete, ReferenceSource<Reference>, std::shared_ptr<Concrete>>;

using A = const ArrayLike&;

Eigen::MatrixXd read_matrix(py::handle value, const char* name, py::ssize_t rows, py::ssize_t cols) {
  const auto array = read_array(value, name, {rows, cols});
  return Eigen::Map<const RowMajor>(array.data(), array.shape(0), array.shape(1));
}

/// Coefficients as SciPy's PPoly has them: order x pieces x dimension, powers descending.
PiecewisePolynomial read_polynomial(A breaks, A coefficients) {
  const auto t = read_array(breaks, "breaks", {-1});
  if (t.size() < 2) throw py::value_error("breaks must have at least two entries, got " + std::to_string(t.size()));
  const auto c = read_array(coefficients, "coefficients", {-1, t.size() - 1, -1});
  const auto order = c.shape(0), pieces = c.shape(1), dimension = c.shape(2);
  std::vector<double> ascending(static_cast<std::size_t>(c.size()));
  for (py::ssize_t j = 0; j < order; ++j)
    for (py::ssize_t k = 0; k < pieces; ++k)
      std::copy_n(c.data(j, k, 0), dimension, ascending.data() + (k * order + order - 1 - j) * dimension);
  return {{t.data(), t.data() + t.size()}, std::move(ascending), static_cast<int>(dimension)};
}

py::typing::Tuple<Array, Array, Array> polynomial_at(const PiecewisePolynomial& polynomial, double t) {
  Array x(polynomial.dimension()), dx(polynomial.dimension()), ddx(polynomial.dimension());
  polynomial.at(t, x.mutable_data(), dx.mutable_data(), ddx.mutable_data());
  return py::make_tuple(x, dx, ddx);
}

void bind_polynomial(py::module_& module) {
  py::class_<PiecewisePolynomial, std::shared_ptr<PiecewisePolynomial>>(module, "PiecewisePolynomial",
                                                                        "Piecewise polynomial of a vector.",
                                                                        py::dynamic_attr())
      .def(py::init([](A breaks, A coefficients) {
             return std::make_shared<PiecewisePolynomial>(read_polynomial(breaks, coefficients));
           }),
           py::arg("breaks"), py::arg("coefficients"),
           "Breaks (m + 1,) and coefficients (order, m, d), highest power first, of powers of t - breaks[k].")
      .def("at", &polynomial_at, py::arg("t"), "Value and first two derivatives at time t, each (d,).");
}

void bind_joint_trajectories(py::module_& module) {
  SourceClass<FourierSeries, JointReference>(module, "FourierSeries", "A finite Fourier series in every joint.")
      .def(py::init([](A a, A b, A q0, double fundamental) {
             const Eigen::MatrixXd a_ = read_matrix(a, "a", -1, -1);
             return std::make_shared<FourierSeries>(a_, read_matrix(b, "b", a_.rows(), a_.cols()),
                                                    read_column(q0, "q0", a_.rows()), fundamental);
           }),
           py::arg("a"), py::arg("b"), py::arg("q0"), py::arg("fundamental"));
  SourceClass<JointTrajectory, JointReference>(module, "JointTrajectory", "Joint-space reference along piecewise polynomials.")
      .def(py::init([](A breaks, A coefficients) {
             return std::make_shared<JointTrajectory>(read_polynomial(breaks, coefficients));
           }),
           py::arg("breaks"), py::arg("coefficients"));
}

using Laws = std::vector<std::shared_ptr<PiecewisePolynomial>>;

Eigen::Vector3d three(const Eigen::MatrixXd& rows, std::size_t i, int column) {
  return rows.block<1, 3>(static_cast<Eigen::Index>(i), column).transpose();
}

const PiecewisePolynomial& scalar(const std::shared_ptr<PiecewisePolynomial>& law) {
  if (!law || law->dimension() != 1) throw py::value_error("a timing law must be a polynomial of one dimension");
  return *law;
}

std::shared_ptr<TaskPath> make_task_path(A p, A R, const Laws& laws, A portions, const Laws& turn_laws, A turns) {
  const Eigen::MatrixXd parts = read_matrix(portions, "portions", static_cast<py::ssize_t>(laws.size()), 10);
  const Eigen::MatrixXd axes = read_matrix(turns, "turns", static_cast<py::ssize_t>(turn_laws.size()), 4);
  std::vector<TaskPath::Portion> moves;
  std::vector<TaskPath::Turn> rotations;
  for (std::size_t i = 0; i < laws.size(); ++i)
    moves.push_back({scalar(laws[i]), three(parts, i, 0), three(parts, i, 3), three(parts, i, 6),
                     parts(static_cast<Eigen::Index>(i), 9)});
  for (std::size_t i = 0; i < turn_laws.size(); ++i)
    rotations.push_back({scalar(turn_laws[i]), three(axes, i, 0), axes(static_cast<Eigen::Index>(i), 3)});
  return std::make_shared<TaskPath>(read_column(p, "p", 3), read_rotation(R, "R"), std::move(moves),
                                    std::move(rotations));
}

void bind_task_trajectories(py::module_& module) {
  SourceClass<TaskPath, TaskReference>(module, "TaskPath", "Task-space path of portions and turns, each with its timing law.")
      .def(py::init(&make_task_path), py::arg("p"), py::arg("R"), py::arg("laws"), py::arg("portions"),
           py::arg("turn_laws"), py::arg("turns"),
           "Rows of `portions`: chord, u, w, angle; rows of `turns`: axis, angle.");
}

}  // namespace

void bind_potential_field(py::module_& module);
void bind_functional_planner(py::module_& module);
void bind_clearance(py::module_& module);
void bind_via_search(py::module_& module);
void bind_dmp(py::module_& module);
void bind_interception(py::module_& module);

void bind_planning(py::module_& module) {
  bind_polynomial(module);
  bind_joint_trajectories(module);
  bind_task_trajectories(module);
  bind_potential_field(module);
  bind_functional_planner(module);
  bind_clearance(module);
  bind_via_search(module);
  bind_dmp(module);
  bind_interception(module);
}

}  // namespace thunder::python
