// Integrals of squared jerk of planned segments.
#include "thunder/planning/trajectory/bernstein.hpp"
#include "thunder/planning/functional/functional_planner.hpp"
#include "thunder/planning/functional/motion_frame.hpp"

namespace thunder {

namespace {

/// Integrals of products of two Bernstein polynomials over [0, 1].
Eigen::MatrixXd bernstein_gram(int degree) {
  Eigen::MatrixXd G(degree + 1, degree + 1);
  for (int i = 0; i <= degree; ++i)
    for (int j = 0; j <= degree; ++j)
      G(i, j) = choose(degree, i) * choose(degree, j) / (choose(2 * degree, i + j) * (2 * degree + 1));
  return G;
}

}  // namespace

void FunctionalPlanner::add_costs(System& system) const {
  const int size = system.size, entries = 2 * settings_.order * size, degree = model_.degree;
  for (auto& cost : system.cost) cost = Eigen::MatrixXd::Zero(1 + entries, 1 + entries);
  if (degree < 3) return;
  const Eigen::MatrixXd gram = bernstein_gram(degree - 3);
  Eigen::MatrixXd points(degree + 1, 1 + entries);
  for (int p = 0; p < model_.pieces(); ++p) {
    const double h = model_.breaks[p + 1] - model_.breaks[p];
    const double factor = degree * (degree - 1) * (degree - 2) / (h * h * h);
    for (int k = 0; k < size; ++k) {
      for (int j = 0; j <= degree; ++j) {
        const std::size_t at = static_cast<std::size_t>((p * (degree + 1) + j) * size + k);
        points(j, 0) = system.constant[at];
        for (int e = 0; e < entries; ++e) points(j, 1 + e) = system.response[at * static_cast<std::size_t>(entries) + e];
      }
      for (int level = degree; level > degree - 3; --level)
        for (int j = 0; j < level; ++j) points.row(j) = (points.row(j + 1) - points.row(j)).eval();
      const auto jerk = points.topRows(degree - 2);
      const bool position = model_.aligned && system.first + k < 3;
      system.cost[position ? 0 : 1] += h * factor * factor * jerk.transpose() * gram * jerk;
    }
  }
}

/// Adds a system's quadratic in b to `cost`: b is `fixed` where it is given and moves with z elsewhere.
void FunctionalPlanner::scatter_cost(const System& system, const double* fixed, const double* moves,
                                     const double* weight, const double* mean, JerkCost& cost) const noexcept {
  const int d = dimension(), size = system.size, count = 2 * settings_.order, ends = settings_.order - 1;
  // row r >= 2 of b at end r % 2 is number (r % 2) ends + r / 2 - 1 of z
  const auto place = [&](int r, int k) { return ((r % 2) * ends + r / 2 - 1) * d + system.first + k; };
  for (int group = 0; group < 2; ++group) {
    const Eigen::MatrixXd& Q = system.cost[group];
    const auto known = [&](int e) {  // Q's row e times (mean, x0, x1)
      double sum = Q(e, 0) * mean[group];
      for (int r = 0; r < 2; ++r)
        for (int k = 0; k < size; ++k) sum += Q(e, 1 + r * size + k) * fixed[r * kMaxDofs + system.first + k];
      return sum;
    };
    cost.c += weight[group] * mean[group] * known(0);
    for (int r = 0; r < count; ++r)
      for (int k = 0; k < size; ++k) {
        const double gradient = weight[group] * known(1 + r * size + k);
        if (r < 2) {
          cost.c += gradient * fixed[r * kMaxDofs + system.first + k];
          continue;
        }
        const double scale = moves[(r / 2) * kMaxDofs + system.first + k];
        cost.g[place(r, k)] += scale * gradient;
        for (int s = 2; s < count; ++s)
          for (int j = 0; j < size; ++j)
            cost.H(place(r, k), place(s, j)) += weight[group] * scale * moves[(s / 2) * kMaxDofs + system.first + j] *
                                                Q(1 + r * size + k, 1 + s * size + j);
      }
  }
}

void FunctionalPlanner::jerk_cost(const BoundaryState& from, const BoundaryState& to, double duration,
                                  JerkCost& cost) const noexcept {
  const int d = dimension(), free = 2 * (settings_.order - 1) * d;
  cost.H.setZero(free, free);
  cost.g.setZero(free);
  cost.c = 0.0;
  const MotionFrame frame(model_, from.x, to.x);
  double fixed[2 * kMaxDofs], moves[3 * kMaxDofs];
  frame.to_model(from.x, false, fixed);
  frame.to_model(to.x, false, fixed + kMaxDofs);
  for (int k = 0; k < d; ++k) {
    const double unit = frame.aligned && k < 3 ? frame.scale : 1.0;
    moves[kMaxDofs + k] = duration / unit;
    moves[2 * kMaxDofs + k] = duration * duration / unit;
  }
  const double time = 1.0 / (duration * duration * duration * duration * duration);
  const double weight[] = {time * frame.scale * frame.scale, time}, mean[] = {frame.ratio, frame.other_ratio};
  for (const System& system : systems_) scatter_cost(system, fixed, moves, weight, mean, cost);
  if (!frame.aligned) return;
  for (int i = 0; i < free; i += 3) {  // z is in axes of the world
    cost.g.segment<3>(i) = (frame.R * cost.g.segment<3>(i)).eval();
    for (int j = 0; j < free; j += 3)
      cost.H.block<3, 3>(i, j) = (frame.R * cost.H.block<3, 3>(i, j) * frame.R.transpose()).eval();
  }
}

}  // namespace thunder
