#include "thunder/planning/obstacles/potential_planner.hpp"

#include <algorithm>

#include "thunder/math/random.hpp"

namespace thunder {

namespace {

using Eigen::VectorXd;

constexpr double kSufficient = 1e-4;  // fraction of the expected descent that is required (Armijo)
constexpr int kHalvings = 12;
constexpr int kWindow = 40;          // iterations in which there must be progress ...
constexpr int kWalkLengths = 6, kSameDirection = 5;
constexpr double kProgress = 0.02;   // ... of this part of all their steps

class Descent {
 public:
  Descent(PotentialField& field, const VectorXd& start, const VectorXd& lower, const VectorXd& upper,
          const DescentSettings& settings)
      : field_(field), lower_(lower), upper_(upper), settings_(settings), random_(settings.seed), q_(start),
        gradient_(start.size()), mark_(start), step_(settings.step) {}

  Plan run() {
    keep(q_);
    while (true) {
      if (arrive()) return finish(PlanStatus::reached);
      if (plan_.iterations == settings_.max_iterations) return finish(PlanStatus::max_iterations);
      ++plan_.iterations;
      if (advance() && progresses()) continue;
      if (plan_.walks == settings_.max_walks) return finish(PlanStatus::local_minimum);
      walk();
    }
  }

 private:
  Plan finish(PlanStatus status) {
    plan_.status = status;
    return std::move(plan_);
  }

  void keep(const VectorXd& q) { plan_.path.insert(plan_.path.end(), q.data(), q.data() + q.size()); }

  bool arrive() {
    const VectorXd& goal = field_.goal();
    if ((q_ - goal).norm() > settings_.tolerance || !field_.free(q_.data(), goal.data(), settings_.margin)) return false;
    if (q_ != goal) keep(goal);
    return true;
  }

  /// A descent step, shortened until the potential falls without collision; false at a local minimum.
  bool advance() {
    const double before = field_.potential(q_.data(), gradient_.data());
    const double slope = gradient_.norm();
    if (!(slope > 0.0)) return false;
    const VectorXd direction = -gradient_ / slope;
    for (int i = 0; i < kHalvings; ++i, step_ *= 0.5) {
      const VectorXd next = (q_ + step_ * direction).cwiseMax(lower_).cwiseMin(upper_);
      const double expected = -gradient_.dot(next - q_), after = field_.potential(next.data(), scratch(next.size()));
      if (expected > 0.0 && after <= before - kSufficient * expected &&
          field_.free(q_.data(), next.data(), settings_.margin)) {
        q_ = next;
        keep(q_);
        step_ = std::min(2.0 * step_, settings_.step);
        return true;
      }
    }
    return false;
  }

  /// Small steps along the bottom of a valley are not progress.
  bool progresses() {
    if (++since_ < kWindow) return true;
    const bool moved = (q_ - mark_).norm() > kProgress * kWindow * settings_.step;
    since_ = 0;
    mark_ = q_;
    return moved;
  }

  /// Every joint moves by a random fraction of a step, the same for a few steps to cover distance. Walks grow longer, for
  /// wide minima, and then start again with short ones.
  void walk() {
    const int steps = settings_.walk_steps * (1 + plan_.walks++ % kWalkLengths);
    VectorXd direction(q_.size());
    for (int i = 0; i < steps; ++i) {
      if (i % kSameDirection == 0)
        for (Eigen::Index j = 0; j < direction.size(); ++j) direction[j] = 2.0 * random_.uniform() - 1.0;
      const VectorXd next = (q_ + settings_.step * direction).cwiseMax(lower_).cwiseMin(upper_);
      if (!field_.free(q_.data(), next.data(), settings_.margin)) continue;
      q_ = next;
      keep(q_);
    }
    step_ = settings_.step;
    since_ = 0;
    mark_ = q_;
  }


  double* scratch(Eigen::Index size) {
    scratch_.resize(size);
    return scratch_.data();
  }

  PotentialField& field_;
  const VectorXd &lower_, &upper_;
  const DescentSettings settings_;
  Random random_;
  VectorXd q_, gradient_, mark_, scratch_;
  double step_;
  int since_ = 0;
  Plan plan_;
};

}  // namespace

Plan descend(PotentialField& field, const VectorXd& start, const VectorXd& lower, const VectorXd& upper,
             const DescentSettings& settings) {
  return Descent(field, start, lower, upper, settings).run();
}

}  // namespace thunder
