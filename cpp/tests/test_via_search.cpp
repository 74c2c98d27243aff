// A search for via points allocates nothing, however it ends, and what it returns is free.
#include "../benchmarks/planning_problems.hpp"
#include "allocations.hpp"
#include "check.hpp"
#include "thunder/planning/obstacles/via_search.hpp"

using namespace thunder;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

using Method = ViaCandidates::Method;
using State = ViaSettings::State;

/// A wall of plates around the goal: nothing leads in.
ObstacleSet shell(const Vector3d& goal) {
  std::vector<MovingObstacle> plates;
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-0.2, 0.2}) {
      Vector3d at = goal, half = Vector3d::Constant(0.21);
      at[axis] += side;
      half[axis] = 0.01;
      plates.push_back({std::make_shared<Box>(at, Matrix3d::Identity(), half), Vector3d::Zero()});
    }
  return ObstacleSet(plates);
}

void check_search(const bench::ModelSize& size, Method method, State state) {
  const auto planner = std::make_shared<const FunctionalPlanner>(bench::reaching_model(size), PlannerSettings{});
  ViaSettings settings;
  settings.method = method, settings.state = state, settings.count = 200, settings.most = 3;
  ViaSearch search(planner, settings);
  bench::Reaches reaches(5, size.dimension);
  int found = 0;
  for (int k = 0; k < 20; ++k) {
    const bench::Reach reach = reaches(1 + k % 5);
    const allocations::Scope scope;
    const ViaResult result = search.plan(reach.from, reach.to, 0.5, 3.0, reach.obstacles, bench::kMargin);
    const Clearance clearance = reach.obstacles.clearance(search.path());
    CHECK(scope.made() == 0);
    if (!result.free()) continue;
    ++found;
    CHECK(clearance.lower_bound >= bench::kMargin - 1e-12 && clearance.distance >= clearance.lower_bound);
  }
  CHECK(found >= 15);
  const bench::Reach reach = reaches(1);
  const ObstacleSet walls = shell(reach.to.x.head<3>());
  const allocations::Scope scope;
  const ViaResult none = search.plan(reach.from, reach.to, 0.0, 3.0, walls, 0.0);
  CHECK(none.status == ViaResult::Status::none && none.evaluated >= settings.count);
  BoundaryState bad = reach.from;
  bad.v[0] = NAN;
  CHECK(!search.plan(bad, reach.to, 0.0, 3.0, reach.obstacles, 0.0).free());
  CHECK(scope.made() == 0);
}

}  // namespace

int main() {
  bench::ModelSize plain, joint, aligned, pose;
  joint.joint = true, joint.components = 24;
  aligned.aligned = true;
  pose.dimension = 6;
  for (const bench::ModelSize& size : {plain, joint, aligned, pose})
    for (const Method method : {Method::uniform, Method::ellipsoid})
      for (const State state : {State::paper, State::optimal}) check_search(size, method, state);
  return check::result();
}
