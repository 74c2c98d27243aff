// The search for via points for Python.
#include "exclusive.hpp"
#include "functional_planner.hpp"
#include "gil.hpp"
#include "planning.hpp"
#include "thunder/planning/obstacles/via_search.hpp"

namespace thunder::python {

namespace {

using A = const ArrayLike&;
using Object = const py::object&;
using Method = ViaCandidates::Method;

BoundaryState state_of(const double* rows, int d) {
  BoundaryState state(d);
  state.x = Eigen::Map<const Eigen::VectorXd>(rows, d);
  state.v = Eigen::Map<const Eigen::VectorXd>(rows + d, d);
  state.a = Eigen::Map<const Eigen::VectorXd>(rows + 2 * d, d);
  return state;
}

using FoundTuple = py::typing::Tuple<py::str, BezierPath, Array, Array, py::tuple, int, int>;

FoundTuple as_tuple(ViaSolution&& found, int d) {
  constexpr const char* kNames[] = {"direct", "via", "none", "start_blocked", "goal_blocked"};
  const ViaResult& r = found.result;
  Array times(r.vias), states({r.vias, 3, d});
  for (int i = 0; i < r.vias; ++i) {
    times.mutable_at(i) = r.times[i];
    const DofVector* const rows[] = {&r.states[i].x, &r.states[i].v, &r.states[i].a};
    for (int k = 0; k < 3; ++k) std::copy_n(rows[k]->data(), d, states.mutable_data(i, k, 0));
  }
  return py::make_tuple(py::str(kNames[static_cast<int>(r.status)]), std::make_shared<BezierPath>(std::move(found.path)),
                        times, states, clearance_tuple(found.clearance), r.evaluated, r.obstacle);
}

FoundTuple search_one(ViaSearch& search, Object start, Object goal, double duration, const ObstacleSet& obstacles,
                double margin, double start_time, Object start_velocity, Object goal_velocity, Object start_acceleration,
                Object goal_acceleration) {
  const FunctionalPlanner& planner = search.planner();
  const Problem ends = read_problem(planner, start, goal, duration, start_time, start_velocity, goal_velocity,
                                    start_acceleration, goal_acceleration);
  const ViaProblem problem{ends.from, ends.to, start_time, duration, &obstacles, finite(margin, "margin")};
  ViaSolution found = [&] {
    const GilRelease release;
    return search.solve(problem);
  }();
  return as_tuple(std::move(found), planner.dimension());
}

/// Entry of problem k, or the only entry for all problems.
template <class T>
const T& each(const std::vector<T>& all, std::size_t k) {
  return all[all.size() == 1 ? 0 : k];
}

std::vector<FoundTuple> search_many(ViaSearch& search, A from, A to, A starts, A durations,
                                  const std::vector<std::shared_ptr<ObstacleSet>>& obstacles, double margin, int threads) {
  const int d = search.planner().dimension();
  const auto a = read_array(from, "start states", {-1, 3, d});
  const auto n = a.shape(0);
  const auto b = read_array(to, "goal states", {n, 3, d}), t0 = read_array(starts, "start_time", {n}),
             T = read_array(durations, "duration", {n});
  for (py::ssize_t k = 0; k < n; ++k) positive(T.at(k), "duration");
  if (obstacles.size() != 1 && obstacles.size() != static_cast<std::size_t>(n))
    throw py::value_error("obstacles must be one set, or one for each of " + std::to_string(n) + " problems, got " +
                          std::to_string(obstacles.size()));
  for (const auto& set : obstacles)
    if (!set) throw py::value_error("obstacles must be ObstacleSet objects, got None");
  finite(margin, "margin");
  if (threads < 0) throw py::value_error("threads must not be negative, got " + std::to_string(threads));
  std::vector<ViaProblem> problems;
  for (py::ssize_t k = 0; k < n; ++k)
    problems.push_back({state_of(a.data(k, 0, 0), d), state_of(b.data(k, 0, 0), d), t0.at(k), T.at(k),
                        each(obstacles, static_cast<std::size_t>(k)).get(), margin});
  std::vector<ViaSolution> found = [&] {
    const GilRelease release;
    return search.solve_all(problems, threads, check_signals);
  }();
  std::vector<FoundTuple> tuples;
  for (ViaSolution& one : found) tuples.push_back(as_tuple(std::move(one), d));
  return tuples;
}

/// None where two points are too close.
std::optional<FoundTuple> through(ViaSearch& search, Object start, Object goal, double duration, A points,
                                  double start_time, Object start_velocity, Object goal_velocity,
                                  Object start_acceleration, Object goal_acceleration) {
  const FunctionalPlanner& planner = search.planner();
  const Problem problem = read_problem(planner, start, goal, duration, start_time, start_velocity, goal_velocity,
                                       start_acceleration, goal_acceleration);
  const auto p = read_array(points, "points", {-1, 3});
  const int count = static_cast<int>(p.shape(0)), most = search.settings().most;
  if (count < 1 || count > most)
    throw py::value_error("points must be 1 to " + std::to_string(most) + ", got " + std::to_string(count));
  Eigen::Vector3d vias[kMaxVias];
  for (int i = 0; i < count; ++i) vias[i] = Eigen::Map<const Eigen::Vector3d>(p.data(i, 0));
  ViaSolution found;
  if (!search.through(problem.from, problem.to, start_time, duration, vias, count, found.result))
    return std::nullopt;
  found.path = search.path();
  return as_tuple(std::move(found), planner.dimension());
}

Array candidates(const ViaSearch& search, A start, A goal) {
  ViaCandidates own = search.candidates();
  own.begin(read_column(start, "start", 3), read_column(goal, "goal", 3));
  Array points({own.count(), 3});
  Eigen::Vector3d via;
  for (py::ssize_t k = 0; own.next(via); ++k) std::copy_n(via.data(), 3, points.mutable_data(k, 0));
  return points;
}

std::shared_ptr<ViaSearch> make_search(const std::shared_ptr<FunctionalPlanner>& planner, const std::string& method,
                                          int count, std::uint64_t seed, double half_width, const std::string& state,
                                          int most, bool direct) {
  ViaSettings settings;
  if (method != "uniform" && method != "ellipsoid")
    throw py::value_error("method must be 'uniform' or 'ellipsoid', got '" + method + "'");
  if (state != "paper" && state != "optimal") throw py::value_error("state must be 'paper' or 'optimal', got '" + state + "'");
  settings.method = method == "uniform" ? Method::uniform : Method::ellipsoid;
  settings.state = state == "paper" ? ViaSettings::State::paper : ViaSettings::State::optimal;
  settings.count = count, settings.seed = seed, settings.half_width = half_width, settings.most = most, settings.direct = direct;
  return std::make_shared<ViaSearch>(planner, settings);
}

}  // namespace

void bind_via_search(py::module_& module) {
  ExclusiveClass<ViaSearch, std::shared_ptr<ViaSearch>>(module, "ViaSearch", "Search for via points around obstacles.",
                                                        py::dynamic_attr())
      .def(py::init(&make_search), py::arg("planner").none(false), py::arg("method"), py::arg("count"), py::arg("seed"),
           py::arg("half_width"), py::arg("state"), py::arg("most"), py::arg("straight_first"))
      .def("plan", &search_one, py::arg("start"), py::arg("goal"), py::arg("duration"), py::arg("obstacles"), py::arg("margin"),
           py::arg("start_time") = 0.0, py::arg("start_velocity") = py::none(), py::arg("goal_velocity") = py::none(),
           py::arg("start_acceleration") = py::none(), py::arg("goal_acceleration") = py::none(),
           "Plan a path; returns status ('direct', 'via', 'none', 'start_blocked', 'goal_blocked'), path, times (k,) [s] and\n"
           "states (k, 3, d) of via points, clearance (as `ObstacleSet.clearance`), number of evaluated candidates, and\n"
           "index of the blocking obstacle or -1.")
      .def("plan_many", &search_many, py::arg("start"), py::arg("goal"), py::arg("start_time"), py::arg("duration"),
           py::arg("obstacles"), py::arg("margin"), py::arg("threads") = 1,
           "Plan n problems with states (n, 3, d) of position, velocity and acceleration, times (n,) [s], and one or n sets\n"
           "of obstacles; returns a list of the results of `plan`.")
      .def("through", &through, py::arg("start"), py::arg("goal"), py::arg("duration"), py::arg("points"),
           py::arg("start_time") = 0.0, py::arg("start_velocity") = py::none(), py::arg("goal_velocity") = py::none(),
           py::arg("start_acceleration") = py::none(), py::arg("goal_acceleration") = py::none(),
           "Plan through given points (k, 3), ignoring obstacles; None if two points are too close.")
      .def("candidates", &candidates, py::arg("start"), py::arg("goal"),
           "All candidates (count, 3) in the order of polyline length.");
}

}  // namespace thunder::python
