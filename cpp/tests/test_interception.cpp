// Interception allocates nothing while it runs, and its reference is finite whatever comes in.
#include "../benchmarks/planning_problems.hpp"
#include "allocations.hpp"
#include "check.hpp"
#include "thunder/planning/interception/interceptor.hpp"
#include "thunder/math/random.hpp"

#include <limits>

using namespace thunder;

namespace {

using Strategy = InterceptionSettings::Strategy;

Interceptor interceptor(const bench::ModelSize& size, Strategy strategy, int order) {
  InterceptionSettings settings;
  settings.strategy = strategy;
  settings.order = order;
  settings.threshold = 1e-6;
  settings.reference = {0.5, 0.0, 0.25};
  settings.low = {0.3, -0.4, 0.0};
  settings.high = {0.7, 0.5, 0.6};
  settings.offset = {0.0, 0.0, 0.15};
  settings.velocity_limit = 5.0;
  settings.acceleration_limit = 100.0;
  ConstantVelocitySettings filter;
  filter.intensity = 1e-3;
  filter.gate = 16.27;
  const auto planner = std::make_shared<const FunctionalPlanner>(bench::reaching_model(size), PlannerSettings{});
  return {planner, ConstantVelocityFilter(filter), settings, {0.45, 0.0, 0.5}, Eigen::Matrix3d::Identity(),
          {0.0, 0.0, size.dimension == 6 ? 0.4 : 0.0}};
}

struct Ended {
  InterceptionPhase phase;
  std::size_t plans;
  bool finite;
};

/// A run at 1 kHz; `broken`: NaN and jumps from 1 s on.
Ended run(Interceptor& hand, bool broken) {
  Random random(7);
  TaskReference reference;
  bool finite = true;
  for (int i = 0; i < 5000; ++i) {
    const double t = 1e-3 * i;
    if (i % 60 == 0 && i >= 80) {
      const double taken = t - 0.08 - (i % 120 == 0 ? 0.065 : 0.0);  // some of them late
      Eigen::Vector3d p(0.5, -0.55 + 0.25 * taken, 0.1);
      for (int k = 0; k < 3; ++k) p[k] += 3e-3 * random.normal();
      if (broken && t > 1.0) p[1] = i % 180 == 0 ? std::numeric_limits<double>::quiet_NaN() : 1e3 * random.normal();
      hand.measure(t, taken, p);
    }
    hand.advance(t);
    hand.at(t, reference);
    finite = finite && reference.valid();
  }
  return {hand.phase(), hand.plans().size(), finite};
}

void check_runs(const bench::ModelSize& size, Strategy strategy, int order) {
  Interceptor hand = interceptor(size, strategy, order);
  for (const bool broken : {false, true, false}) {
    const allocations::Scope scope;
    hand.reset();
    const Ended ended = run(hand, broken);
    CHECK(scope.made() == 0 || !allocations::counted());
    CHECK(ended.finite);
    CHECK(ended.phase == (broken ? InterceptionPhase::aborted : InterceptionPhase::finished));
    CHECK(ended.plans > 2);
  }
}

}  // namespace

int main() {
  for (const Strategy strategy : {Strategy::variable_structure, Strategy::time_augmentation})
    for (const int order : {2, 3})
      for (const int dimension : {3, 6}) check_runs({dimension, 12, 10, false, false}, strategy, order);
  check_runs({3, 12, 10, false, true}, Strategy::time_augmentation, 3);
  return check::result();
}
