// Clearances of paths for Python.
#include "planning.hpp"

namespace thunder::python {

namespace {

using A = const ArrayLike&;

/// What ObstacleSet reads: three numbers of position.
const BezierPath& spatial(const BezierPath& path) {
  if (path.dimension < 3)
    throw py::value_error("path must begin with three numbers of position, got " + std::to_string(path.dimension) + " in all");
  return path;
}

std::shared_ptr<ObstacleSet> make_set(const std::vector<std::shared_ptr<Obstacle>>& obstacles,
                                      const std::optional<ArrayLike>& velocities) {
  std::vector<MovingObstacle> moving;
  for (const auto& obstacle : obstacles) {
    if (!obstacle) throw py::value_error("obstacles must be obstacles, got None");
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
  py::class_<ObstacleSet, std::shared_ptr<ObstacleSet>>(module, "ObstacleSet", "Obstacles, some of which may move.",
                                                        py::dynamic_attr())
      .def(py::init(&make_set), py::arg("obstacles"), py::arg("velocities") = py::none(),
           "A list of obstacles, and their velocities (k, 3) if some move.")
      .def("__len__", &ObstacleSet::size)
      .def(
          "distance",
          [](const ObstacleSet& set, int k, A p, double t) {
            if (k < 0 || k >= static_cast<int>(set.size())) throw py::index_error("there is no obstacle " + std::to_string(k));
            return set.distance(k, read_column(p, "p", 3), t);
          },
          py::arg("k"), py::arg("p"), py::arg("t"), "Signed distance of a point to obstacle k at time t.")
      .def(
          "nearer",
          [](const ObstacleSet& set, A p, double t, double margin) {
            return set.nearer(read_column(p, "p", 3), t, margin);
          },
          py::arg("p"), py::arg("t"), py::arg("margin"), "Index of the first obstacle nearer than the margin, or -1.")
      .def(
          "clearance",
          [](const ObstacleSet& set, const BezierPath& path, double tolerance) -> ClearanceTuple {
            return clearance_tuple(set.clearance(spatial(path), tolerance));
          },
          py::arg("path"), py::arg("tolerance") = ObstacleSet::kTouch,
          "Least distance, proved lower bound of it, time, index of the obstacle (-1: none).")
      .def(
          "free",
          [](const ObstacleSet& set, const BezierPath& path, double margin) { return set.free(spatial(path), margin); },
          py::arg("path"), py::arg("margin"), "Is it proved that the path keeps the margin?");
}

}  // namespace thunder::python
