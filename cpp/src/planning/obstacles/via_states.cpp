#include "via_states.hpp"

namespace thunder {

namespace {

constexpr int kBlock = 2 * kMaxDofs;
using Block = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kBlock, 1>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kBlock, kBlock>;

/// Free part of a state: velocity, and acceleration if the block is that long.
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

/// True if every entry between different degrees of freedom is zero.
bool decoupled(const JerkCost& cost, Eigen::Index d) noexcept {
  for (Eigen::Index i = 0; i < cost.H.rows(); ++i)
    for (Eigen::Index j = 0; j < cost.H.cols(); ++j)
      if (i % d != j % d && cost.H(i, j) != 0.0) return false;
  return true;
}

}  // namespace

/// The planner is asked for its cost in unit time, with each coordinate of each end in turn farther by 1; an aligned one
/// has no such cost. Start and goal are apart throughout, since the mean fades where they are not.
ViaStates::ViaStates(const FunctionalPlanner& planner) {
  const Eigen::Index d = planner.dimension();
  BoundaryState from(planner.dimension()), to(planner.dimension());
  to.x.setOnes();
  JerkCost apart, moved;
  planner.jerk_cost(from, to, 1.0, apart);
  if (planner.model().aligned || apart.H.rows() != 4 * d || !decoupled(apart, d)) return;
  axes_.resize(static_cast<std::size_t>(d));
  const auto probe = [&](BoundaryState& end, Eigen::Index k, double* difference) {
    end.x[k] += 1.0;
    planner.jerk_cost(from, to, 1.0, moved);
    end.x[k] -= 1.0;
    for (int r = 0; r < 4; ++r) difference[r] = moved.g[r * d + k] - apart.g[r * d + k];
  };
  for (Eigen::Index k = 0; k < d; ++k) {
    Axis& axis = axes_[static_cast<std::size_t>(k)];
    probe(from, k, axis.from);
    probe(to, k, axis.to);
    for (int r = 0; r < 4; ++r) {
      axis.g[r] = apart.g[r * d + k] - axis.to[r];
      for (int s = 0; s < 4; ++s) axis.H[r][s] = apart.H(r * d + k, s * d + k);
    }
  }
}

/// In a segment of duration T, velocities count T, accelerations T^2 and the whole T^-5.
void ViaStates::optimize_one(const BoundaryState& from, BoundaryState& via, const BoundaryState& to,
                             const double* durations) const noexcept {
  const double T = durations[0], U = durations[1], before = 1.0 / (T * T * T), after = 1.0 / (U * U * U);
  for (Eigen::Index k = 0; k < via.x.size(); ++k) {
    const Axis& c = axes_[static_cast<std::size_t>(k)];
    const double v0 = T * from.v[k], a0 = T * T * from.a[k], v1 = U * to.v[k], a1 = U * U * to.a[k];
    const double x0 = from.x[k], x = via.x[k], x1 = to.x[k];
    const auto ends = [&](int r) {
      return c.g[r] + c.from[r] * x0 + c.to[r] * x + c.H[r][0] * v0 + c.H[r][1] * a0;
    };
    const auto begins = [&](int r) {
      return c.g[r] + c.from[r] * x + c.to[r] * x1 + c.H[r][2] * v1 + c.H[r][3] * a1;
    };
    const double A = before * c.H[2][2] + after * c.H[0][0];
    const double B = before * T * c.H[2][3] + after * U * c.H[0][1];
    const double C = before * T * T * c.H[3][3] + after * U * U * c.H[1][1];
    const double p = -before / T * ends(2) - after / U * begins(0), q = -before * ends(3) - after * begins(1);
    const double determinant = A * C - B * B;
    via.v[k] = (C * p - B * q) / determinant;
    via.a[k] = (A * q - B * p) / determinant;
  }
}

/// Block elimination from the first via point to the last, then substitution back.
void ViaStates::optimize(const FunctionalPlanner& planner, const BoundaryState& from, BoundaryState* vias, int n,
                         const BoundaryState& to, const double* durations) const noexcept {
  if (n == 1 && !axes_.empty()) return optimize_one(from, vias[0], to, durations);
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
