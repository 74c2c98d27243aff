// Dynamic movement primitives for Python.
#include <pybind11/native_enum.h>

#include "control.hpp"
#include "exclusive.hpp"
#include "gil.hpp"
#include "pickling.hpp"
#include "thunder/planning/primitives/dmp.hpp"
#include "thunder/planning/primitives/quaternion_dmp.hpp"

namespace thunder::python {

namespace {

using A = const ArrayLike&;

Eigen::MatrixXd read_weights(A value, int rows) {
  const auto array = read_array(value, "weights", {rows, -1});
  return Eigen::Map<const RowMajor>(array.data(), array.shape(0), array.shape(1));
}

Eigen::Quaterniond read_orientation(A value, const char* name) {
  return Eigen::Quaterniond(read_rotation(value, name)).normalized();
}

Array to_array(const Dmp::Vector& v) { return Array(v.size(), v.data()); }

Array matrix(const Eigen::Quaterniond& q) { return to_numpy(RowMajor(q.toRotationMatrix())); }

/// Rows of center, velocity, radius; planar obstacles have zero third coordinates.
std::vector<RepellingSphere> read_spheres(A value) {
  const auto rows = read_array(value, "spheres", {-1, 7});
  std::vector<RepellingSphere> spheres(static_cast<std::size_t>(rows.shape(0)));
  for (py::ssize_t i = 0; i < rows.shape(0); ++i) {
    RepellingSphere& sphere = spheres[static_cast<std::size_t>(i)];
    std::copy_n(rows.data(i, 0), 3, sphere.center);
    std::copy_n(rows.data(i, 3), 3, sphere.velocity);
    sphere.radius = rows.at(i, 6);
  }
  return spheres;
}

py::typing::Tuple<Array, Array> field_at(const DynamicPotential& field, A points, A velocities, A spheres, double t) {
  const auto y = read_array(points, "y", {-1, 3}), z = read_array(velocities, "z", {y.shape(0), 3});
  const auto obstacles = read_spheres(spheres);
  Array energy(y.shape(0)), force({y.shape(0), py::ssize_t{3}});
  for (py::ssize_t k = 0; k < y.shape(0); ++k) {
    double* sum = force.mutable_data(k, 0);
    std::fill_n(sum, 3, energy.mutable_at(k) = 0.0);
    for (const RepellingSphere& sphere : obstacles) {
      double r[3], relative[3];
      for (int i = 0; i < 3; ++i) {
        r[i] = y.at(k, i) - sphere.center[i] - t * sphere.velocity[i];
        relative[i] = z.at(k, i) - sphere.velocity[i];
      }
      energy.mutable_at(k) += field.potential(r, relative, sphere.radius);
      field.add_force(r, relative, sphere.radius, sum);
    }
  }
  return py::make_tuple(energy, force);
}

py::ssize_t rows_of(int steps) {
  constexpr int kMostSteps = 10000000;  // all are kept: 5 GB in 16 dimensions
  if (steps < 0 || steps > kMostSteps)
    throw py::value_error("steps must be 0 to " + std::to_string(kMostSteps) + ", got " + std::to_string(steps));
  return py::ssize_t{steps} + 1;
}

/// Position and three derivatives at k dt, k = 0 ... steps.
Arrays rollout(Dmp& dmp, int steps, double dt, int pieces) {
  if (pieces < 1) throw py::value_error("pieces must be at least 1, got " + std::to_string(pieces));
  const py::ssize_t rows = rows_of(steps), d = dmp.dimension();
  Array y({rows, d}), dy({rows, d}), ddy({rows, d}), dddy({rows, d});
  double* const out[4] = {y.mutable_data(), dy.mutable_data(), ddy.mutable_data(), dddy.mutable_data()};
  {
    const GilRelease release;
    for (int k = 0; k <= steps; ++k) {
      const Dmp::Vector values[4] = {dmp.position(), dmp.velocity(), dmp.acceleration(), dmp.jerk()};
      for (int i = 0; i < 4; ++i) std::copy_n(values[i].data(), d, out[i] + k * d);
      for (int j = 0; k < steps && j < pieces; ++j) dmp.step(dt / pieces);
    }
  }
  return py::make_tuple(y, dy, ddy, dddy);
}

Arrays rollout_orientation(QuaternionDmp& dmp, int steps, double dt) {
  const py::ssize_t rows = rows_of(steps);
  Array q({rows, py::ssize_t{4}}), w({rows, py::ssize_t{3}}), dw({rows, py::ssize_t{3}});
  double *to_q = q.mutable_data(), *to_w = w.mutable_data(), *to_dw = dw.mutable_data();
  {
    const GilRelease release;
    for (int k = 0; k <= steps; ++k) {
      const Eigen::Vector3d velocity = dmp.velocity(), acceleration = dmp.acceleration();
      std::copy_n(dmp.orientation().coeffs().data(), 4, to_q + 4 * k);  // x, y, z, w as SciPy has them
      std::copy_n(velocity.data(), 3, to_w + 3 * k);
      std::copy_n(acceleration.data(), 3, to_dw + 3 * k);
      if (k < steps) dmp.step(dt);
    }
  }
  return py::make_tuple(q, w, dw);
}

void bind_basis(py::module_& module) {
  py::native_enum<BasisKind>(module, "BasisKind", "enum.Enum", "Shape of basis functions.")
      .value("gaussian", BasisKind::gaussian)
      .value("mollifier", BasisKind::mollifier)
      .value("wendland_c2", BasisKind::wendland_c2)
      .value("wendland_c4", BasisKind::wendland_c4)
      .value("von_mises", BasisKind::von_mises)
      .finalize();
  py::class_<DmpBasis, std::shared_ptr<DmpBasis>>(module, "DmpBasis", "Basis functions of the phase.", py::dynamic_attr())
      .def(py::init<BasisKind, int, double, double>(), py::arg("kind"), py::arg("count"), py::arg("alpha"),
           py::arg("overlap"))
      .def_property_readonly("centers", [](const DmpBasis& b) { return Array(b.count(), b.centers().data()); })
      .def_property_readonly("widths", [](const DmpBasis& b) { return Array(b.count(), b.widths().data()); })
      .def("evaluate",
           [](const DmpBasis& basis, A phases) {
             const auto x = read_array(phases, "x", {-1});
             Array values({x.shape(0), py::ssize_t{basis.count()}});
             for (py::ssize_t k = 0; k < x.shape(0); ++k)
               for (int i = 0; i < basis.count(); ++i) values.mutable_at(k, i) = basis.function(i, x.at(k));
             return values;
           },
           py::arg("x"), "Values (k, count) of the functions at phases (k,).")
      .def("forcing",
           [](const DmpBasis& basis, A weights, A phases) {
             const RowMajor w = read_weights(weights, basis.count());
             const auto x = read_array(phases, "x", {-1});
             Array f({x.shape(0), py::ssize_t{w.cols()}});
             for (py::ssize_t k = 0; k < x.shape(0); ++k)
               basis.forcing(w.data(), static_cast<int>(w.cols()), x.at(k), f.mutable_data(k, 0));
             return f;
           },
           py::arg("weights"), py::arg("x"), "Forcing term (k, d) of weights (count, d) at phases (k,).");
}

void bind_field(py::module_& module) {
  py::class_<DynamicPotential>(module, "DynamicPotential", "Obstacle potential that acts on approaching motion only.")
      .def(py::init([](double gain, double beta, double least_distance, double tie_break, A side) {
             const auto s = read_array(side, "side", {3});
             return DynamicPotential{gain, beta, least_distance, tie_break, {s.at(0), s.at(1), s.at(2)}};
           }),
           py::arg("gain"), py::arg("beta"), py::arg("least_distance"), py::arg("tie_break"), py::arg("side"))
      .def("_at", &field_at, py::arg("y"), py::arg("z"), py::arg("spheres"), py::arg("t"));
}

void bind_primitive(py::module_& module) {
  py::native_enum<Dmp::Scaling>(module, "DmpScaling", "enum.Enum", "Form of a movement primitive.")
      .value("hoffmann", Dmp::Scaling::hoffmann)
      .value("paper", Dmp::Scaling::paper)
      .value("rhythmic", Dmp::Scaling::rhythmic)
      .finalize();
  ExclusiveClass<Dmp, std::shared_ptr<Dmp>> c(module, "Dmp", "Discrete or rhythmic movement primitive.", py::dynamic_attr());
  bind_state(c);
  c.def(py::init([](const DmpBasis& basis, double K, double D, Dmp::Scaling scaling, bool rotodilatation, A weights,
                       A displacement) {
             const Eigen::MatrixXd w = read_weights(weights, basis.count());
             return std::make_shared<Dmp>(basis, Dmp::Settings{K, D, scaling, rotodilatation}, w,
                                          read_column(displacement, "displacement", w.cols()));
           }),
           py::arg("basis").none(false), py::arg("K"), py::arg("D"), py::arg("scaling"), py::arg("rotodilatation"),
           py::arg("weights"), py::arg("displacement"))
      .def("reset",
           [](Dmp& dmp, A start, A goal, double tau, A velocity, const std::optional<ArrayLike>& amplitude, double angle) {
             const int d = dmp.dimension();
             const Eigen::VectorXd r = amplitude ? read_column(*amplitude, "amplitude", d) : Eigen::VectorXd::Ones(d);
             dmp.reset(read_column(start, "start", d).data(), read_column(goal, "goal", d).data(), tau,
                       read_column(velocity, "start_velocity", d).data(), r.data(), angle);
           },
           py::arg("start"), py::arg("goal"), py::arg("tau"), py::arg("start_velocity"), py::arg("amplitude") = py::none(),
           py::arg("angle") = 0.0)
      .def("step", &Dmp::step, py::arg("dt"))
      .def("set_amplitude",
           [](Dmp& dmp, A amplitude) { dmp.set_amplitude(read_column(amplitude, "amplitude", dmp.dimension()).data()); },
           py::arg("amplitude"))
      .def("set_goal", [](Dmp& dmp, A goal) { dmp.set_goal(read_column(goal, "goal", dmp.dimension()).data()); },
           py::arg("goal"))
      .def("set_tau", &Dmp::set_tau, py::arg("tau"))
      .def("set_goal_filter", &Dmp::set_goal_filter, py::arg("time_constant"))
      .def("set_obstacles",
           [](Dmp& dmp, const DynamicPotential& field, A spheres) { dmp.set_obstacles(field, read_spheres(spheres)); },
           py::arg("field"), py::arg("spheres"))
      .def("_rollout", &rollout, py::arg("steps"), py::arg("dt"), py::arg("pieces") = 1)
      .def_constant("dimension", &Dmp::dimension)
      .def_property_readonly("time", &Dmp::time)
      .def_property_readonly("tau", &Dmp::tau)
      .def_property_readonly("phase", &Dmp::phase)
      .def_property_readonly("goal", [](const Dmp& dmp) { return to_array(dmp.goal()); })
      .def_property_readonly("amplitude", [](const Dmp& dmp) { return to_array(dmp.amplitude()); })
      .def_property_readonly("x", [](const Dmp& dmp) { return to_array(dmp.position()); })
      .def_property_readonly("dx", [](const Dmp& dmp) { return to_array(dmp.velocity()); })
      .def_property_readonly("ddx", [](const Dmp& dmp) { return to_array(dmp.acceleration()); })
      .def_property_readonly("dddx", [](const Dmp& dmp) { return to_array(dmp.jerk()); });
}

void bind_orientation(py::module_& module) {
  ExclusiveClass<QuaternionDmp, std::shared_ptr<QuaternionDmp>> c(module, "QuaternionDmp",
                                                                  "Movement primitive of orientation.", py::dynamic_attr());
  bind_state(c);
  c.def(py::init([](const DmpBasis& basis, double K, double D, bool paper, A weights) {
             return std::make_shared<QuaternionDmp>(basis, QuaternionDmp::Settings{K, D, paper},
                                                    read_weights(weights, basis.count()));
           }),
           py::arg("basis").none(false), py::arg("K"), py::arg("D"), py::arg("paper"), py::arg("weights"))
      .def("reset",
           [](QuaternionDmp& dmp, A start, A goal, double tau, A velocity) {
             dmp.reset(read_orientation(start, "start"), read_orientation(goal, "goal"), tau,
                       Eigen::Vector3d(read_column(velocity, "start_velocity", 3)));
           },
           py::arg("start"), py::arg("goal"), py::arg("tau"), py::arg("start_velocity"))
      .def("step", &QuaternionDmp::step, py::arg("dt"))
      .def("set_goal", [](QuaternionDmp& dmp, A goal) { dmp.set_goal(read_orientation(goal, "goal")); },
           py::arg("goal"))
      .def("set_tau", &QuaternionDmp::set_tau, py::arg("tau"))
      .def("_rollout", &rollout_orientation, py::arg("steps"), py::arg("dt"))
      .def_property_readonly("time", &QuaternionDmp::time)
      .def_property_readonly("tau", &QuaternionDmp::tau)
      .def_property_readonly("phase", &QuaternionDmp::phase)
      .def_property_readonly("goal", [](const QuaternionDmp& dmp) { return matrix(dmp.goal()); })
      .def_property_readonly("R", [](const QuaternionDmp& dmp) { return matrix(dmp.orientation()); })
      .def_property_readonly("w", [](const QuaternionDmp& dmp) { return to_numpy(Eigen::VectorXd(dmp.velocity())); })
      .def_property_readonly("dw",
                             [](const QuaternionDmp& dmp) { return to_numpy(Eigen::VectorXd(dmp.acceleration())); });
}

}  // namespace

void bind_dmp(py::module_& module) {
  bind_basis(module);
  bind_field(module);
  bind_primitive(module);
  bind_orientation(module);
}

}  // namespace thunder::python
