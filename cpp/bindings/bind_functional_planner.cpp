// Paths in Bernstein form and the planner of functional components for Python.
#include "functional_planner.hpp"

#include "gil.hpp"
#include "thunder/planning/functional/conditioned_motion.hpp"
#include "thunder/planning/functional/pose_states.hpp"
#include "thunder/planning/trajectory/rotation_vector_path.hpp"

namespace thunder::python {

namespace {

using A = const ArrayLike&;
using Object = const py::object&;

DofVector read_dofs(py::handle value, const char* name, int d) {
  const SampleInput input = read_vector(value, name, d);
  if (!input.batch.empty()) read_array(value, name, {d});  // throws, with the shapes
  return Eigen::Map<const Eigen::VectorXd>(input.data, d);
}

/// None stands for zero.
void read_rate(py::handle value, const char* name, int d, DofVector& to) {
  if (!value.is_none()) to = read_dofs(value, name, d);
}

std::string text(double value) { return py::str(py::float_(value)); }

/// Are all numbers of a path finite?
bool is_finite(const BezierPath& path) {
  double sum = 0.0;  // infinities and NaN stay in it
  for (const double value : path.points) sum += 0.0 * value;
  return sum == 0.0;
}

/// Pieces of a path must end later than they begin, in double precision too.
void check_clock(double start, double duration) {
  constexpr double kTick = 1e-5;  // of the duration: pieces of paths with via points take more
  if (!(start + kTick * duration > start))
    throw py::value_error("duration must exceed the clock resolution, got " + text(duration) + " s from " + text(start) +
                          " s");
}

[[noreturn]] void refuse_size() {
  throw py::value_error("start, goal, their rates and the duration must give a finite motion");
}

std::shared_ptr<BezierPath> make_path(A breaks, A points) {
  const auto t = read_array(breaks, "breaks", {-1});
  if (t.size() < 2) throw py::value_error("breaks must have at least two entries, got " + std::to_string(t.size()));
  const auto c = read_array(points, "points", {t.size() - 1, -1, -1});
  auto path = std::make_shared<BezierPath>(static_cast<int>(c.shape(2)), static_cast<int>(c.shape(1)) - 1,
                                           static_cast<int>(c.shape(0)));
  path->breaks.assign(t.data(), t.data() + t.size());
  for (std::size_t k = 1; k < path->breaks.size(); ++k)
    if (!(path->breaks[k] > path->breaks[k - 1])) throw py::value_error("breaks must increase");
  path->points.assign(c.data(), c.data() + c.size());
  return path;
}

Array sample_path(const BezierPath& path, A times, int derivative) {
  if (derivative < 0) throw py::value_error("derivative must not be negative, got " + std::to_string(derivative));
  const SampleInput t = read_samples(times, "t", {});
  std::vector<py::ssize_t> shape = t.batch;
  py::ssize_t count = 1;
  for (const py::ssize_t n : shape) count *= n;
  shape.push_back(path.dimension);
  Array out(shape);
  for (py::ssize_t k = 0; k < count; ++k) path.at(t.data[k], derivative, out.mutable_data() + k * path.dimension);
  return out;
}

void bind_paths(py::module_& module) {
  py::class_<BezierPath, std::shared_ptr<BezierPath>>(module, "BezierPath", "A piecewise polynomial in Bernstein form.")
      .def(py::init(&make_path), py::arg("breaks"), py::arg("points"),
           "Breaks (m + 1,) [s] and control points (m, degree + 1, d).")
      .def_property_readonly("breaks",
                             [](const BezierPath& path) {
                               return Array(static_cast<py::ssize_t>(path.breaks.size()), path.breaks.data());
                             })
      .def_property_readonly("points",
                             [](const BezierPath& path) {
                               return Array({path.pieces(), path.degree + 1, path.dimension}, path.points.data());
                             })
      .def_readonly("dimension", &BezierPath::dimension)
      .def_readonly("degree", &BezierPath::degree)
      .def_property_readonly("start", &BezierPath::start)
      .def_property_readonly("end", &BezierPath::end)
      .def("sample", &sample_path, py::arg("t"), py::arg("derivative") = 0,
           "Sample a derivative at times (...) [s]; returns (..., d).")
      .def(py::pickle([](const py::object& path) { return py::tuple(py::make_tuple(path.attr("breaks"), path.attr("points"))); },
                      [](const py::tuple& data) {
                        if (data.size() != 2) throw py::value_error("the pickle of a path must hold breaks and points");
                        return make_path(py::cast<ArrayLike>(data[0]), py::cast<ArrayLike>(data[1]));
                      }));
  using TaskSource = ReferenceSource<TaskReference>;
  py::class_<RotationVectorPath, TaskSource, std::shared_ptr<RotationVectorPath>>(
      module, "RotationVectorPath", "Path of position and rotation vector about a reference orientation.")
      .def(py::init([](const BezierPath& path, A R) {
             return std::make_shared<RotationVectorPath>(path, read_rotation(R, "R"));
           }),
           py::arg("path"), py::arg("R"))
      .def_property_readonly("path", &RotationVectorPath::path, py::return_value_policy::reference_internal)
      .def_property_readonly("reference_rotation",
                             [](const RotationVectorPath& source) { return to_numpy(RowMajor(source.reference_rotation())); });
  using JointSource = ReferenceSource<JointReference>;
  py::class_<JointBezierPath, JointSource, std::shared_ptr<JointBezierPath>>(module, "JointBezierPath",
                                                                            "Joint-space reference along a path.")
      .def(py::init([](const BezierPath& path) { return std::make_shared<JointBezierPath>(path); }), py::arg("path"))
      .def_property_readonly("path", &JointBezierPath::path, py::return_value_policy::reference_internal);
}

std::vector<double> read_numbers(py::handle value, const char* name, std::vector<py::ssize_t> shape) {
  const auto array = read_array(value, name, std::move(shape));
  return {array.data(), array.data() + array.size()};
}

std::shared_ptr<FunctionalPlanner> make_planner(A breaks, A mean, A functions, A variances, bool joint, bool aligned,
                                                bool exact, int order) {
  const auto m = read_array(mean, "mean", {-1, -1, -1});
  const auto f = read_array(functions, "functions", {-1, m.shape(0), m.shape(1), m.shape(2)});
  auto sizes = read_numbers(variances, "variances", {f.shape(0) * (joint ? 1 : m.shape(2))});
  for (const double variance : sizes)
    if (variance < 0.0) throw py::value_error("variances must not be negative");
  FunctionalModel model(read_numbers(breaks, "breaks", {m.shape(0) + 1}), static_cast<int>(m.shape(2)), joint, aligned,
                        {m.data(), m.data() + m.size()}, {f.data(), f.data() + f.size()}, std::move(sizes));
  using Mode = PlannerSettings::Mode;
  return std::make_shared<FunctionalPlanner>(std::move(model), PlannerSettings{exact ? Mode::exact : Mode::map, order});
}

/// Limits of groups of coordinates: floors (G,), ratios to minimum jerk (3,), absolute limits (3, G).
void limit_travel(FunctionalPlanner& planner, const std::vector<int>& groups, A floors, A ratios, A most) {
  const auto floor = read_array(floors, "floors", {-1});
  const auto ratio = read_array(ratios, "ratios", {3}), absolute = read_array(most, "most", {3, floor.size()});
  TravelLimits limits;
  limits.groups = static_cast<int>(floor.size());
  limits.order = planner.settings().order;
  if (static_cast<int>(groups.size()) != planner.dimension() || limits.groups > kMaxDofs)
    throw py::value_error("groups must have an entry for each coordinate, got " + std::to_string(groups.size()));
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k] < 0 || groups[k] >= limits.groups) throw py::value_error("groups must be indices of floors");
    limits.group_of[k] = groups[k];
  }
  std::copy_n(floor.data(), limits.groups, limits.floor);
  for (int q = 0; q < 3; ++q) {
    limits.ratio[q] = ratio.at(q);
    std::copy_n(absolute.data(q, 0), limits.groups, limits.most.of[q]);
  }
  planner.set_travel_limits(limits);
}

const TravelLimits& limits_of(const FunctionalPlanner& planner, const BezierPath& path) {
  if (path.dimension != planner.dimension()) throw py::value_error("path must have the dimension of the planner");
  return planner.travel_limits();
}

Array rows_of(const Travel& size, int groups) {
  Array rows({py::ssize_t{3}, static_cast<py::ssize_t>(groups)});
  for (int q = 0; q < 3; ++q) std::copy_n(size.of[q], groups, rows.mutable_data(q, 0));
  return rows;
}

py::typing::Tuple<BezierPath, double, bool> plan(const FunctionalPlanner& planner, py::handle start, py::handle goal, double duration, double start_time,
                Object start_velocity, Object goal_velocity, Object start_acceleration, Object goal_acceleration) {
  const Problem problem = read_problem(planner, start, goal, duration, start_time, start_velocity, goal_velocity,
                                       start_acceleration, goal_acceleration);
  BezierPath path = planner.blank();
  planner.connect(problem.from, problem.to, start_time, duration, path, 0);
  require_motion(path);
  const bool far = planner.travel_limits().exceeded(path);
  return py::make_tuple(std::move(path), planner.score_distance(problem.from, problem.to, duration), far);
}

py::typing::Tuple<BezierPath, double, bool, Array> resume(const FunctionalPlanner& planner, const BezierPath& before,
                                                          double t, double end, double tau, Object frame, A goal,
                                                          Object goal_velocity, Object goal_acceleration, int order,
                                                          double condition_limit, double deviation_limit) {
  const int d = planner.dimension();
  if (before.dimension != d) throw py::value_error("path must have the dimension of the planner");
  if (!(tau >= 0.0 && tau < 1.0)) throw py::value_error("tau must be from 0 to below 1");
  if (order < 2 || order > planner.settings().order)
    throw py::value_error("order must be 2 to that of the planner, got " + std::to_string(order));
  if (!(before.start() <= t && t < before.end())) throw py::value_error("t must lie within the path, before its end");
  const double left = positive(finite(end, "end") - finite(t, "t"), "end - t");
  check_clock(t, left);
  BoundaryState to(d);
  DofVector ends[] = {to.x, to.x};
  if (!frame.is_none()) {
    const auto points = read_array(frame, "frame", {2, d});
    for (int k = 0; k < 2; ++k) std::copy_n(points.data(k, 0), d, ends[k].data());
  }
  to.x = read_dofs(goal, "goal", d);
  read_rate(goal_velocity, "goal_velocity", d, to.v);
  read_rate(goal_acceleration, "goal_acceleration", d, to.a);
  Resumed rest;
  Array correction(planner.model().unknowns());
  planner.resume({before, t, tau, ends[0], ends[1]}, to, left, order, {condition_limit, deviation_limit}, rest,
                 correction.mutable_data());
  rest.path.breaks.back() = end;  // t + (end - t) is rounded
  require_motion(rest.path);
  return py::make_tuple(std::move(rest.path), rest.condition, rest.fallback, std::move(correction));
}

/// A row of `constraints` is tau, derivative, degree of freedom, value, noise.
std::shared_ptr<ConditionedMotion> condition(const std::shared_ptr<FunctionalPlanner>& planner, A start, A goal,
                                             double duration, A constraints) {
  const auto rows = read_array(constraints, "constraints", {-1, 5});
  std::vector<MotionConstraint> all;
  for (py::ssize_t k = 0; k < rows.shape(0); ++k) {
    const double* const row = rows.data(k, 0);
    const MotionConstraint each{row[0], static_cast<int>(row[1]), static_cast<int>(row[2]), row[3], row[4]};
    if (!(each.tau >= 0.0 && each.tau <= 1.0)) throw py::value_error("constraints must lie within the duration");
    if (each.derivative < 0 || each.derivative > 3 || each.dof < 0 || each.dof >= planner->dimension() || each.noise < 0.0)
      throw py::value_error("constraints must have a derivative of 0 to 3, an existing degree of freedom and noise of at least 0");
    all.push_back(each);
  }
  const int d = planner->dimension();
  return std::make_shared<ConditionedMotion>(planner, read_dofs(start, "start", d), read_dofs(goal, "goal", d),
                                             positive(duration, "duration"), all);
}

py::typing::Tuple<Array, Array> tube(const ConditionedMotion& motion, A tau, int derivative, int d) {
  if (derivative < 0 || derivative > 3)
    throw py::value_error("derivative must be 0 to 3, got " + std::to_string(derivative));
  const auto times = read_array(tau, "tau", {-1});
  const py::ssize_t count = times.size(), n = d;
  Array mean({count, n}), covariance({count, n, n});
  for (py::ssize_t k = 0; k < count; ++k)
    motion.at(times.data()[k], derivative, mean.mutable_data(k, 0), covariance.mutable_data(k, 0, 0));
  return py::make_tuple(mean, covariance);
}

/// Plans N problems and samples a derivative of each at the same normalized times.
py::typing::Tuple<Array, Array, py::array_t<bool>> plan_many(const FunctionalPlanner& planner, A starts, A goals, A durations, A start_velocities, A goal_velocities,
                A start_accelerations, A goal_accelerations, A tau, int derivative) {
  const py::ssize_t d = planner.dimension();
  const auto T = read_array(durations, "durations", {-1});
  const py::ssize_t N = T.size();
  const auto times = read_array(tau, "tau", {-1});
  if (derivative < 0) throw py::value_error("derivative must not be negative, got " + std::to_string(derivative));
  for (py::ssize_t i = 0; i < N; ++i) positive(T.data()[i], "durations");
  const auto table = [&](A value, const char* name) { return read_array(value, name, {N, d}); };
  const auto x0 = table(starts, "starts"), x1 = table(goals, "goals"), v0 = table(start_velocities, "start_velocities"),
             v1 = table(goal_velocities, "goal_velocities"), a0 = table(start_accelerations, "start_accelerations"),
             a1 = table(goal_accelerations, "goal_accelerations");
  const py::ssize_t samples = times.size();
  Array out({N, samples, d}), distances(N);
  py::array_t<bool> beyond(N);
  bool* const far = beyond.mutable_data();
  double *const result = out.mutable_data(), *const distance = distances.mutable_data();
  const double *t = times.data(), *duration = T.data();
  bool all_finite = true;
  {
    const GilRelease release;
    BezierPath path = planner.blank();
    BoundaryState from(static_cast<int>(d)), to(static_cast<int>(d));
    const auto row = [d](const py::array_t<double, py::array::c_style>& array, py::ssize_t i) {
      return Eigen::Map<const Eigen::VectorXd>(array.data() + i * d, d);
    };
    for (py::ssize_t i = 0; i < N; ++i) {
      from.x = row(x0, i), from.v = row(v0, i), from.a = row(a0, i);
      to.x = row(x1, i), to.v = row(v1, i), to.a = row(a1, i);
      planner.connect(from, to, 0.0, duration[i], path, 0);
      distance[i] = planner.score_distance(from, to, duration[i]);
      all_finite = all_finite && is_finite(path);
      far[i] = planner.travel_limits().exceeded(path);
      for (py::ssize_t k = 0; k < samples; ++k) path.at(t[k] * duration[i], derivative, result + (i * samples + k) * d);
    }
  }
  if (!all_finite) refuse_size();
  return py::make_tuple(std::move(out), std::move(distances), std::move(beyond));
}

/// The largest one of the segments between via points.
double score_distance(const FunctionalPlanner& planner, const BezierPath& path, A times) {
  if (path.dimension != planner.dimension()) throw py::value_error("path must have the dimension of the planner");
  const auto vias = read_array(times, "times", {-1});
  const auto state_at = [&path](double t) {
    BoundaryState state(path.dimension);
    DofVector* const rows[] = {&state.x, &state.v, &state.a};
    for (int k = 0; k < 3; ++k) path.at(t, k, rows[k]->data());
    return state;
  };
  double largest = 0.0, since = path.start();
  BoundaryState from = state_at(since);
  for (py::ssize_t k = 0; k <= vias.size(); ++k) {
    const double until = k < vias.size() ? vias.at(k) : path.end();
    const BoundaryState to = state_at(until);
    largest = std::max(largest, planner.score_distance(from, to, positive(until - since, "time between via points")));
    from = to, since = until;
  }
  return largest;
}

py::typing::Tuple<Array, Array> jerk_cost(const FunctionalPlanner& planner, A start, A goal, double duration) {
  const int d = planner.dimension();
  BoundaryState from(d), to(d);
  from.x = read_dofs(start, "start", d);
  to.x = read_dofs(goal, "goal", d);
  JerkCost cost;
  planner.jerk_cost(from, to, positive(duration, "duration"), cost);
  Eigen::VectorXd linear(cost.g.size() + 1);
  linear << cost.g, cost.c;
  return py::make_tuple(to_numpy(RowMajor(cost.H)), to_numpy(linear));
}

PoseState read_pose(py::handle pose, py::handle twist, py::handle rate, const char* name, const char* twist_name,
                    const char* rate_name) {
  const auto T = read_array(pose, name, {4, 4});
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> matrix(T.data());
  PoseState state;
  state.p = matrix.topRightCorner<3, 1>();
  state.R = matrix.topLeftCorner<3, 3>();
  constexpr double kTolerance = 1e-6;
  if ((state.R.transpose() * state.R - Eigen::Matrix3d::Identity()).norm() > kTolerance || state.R.determinant() < 0.0 ||
      matrix.row(3) != Eigen::RowVector4d(0, 0, 0, 1))
    throw py::value_error(std::string(name) + " must be a rigid transform (4, 4), got " + std::string(py::str(pose)));
  if (!twist.is_none()) state.xi = read_dofs(twist, twist_name, 6);
  if (!rate.is_none()) state.xi_dot = read_dofs(rate, rate_name, 6);
  return state;
}

/// Rows x, v, a of a pose, its rotation as a vector about R.
Array pose_state(A pose, Object twist, Object rate, A R, const std::string& name) {
  const PoseState given = read_pose(pose, twist, rate, name.c_str(), (name + "_velocity").c_str(),
                                    (name + "_acceleration").c_str());
  const BoundaryState state = coordinates(given, read_rotation(R, "R"));
  const double angle = state.x.tail<3>().norm();
  if (angle > kMostTurn)
    throw py::value_error(name + " must differ in orientation by less than half a turn, got " +
                          std::to_string(angle * 180.0 / kPi) +
                          " degrees; add a via pose in between");
  Array rows({py::ssize_t{3}, py::ssize_t{6}});
  std::copy_n(state.x.data(), 6, rows.mutable_data(0, 0));
  std::copy_n(state.v.data(), 6, rows.mutable_data(1, 0));
  std::copy_n(state.a.data(), 6, rows.mutable_data(2, 0));
  return rows;
}

}  // namespace

double finite(double value, const char* name) {
  if (!std::isfinite(value)) throw py::value_error(std::string(name) + " must be finite, got " + text(value));
  return value;
}

double positive(double value, const char* name) {
  if (!(value > 0.0 && std::isfinite(value)))
    throw py::value_error(std::string(name) + " must be positive and finite, got " + text(value));
  return value;
}

void require_motion(const BezierPath& path) {
  if (!is_finite(path)) refuse_size();
}

Problem read_problem(const FunctionalPlanner& planner, py::handle start, py::handle goal, double duration,
                     double start_time, py::handle start_velocity, py::handle goal_velocity,
                     py::handle start_acceleration, py::handle goal_acceleration) {
  const int d = planner.dimension();
  Problem problem{BoundaryState(d), BoundaryState(d)};
  positive(duration, "duration");
  check_clock(finite(start_time, "start_time"), duration);
  problem.from.x = read_dofs(start, "start", d);
  problem.to.x = read_dofs(goal, "goal", d);
  read_rate(start_velocity, "start_velocity", d, problem.from.v);
  read_rate(goal_velocity, "goal_velocity", d, problem.to.v);
  read_rate(start_acceleration, "start_acceleration", d, problem.from.a);
  read_rate(goal_acceleration, "goal_acceleration", d, problem.to.a);
  return problem;
}

void bind_functional_planner(py::module_& module) {
  bind_paths(module);
  const auto none = py::none();
  auto motion = py::class_<ConditionedMotion, std::shared_ptr<ConditionedMotion>>(
      module, "ConditionedMotion", "Normal distribution of the motions that meet constraints.", py::dynamic_attr());
  py::class_<FunctionalPlanner, std::shared_ptr<FunctionalPlanner>>(module, "FunctionalPlanner",
                                                                    "Closed-form planner with functional components.", py::dynamic_attr())
      .def(py::init(&make_planner), py::arg("breaks"), py::arg("mean"), py::arg("functions"), py::arg("variances"),
           py::arg("joint"), py::arg("aligned"), py::arg("exact"), py::arg("order"),
           "mean (m, degree + 1, d) and functions (n, m, degree + 1, d): control points on pieces between breaks (m + 1,).")
      .def_property_readonly("condition", &FunctionalPlanner::condition)
      .def_property_readonly("dimension", &FunctionalPlanner::dimension)
      .def("limit_travel", &limit_travel, py::arg("groups"), py::arg("floors"), py::arg("ratios"), py::arg("most"),
           "Set limits of groups of coordinates: lengths (G,) added to the displacement, ratios (3,) of path length, peak\n"
           "speed and peak acceleration to minimum jerk, and their absolute limits (3, G).")
      .def(
          "compare_travel",
          [](const FunctionalPlanner& planner, const BezierPath& path,
             std::optional<BezierPath> other) -> std::optional<py::typing::Tuple<Array, Array, bool>> {
            const TravelLimits& limits = limits_of(planner, path);
            if (!other ? limits.surely_within(path) : other->dimension != path.dimension) return std::nullopt;
            const TravelLimits::Comparison found = limits.compare(path, other ? &*other : nullptr);
            if (found.within) return std::nullopt;
            return py::make_tuple(rows_of(found.size, limits.groups), rows_of(found.reference, limits.groups), found.explained);
          },
          py::arg("path"), py::arg("minimum_jerk") = py::none(),
          "Path length, peak speed and peak acceleration (3, G) of a path and of minimum jerk, by default the quintic between\n"
          "its end states, and whether the limits hold for speed and acceleration relative to minimum jerk of the same\n"
          "length; None within the limits.")
      .def(
          "travel",
          [](const FunctionalPlanner& planner, const BezierPath& path, bool bound) {
            const TravelLimits& limits = limits_of(planner, path);
            return rows_of(bound ? limits.bound(path) : limits.travel(path), limits.groups);
          },
          py::arg("path"), py::arg("bound") = false,
          "Path length, peak speed and peak acceleration (3, G) of a path, or upper bounds of them.")
      .def("plan", &plan, py::arg("start"), py::arg("goal"), py::arg("duration"), py::arg("start_time") = 0.0,
           py::arg("start_velocity") = none, py::arg("goal_velocity") = none, py::arg("start_acceleration") = none,
           py::arg("goal_acceleration") = none, "Return the path, the Mahalanobis distance of its scores, and whether it exceeds the limits of travel.")
      .def("score_distance", &score_distance, py::arg("path"), py::arg("times"),
           "Largest Mahalanobis distance of the scores of a path's segments between via points at these times.")
      .def("resume", &resume, py::arg("path"), py::arg("t"), py::arg("end"), py::arg("tau"), py::arg("frame"),
           py::arg("goal"), py::arg("goal_velocity"), py::arg("goal_acceleration"), py::arg("order"),
           py::arg("condition_limit"), py::arg("deviation_limit"),
           "Continue a path from time t [s], normalized time tau; returns path, condition, a flag for Hermite's polynomial as\n"
           "correction, and otherwise the correction's unknowns. An aligned model needs a frame (2, d): start and goal.")
      .def("plan_many", &plan_many, py::arg("starts"), py::arg("goals"), py::arg("durations"), py::arg("start_velocities"),
           py::arg("goal_velocities"), py::arg("start_accelerations"), py::arg("goal_accelerations"), py::arg("tau"),
           py::arg("derivative") = 0, "Plan N problems; returns samples (N, k, d) at k normalized times, Mahalanobis distances (N,) of the\n"
           "scores, and which exceed the limits of travel (N,).")
      .def("jerk_cost", &jerk_cost, py::arg("start"), py::arg("goal"), py::arg("duration"),
           "H and (g, c) of the integral of squared jerk over velocities and accelerations at both ends.");
  motion
      .def(py::init(&condition), py::arg("planner").none(false), py::arg("start"), py::arg("goal"), py::arg("duration"),
           py::arg("constraints"), py::keep_alive<1, 2>(),
           "Rows of `constraints`: tau, derivative, degree of freedom, value, noise.")
      .def_property_readonly("unknowns", [](const ConditionedMotion& m) { return to_numpy(m.unknowns()); })
      .def_property_readonly("spread", [](const ConditionedMotion& m) { return to_numpy(RowMajor(m.spread())); })
      .def_property_readonly("condition", &ConditionedMotion::condition)
      .def(
          "path",
          [](const ConditionedMotion& m, double start_time, Object along) {
            if (along.is_none()) return m.path(start_time, nullptr);
            const Eigen::VectorXd steps = read_column(along, "along", m.spread().cols());
            return m.path(start_time, steps.data());
          },
          py::arg("start_time") = 0.0, py::arg("along") = none)
      .def("tube",
           [](const ConditionedMotion& m, A tau, int derivative) { return tube(m, tau, derivative, m.dimension()); },
           py::arg("tau"), py::arg("derivative") = 0, "Mean (k, d) and covariance (k, d, d).");
  module.def("_pose_state", &pose_state, py::arg("pose"), py::arg("twist"), py::arg("rate"), py::arg("R"), py::arg("name"),
             "Rows x, v, a (3, 6) of a pose, twist and its derivative, with the rotation vector about R.");
}

}  // namespace thunder::python
