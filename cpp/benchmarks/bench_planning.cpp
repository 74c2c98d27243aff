// Human-like planning: plans, the rest of plans, searches for via points among spheres, steps of movement primitives.
// A line "failures" says how many searches of a kind found no path.
#include "harness.hpp"
#include "planning_problems.hpp"

#include <thunder/planning/primitives/dmp.hpp>
#include <thunder/planning/obstacles/via_search.hpp>

#include <string>

using bench::Reach;
using Eigen::VectorXd;
using thunder::BoundaryState;
using thunder::FunctionalPlanner;
using thunder::PlannerSettings;

namespace {

using SharedPlanner = std::shared_ptr<const FunctionalPlanner>;
using State = thunder::ViaSettings::State;

std::vector<Reach> reaches(int count, int spheres, int dimension = 3) {
  bench::Reaches make(20240607, dimension);
  std::vector<Reach> all;
  for (int k = 0; k < count; ++k) all.push_back(make(spheres));
  return all;
}

SharedPlanner planner(const bench::ModelSize& size, PlannerSettings::Mode mode) {
  return std::make_shared<const FunctionalPlanner>(bench::reaching_model(size), PlannerSettings{mode, 3});
}

void plans(bench::Bench& measure) {
  using Mode = PlannerSettings::Mode;
  const struct {
    const char *name, *variant;
    bench::ModelSize size;
    Mode mode;
  } kinds[] = {{"plan, 3 DoF", "paper", {3, 5, 10, false, false}, Mode::exact},
               {"plan, 3 DoF", "map", {3, 12, 10, false, false}, Mode::map},
               {"plan, 3 DoF", "map, joint and aligned", {3, 36, 10, true, true}, Mode::map},
               {"plan, 6 DoF", "map", {6, 12, 10, false, false}, Mode::map}};
  for (const auto& kind : kinds) {
    const SharedPlanner with = planner(kind.size, kind.mode);
    thunder::BezierPath path = with->blank();
    measure(kind.name, kind.variant, reaches(256, 0, kind.size.dimension), path.points,
            [&](const Reach& r) { with->connect(r.from, r.to, 0.0, bench::kReachDuration, path, 0); });
  }
}

/// At 40 % of a motion, for a goal that has moved.
void replans(bench::Bench& measure) {
  const SharedPlanner with = planner({}, PlannerSettings::Mode::map);
  struct Rest {
    thunder::BezierPath path;
    thunder::DofVector start, goal;
    BoundaryState to;
  };
  std::vector<Rest> rests;
  for (const Reach& r : reaches(256, 0)) {
    Rest rest{with->blank(), r.from.x, r.to.x, r.to};
    with->connect(r.from, r.to, 0.0, bench::kReachDuration, rest.path, 0);
    rest.to.x.array() += 0.02;
    rests.push_back(rest);
  }
  thunder::Resumed result;
  result.path = with->blank();
  const auto run = [&](const char* name, int order) {
    measure(name, "map", rests, result.path.points, [&](const Rest& rest) {
      with->resume({rest.path, 0.4 * bench::kReachDuration, 0.4, rest.start, rest.goal}, rest.to,
                   0.6 * bench::kReachDuration, order, {1e12}, result);
    });
  };
  run("replan, 4 x 4", 2);
  run("replan, 6 x 6", 3);
}

struct Kind {
  const char* variant;
  thunder::ViaSettings settings;
  SharedPlanner planner;
};

void searches(bench::Bench& measure, const Kind& kind, int count, int spheres) {
  thunder::ViaSettings settings = kind.settings;
  settings.count = count;
  const std::string name = "via search, " + std::to_string(count) + " candidates, " + std::to_string(spheres) +
                           (spheres == 1 ? " sphere" : " spheres");
  if (!measure.measures(name)) return;
  thunder::ViaSearch search(kind.planner, settings);
  const auto run = [&](const Reach& r) {
    return search.plan(r.from, r.to, 0.0, bench::kReachDuration, r.obstacles, bench::kMargin);
  };
  VectorXd via = VectorXd::Zero(3);
  measure(name.c_str(), kind.variant, reaches(count > 1000 ? 64 : 256, spheres), via, [&](const Reach& r) {
    const thunder::ViaResult result = run(r);
    if (result.vias > 0) via = result.states[0].x;
  });
  int failures = 0, chains = 0;
  const std::vector<Reach> many = reaches(measure.passes() < 20 ? 100 : 2000, spheres);
  for (const Reach& r : many) {
    const thunder::ViaResult result = run(r);
    failures += !result.free();
    chains += result.vias > 1;
  }
  std::printf("{\"failures\": %d, \"chains\": %d, \"searches\": %zu, \"quantity\": \"%s\", \"variant\": \"%s\"}\n", failures,
              chains, many.size(), name.c_str(), kind.variant);
}

void all_searches(bench::Bench& measure) {
  thunder::ViaSettings better, paper;
  paper.method = thunder::ViaCandidates::Method::uniform;
  paper.state = State::paper;
  paper.most = 1;
  paper.direct = false;
  const SharedPlanner map = planner({}, PlannerSettings::Mode::map);
  const SharedPlanner exact = planner({3, 5, 10, false, false}, PlannerSettings::Mode::exact);
  const SharedPlanner aligned = planner({3, 36, 10, true, true}, PlannerSettings::Mode::map);
  const Kind kinds[] = {{"paper", paper, exact}, {"default", better, map}, {"joint and aligned", better, aligned}};
  for (const Kind& kind : kinds)
    for (const int count : {1000, 10000})
      for (const int spheres : {1, 2, 3, 5}) searches(measure, kind, count, spheres);
}

void primitives(bench::Bench& measure) {
  const std::vector<int> once(256, 0);
  using Scaling = thunder::Dmp::Scaling;
  const auto run = [&](const char* variant, thunder::BasisKind basis, Scaling scaling, bool rotodilatation) {
    thunder::Dmp dmp(thunder::DmpBasis(basis, 21, 4.0, 1.0), {150.0, 24.5, scaling, rotodilatation},
                     Eigen::MatrixXd::Constant(21, 3, 0.3), VectorXd::Ones(3));
    const VectorXd start = VectorXd::Zero(3), goal = VectorXd::Ones(3);
    VectorXd position(3);
    int k = 0;
    measure("DMP step, 3 DoF", variant, once, position, [&](int) {
      if (k++ % 1000 == 0) dmp.reset(start.data(), goal.data(), 1.0, nullptr);
      dmp.step(1e-3);
      position = dmp.position();
    });
  };
  run("21 Gaussians", thunder::BasisKind::gaussian, Scaling::hoffmann, false);
  run("21 Gaussians, rotated and scaled", thunder::BasisKind::gaussian, Scaling::hoffmann, true);
  run("21 mollifiers", thunder::BasisKind::mollifier, Scaling::hoffmann, false);
  run("21 von Mises functions, rhythmic", thunder::BasisKind::von_mises, Scaling::rhythmic, false);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Bench measure("thunder_py", 3, bench::parse(argc, argv));
  plans(measure);
  replans(measure);
  all_searches(measure);
  primitives(measure);
}
