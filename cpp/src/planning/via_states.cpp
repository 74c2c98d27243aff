#include "via_states.hpp"

namespace thunder {

namespace {

constexpr int kBlock = 2 * kMaxDofs;
using Block = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kBlock, 1>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kBlock, kBlock>;

/// What a planner lets one choose of a state: velocity, and acceleration if the block is that long.
Block choice(const BoundaryState& state, Eigen::Index size) noexcept {
  const Eigen::Index d = state.v.size();
  Block block(size);
  if (size >= d) block.head(d) = state.v;
  if (size >= 2 * d) block.tail(d) = state.a;
  return block;
}

void set_choice(const Block& block, BoundaryState& state) noexcept {
  const Eigen::Index d = state.v.size();
  if (block.size() >= d) state.v = block.head(d);
  if (block.size() >= 2 * d) state.a = block.tail(d);
}

}  // namespace

/// Block elimination from the first via point to the last, then substitution back.
void optimise_via_states(const FunctionalPlanner& planner, const BoundaryState& from, BoundaryState* vias, int n,
                         const BoundaryState& to, const double* durations) noexcept {
  Square upper[kMaxVias];  // pivot^-1 times the coupling to the next via point
  Block solution[kMaxVias];
  JerkCost before, after;
  planner.jerk_cost(from, n > 0 ? vias[0] : to, durations[0], before);
  const Eigen::Index m = before.H.rows() / 2;
  if (m == 0) return;
  for (int i = 0; i < n; ++i) {
    planner.jerk_cost(vias[i], i + 1 < n ? vias[i + 1] : to, durations[i + 1], after);
    Square pivot = before.H.bottomRightCorner(m, m) + after.H.topLeftCorner(m, m);
    Block right = -before.g.tail(m) - after.g.head(m);
    if (i == 0) {
      right.noalias() -= before.H.bottomLeftCorner(m, m).lazyProduct(choice(from, m));
    } else {
      pivot.noalias() -= before.H.bottomLeftCorner(m, m).lazyProduct(upper[i - 1]);
      right.noalias() -= before.H.bottomLeftCorner(m, m).lazyProduct(solution[i - 1]);
    }
    if (i + 1 == n) right.noalias() -= after.H.topRightCorner(m, m).lazyProduct(choice(to, m));
    const Eigen::LLT<Eigen::Ref<Square>> factors(pivot);
    solution[i] = right;
    factors.solveInPlace(solution[i]);
    if (i + 1 < n) {
      upper[i] = after.H.topRightCorner(m, m);
      factors.solveInPlace(upper[i]);
    }
    before = after;
  }
  for (int i = n - 1; i >= 0; --i) {
    if (i + 1 < n) solution[i].noalias() -= upper[i].lazyProduct(solution[i + 1]);
    set_choice(solution[i], vias[i]);
  }
}

}  // namespace thunder
