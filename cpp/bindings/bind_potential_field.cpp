// Obstacles and the potential-field planner for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "gil.hpp"
#include "thunder/planning/obstacles/potential_planner.hpp"

namespace thunder::python {

namespace {

using A = const ArrayLike&;
using Obstacles = std::vector<std::shared_ptr<const Obstacle>>;

py::typing::Tuple<Array, Array> nearest(const Obstacle& obstacle, A points) {
  const auto p = read_array(points, "points", {-1, 3});
  Array distances(p.shape(0)), normals({p.shape(0), py::ssize_t{3}});
  for (py::ssize_t k = 0; k < p.shape(0); ++k) {
    const Proximity near = obstacle.nearest(Eigen::Map<const Eigen::Vector3d>(p.data(k, 0)));
    distances.mutable_at(k) = near.distance;
    std::copy_n(near.normal.data(), 3, normals.mutable_data(k, 0));
  }
  return py::make_tuple(distances, normals);
}

template <class Concrete>
using ObstacleClass = py::class_<Concrete, Obstacle, std::shared_ptr<Concrete>>;

void bind_obstacles(py::module_& module) {
  py::class_<Obstacle, std::shared_ptr<Obstacle>>(module, "Obstacle", "Convex obstacle.")
      .def("nearest", &nearest, py::arg("points"),
           "Signed distances (k,) [m] of points (k, 3), negative inside, and their gradients (k, 3).");
  ObstacleClass<Sphere>(module, "Sphere", "A ball.")
      .def(py::init([](A center, double radius) {
             return std::make_shared<Sphere>(Eigen::Vector3d(read_column(center, "center", 3)), radius);
           }),
           py::arg("center"), py::arg("radius"));
  ObstacleClass<Box>(module, "Box", "A box in any orientation.")
      .def(py::init([](A center, A R, A half) {
             return std::make_shared<Box>(Eigen::Vector3d(read_column(center, "center", 3)), read_rotation(R, "R"),
                                          Eigen::Vector3d(read_column(half, "half", 3)));
           }),
           py::arg("center"), py::arg("R"), py::arg("half"));
  ObstacleClass<Capsule>(module, "Capsule", "Capsule: all points within a radius of a segment.")
      .def(py::init([](A a, A b, double radius) {
             return std::make_shared<Capsule>(Eigen::Vector3d(read_column(a, "a", 3)),
                                              Eigen::Vector3d(read_column(b, "b", 3)), radius);
           }),
           py::arg("a"), py::arg("b"), py::arg("radius"));
  ObstacleClass<HalfSpace>(module, "HalfSpace", "Half-space behind a plane.")
      .def(py::init([](A point, A normal) {
             return std::make_shared<HalfSpace>(Eigen::Vector3d(read_column(point, "point", 3)),
                                                Eigen::Vector3d(read_column(normal, "normal", 3)));
           }),
           py::arg("point"), py::arg("normal"));
}

constexpr int kMostInterior = 10000;  // points on each segment of the arm

std::shared_ptr<PotentialField> make_field(const std::shared_ptr<Model>& model,
                                           const std::vector<std::shared_ptr<Obstacle>>& obstacles, A goal,
                                           const std::vector<int>& links, A offsets,
                                           const PotentialField::Settings& settings) {
  const auto offset = read_array(offsets, "offsets", {static_cast<py::ssize_t>(links.size()), 3});
  std::vector<PotentialField::LinkPoint> points;
  for (const int link : links)
    if (link < 0 || link > model->n())
      throw py::value_error("links must be 0 to " + std::to_string(model->n()) + ", got " + std::to_string(link));
  for (const auto& obstacle : obstacles)
    if (!obstacle) throw py::value_error("obstacles must not contain None");
  if (settings.interior < 0 || settings.interior > kMostInterior)
    throw py::value_error("interior must be 0 to " + std::to_string(kMostInterior) + ", got " +
                          std::to_string(settings.interior));
  for (std::size_t k = 0; k < links.size(); ++k)
    points.push_back({links[k], Eigen::Map<const Eigen::Vector3d>(offset.data(static_cast<py::ssize_t>(k), 0))});
  return std::make_shared<PotentialField>(model, Obstacles(obstacles.begin(), obstacles.end()), settings, points,
                                          read_column(goal, "goal", model->n()));
}

py::typing::Tuple<double, Array> potential(PotentialField& field, A q) {
  const Eigen::VectorXd at = read_column(q, "q", field.n());
  Array gradient(field.n());
  const double value = field.potential(at.data(), gradient.mutable_data());
  return py::make_tuple(value, gradient);
}

py::typing::Tuple<py::str, Array, int, int> descend_potential(PotentialField& field, A start, A lower, A upper, double step,
                                                 double tolerance, double margin, int max_iterations, int walk_steps,
                                                 int max_walks, std::uint64_t seed) {
  const int n = field.n();
  const auto read_limits = [n](A values, const char* name) {  // may be infinite
    const auto array = read_measurement(values, name, n);
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(array.data(), n));
  };
  const Eigen::VectorXd q0 = read_column(start, "q0", n), low = read_limits(lower, "lower"), high = read_limits(upper, "upper");
  const Plan plan = [&] {
    const GilRelease release;
    return descend(field, q0, low, high, {step, tolerance, margin, max_iterations, walk_steps, max_walks, seed});
  }();
  constexpr const char* kNames[] = {"reached", "local_minimum", "max_iterations"};
  return py::make_tuple(py::str(kNames[static_cast<int>(plan.status)]),
                        Array({static_cast<py::ssize_t>(plan.path.size()) / n, py::ssize_t{n}}, plan.path.data()),
                        plan.iterations, plan.walks);
}

}  // namespace

void bind_potential_field(py::module_& module) {
  bind_obstacles(module);
  ExclusiveClass<PotentialField, std::shared_ptr<PotentialField>>(module, "PotentialField",
                                                                  "Potential of an arm among convex obstacles.")
      .def(py::init([](const std::shared_ptr<Model>& model, const std::vector<std::shared_ptr<Obstacle>>& obstacles,
                       A goal, const std::vector<int>& links, A offsets, double attraction, double conic_distance,
                       double repulsion, double influence, double posture, double radius, int interior) {
             return make_field(model, obstacles, goal, links, offsets,
                               {attraction, conic_distance, repulsion, influence, posture, radius, interior});
           }),
           py::arg("model").none(false), py::arg("obstacles"), py::arg("goal"), py::arg("links"), py::arg("offsets"),
           py::arg("attraction"), py::arg("conic_distance"), py::arg("repulsion"), py::arg("influence"),
           py::arg("posture"), py::arg("radius"), py::arg("interior"))
      .def("_potential", &potential, py::arg("q"))
      .def("_clearance",
           [](PotentialField& field, A q) { return field.clearance(read_column(q, "q", field.n()).data()); },
           py::arg("q"))
      .def("_free",
           [](PotentialField& field, A from, A to, double margin) {
             const Eigen::VectorXd a = read_column(from, "q0", field.n()), b = read_column(to, "q1", field.n());
             return field.free(a.data(), b.data(), margin);
           },
           py::arg("q0"), py::arg("q1"), py::arg("margin"))
      .def("_plan", &descend_potential, py::arg("q0"), py::arg("lower"), py::arg("upper"), py::arg("step"), py::arg("tolerance"),
           py::arg("margin"), py::arg("max_iterations"), py::arg("walk_steps"), py::arg("max_walks"), py::arg("seed"));
}

}  // namespace thunder::python
