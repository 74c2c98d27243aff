// A replan inside the control loop: a measurement comes in, filter, missing condition, new plan, new reference.
// A line "replans" says how many of the calls made a new plan.
#include "harness.hpp"
#include "planning_problems.hpp"

#include <thunder/planning/interception/interceptor.hpp>
#include <thunder/math/random.hpp>

#include <cmath>

using thunder::Interceptor;
using thunder::InterceptionSettings;

namespace {

constexpr int kRuns = 16, kPerRun = 16, kBefore = 6;  // measurements of a run, before the first that is timed
constexpr double kPeriod = 1.0 / 15.0, kLatency = 0.08, kSpeed = 0.2, kNoise = 4e-3;

struct Measurement {
  bool first = false;  // of a run
  double now = 0.0, taken = 0.0;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
};

/// Of a belt of 0.2 m/s, with 4 mm of noise; every other pair swapped where they are to come late.
std::vector<Measurement> belt(bool late) {
  thunder::Random random(20240607);
  std::vector<Measurement> all;
  for (int run = 0; run < kRuns; ++run) {
    const std::size_t begin = all.size();
    for (int k = 0; k < kBefore + kPerRun; ++k) {
      Measurement m;
      m.first = k == 0;
      m.taken = kPeriod * k;
      m.now = m.taken + kLatency;
      m.position = {0.5, -0.55 + kSpeed * m.taken, 0.1};
      for (int i = 0; i < 3; ++i) m.position[i] += kNoise * random.normal();
      all.push_back(m);
    }
    for (std::size_t k = begin + kBefore; late && k + 1 < all.size(); k += 2) {
      std::swap(all[k].taken, all[k + 1].taken);
      std::swap(all[k].position, all[k + 1].position);
      all[k].now = all[k + 1].now - 1e-3;  // not before the picture that it has now
    }
  }
  return all;
}

Interceptor interceptor(InterceptionSettings::Strategy strategy, int order) {
  InterceptionSettings settings;
  settings.strategy = strategy;
  settings.order = order;
  settings.threshold = 1e-9;  // every measurement calls for a new plan
  settings.reference = {0.5, 0.0, 0.25};
  settings.low = {0.3, -0.4, 0.0};
  settings.high = {0.7, 0.5, 0.6};
  settings.offset = {0.0, 0.0, 0.15};
  settings.velocity_limit = 5.0;
  settings.acceleration_limit = 100.0;
  thunder::ConstantVelocitySettings filter;
  filter.intensity = 1e-3;
  filter.gate = 16.27;
  const auto planner = std::make_shared<const thunder::FunctionalPlanner>(
      bench::reaching_model({}), thunder::PlannerSettings{thunder::PlannerSettings::Mode::map, 3});
  return {planner,
          thunder::ConstantVelocityFilter(filter),
          settings,
          {0.45, 0.0, 0.5},
          Eigen::Matrix3d(Eigen::Vector3d(1.0, -1.0, -1.0).asDiagonal()),
          Eigen::Vector3d::Zero()};
}

void replans(bench::Bench& measure, const char* variant, InterceptionSettings::Strategy strategy, int order, bool late) {
  const char* const quantity = "measurement to new reference";
  if (!measure.measures(quantity)) return;
  Interceptor hand = interceptor(strategy, order);
  const std::vector<Measurement> all = belt(late);
  thunder::TaskReference reference;
  long calls = 0, plans = 0;
  const auto call = [&](const Measurement& m) {
    if (m.first) hand.reset();
    const std::size_t before = hand.plans().size();
    hand.measure(m.now, m.taken, m.position);
    hand.advance(m.now);
    hand.at(m.now, reference);
    plans += hand.plans().size() > before;
    ++calls;
  };
  measure(quantity, variant, all, reference.p, call);
  std::printf("{\"replans\": %ld, \"calls\": %ld, \"quantity\": \"%s\", \"variant\": \"%s\"}\n", plans, calls, quantity,
              variant);
}

void filters(bench::Bench& measure) {
  thunder::ConstantVelocityFilter filter{thunder::ConstantVelocitySettings{}};
  const auto run = [&](const char* variant, bool late) {
    measure("filter step", variant, belt(late), filter.settings().R, [&](const Measurement& m) {
      if (m.first) filter.reset();
      filter.update(m.taken, m.position);
    });
  };
  run("in order", false);
  run("every other one late", true);
}

}  // namespace

int main(int argc, char** argv) {
  using Strategy = InterceptionSettings::Strategy;
  bench::Bench measure("thunder_py", 3, bench::parse(argc, argv));
  filters(measure);
  replans(measure, "variable structure, 6 x 6", Strategy::variable_structure, 3, false);
  replans(measure, "time augmentation, 6 x 6", Strategy::time_augmentation, 3, false);
  replans(measure, "time augmentation, 4 x 4", Strategy::time_augmentation, 2, false);
  replans(measure, "time augmentation, 6 x 6, every other one late", Strategy::time_augmentation, 3, true);
}
