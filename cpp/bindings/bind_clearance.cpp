// Clearances of paths for Python.
#include "planning.hpp"

namespace thunder::python {

namespace {

using A = const ArrayLike&;

/// Checks for the three position coordinates that ObstacleSet reads.
const BezierPath& spatial(const BezierPath& path) {
  if (path.dimension < 3)
    throw py::value_error("path must have at least three dimensions, the position first, got " + std::to_string(path.dimension));
  return path;
}

std::shared_ptr<ObstacleSet> make_set(const std::vector<std::shared_ptr<Obstacle>>& obstacles,
                                      const std::optional<ArrayLike>& velocities) {
  std::vector<MovingObstacle> moving;
  for (const auto& obstacle : obstacles) {
    if (!obstacle) throw py::value_error("obstacles must not contain None");
    moving.push_back({obstacle, Eigen::Vector3d::Zero()});
  }
  if (velocities) {
    const auto v = read_array(*velocities, "velocities", {static_cast<py::ssize_t>(obstacles.size()), 3});
    for (std::size_t k = 0; k < moving.size(); ++k)
      moving[k].velocity = Eigen::Map<const Eigen::Vector3d>(v.data(static_cast<py::ssize_t>(k), 0));
  }
  return std::make_shared<ObstacleSet>(moving);
}

}  // namespace

py::tuple clearance_tuple(const Clearance& c) { return py::make_tuple(c.distance, c.lower_bound, c.time, c.obstacle); }

void bind_clearance(py::module_& module) {
  py::class_<ObstacleSet, std::shared_ptr<ObstacleSet>>(module, "ObstacleSet", "Set of obstacles, at rest or at constant velocity.",
                                                        py::dynamic_attr())
      .def(py::init(&make_set), py::arg("obstacles"), py::arg("velocities") = py::none(),
           "List of obstacles and, if some move, their velocities (k, 3) [m/s].")
      .def("__len__", &ObstacleSet::size)
      .def(
          "distance",
          [](const ObstacleSet& set, int k, A p, double t) {
            if (const int size = static_cast<int>(set.size()); k < 0 || k >= size)
              throw py::index_error("obstacle index must be 0 or more and less than " + std::to_string(size) + ", got " + std::to_string(k));
            return set.distance(k, read_column(p, "p", 3), t);
          },
          py::arg("k"), py::arg("p"), py::arg("t"), "Signed distance [m] of a point (3,) to obstacle k at time t [s].")
      .def(
          "nearer",
          [](const ObstacleSet& set, A p, double t, double margin) {
            return set.nearer(read_column(p, "p", 3), t, margin);
          },
          py::arg("p"), py::arg("t"), py::arg("margin"), "Index of the first obstacle nearer than the margin [m], or -1.")
      .def(
          "clearance",
          [](const ObstacleSet& set, const BezierPath& path, double tolerance) -> ClearanceTuple {
            return clearance_tuple(set.clearance(spatial(path), tolerance));
          },
          py::arg("path"), py::arg("tolerance") = ObstacleSet::kTouch,
          "Least distance [m], its proved lower bound [m], time [s] and index of the obstacle (-1: none).")
      .def(
          "free",
          [](const ObstacleSet& set, const BezierPath& path, double margin) { return set.free(spatial(path), margin); },
          py::arg("path"), py::arg("margin"), "True if the path is proved to keep the margin [m].");
}

}  // namespace thunder::python
