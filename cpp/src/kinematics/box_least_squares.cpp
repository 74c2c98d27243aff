#include "thunder/kinematics/box_least_squares.hpp"

#include <algorithm>

namespace thunder {

void BoxLeastSquares::solve(const Matrix& A, const TaskVector& b, const Vector& lower,
                            const Vector& upper, Vector& x) noexcept {
  constexpr double kTie = 1e-12;
  delta_squared_ = kTie * A.squaredNorm();
  start_ = x;
  x_ = x.cwiseMax(lower).cwiseMin(upper);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    held_[i] = x_[i] < x[i] ? Held::upper : x_[i] > x[i] ? Held::lower : Held::free;
  // each pass holds or releases one entry; the limit is far beyond what occurs, and guards against rounding errors
  const Eigen::Index most = 10 * (x.size() + 1);
  for (Eigen::Index pass = 0; pass < most; ++pass) {
    solve_free(A, b);
    if (move(lower, upper) && !release(A, lower, upper)) break;
  }
  x = x_;
}

/// The minimum over the free entries: x_F = x_0 + A_F' y with (A_F A_F' + delta^2 1) y = b - A_W x_W - A_F x_0.
void BoxLeastSquares::solve_free(const Matrix& A, const TaskVector& b) noexcept {
  free_ = A;
  goal_ = x_;
  for (Eigen::Index i = 0; i < x_.size(); ++i) {
    if (held_[i] == Held::free)
      goal_[i] = start_[i];
    else
      free_.col(i).setZero();
  }
  const TaskVector left = b - A.lazyProduct(goal_);
  svd_.compute(free_);
  svd_.solve_dual(left, delta_squared_, y_);
  goal_ += free_.transpose().lazyProduct(y_);
}

/// Moves to the minimum; where a bound is in the way only up to it, and holds that entry: false.
bool BoxLeastSquares::move(const Vector& lower, const Vector& upper) noexcept {
  double part = 1.0;
  Eigen::Index blocking = -1;
  for (Eigen::Index i = 0; i < x_.size(); ++i) {
    if (held_[i] != Held::free || (goal_[i] >= lower[i] && goal_[i] <= upper[i])) continue;
    const double bound = goal_[i] < lower[i] ? lower[i] : upper[i];
    const double reached = (bound - x_[i]) / (goal_[i] - x_[i]);
    if (reached >= part) continue;
    part = reached;
    blocking = i;
  }
  if (blocking < 0) {
    x_ = goal_.cwiseMax(lower).cwiseMin(upper);
    return true;
  }
  x_ = (x_ + part * (goal_ - x_)).cwiseMax(lower).cwiseMin(upper);
  held_[blocking] = goal_[blocking] < lower[blocking] ? Held::lower : Held::upper;
  x_[blocking] = held_[blocking] == Held::lower ? lower[blocking] : upper[blocking];
  return false;
}

/// Frees the entry that lowers the sum most; false at the minimum. The gradient is delta^2 (x - x_0 - A' y).
bool BoxLeastSquares::release(const Matrix& A, const Vector& lower, const Vector& upper) noexcept {
  constexpr double kRounding = 1e-9;
  const Vector pull = A.transpose().lazyProduct(y_);
  double most = kRounding * (1.0 + start_.lpNorm<Eigen::Infinity>() + pull.lpNorm<Eigen::Infinity>());
  Eigen::Index found = -1;
  for (Eigen::Index i = 0; i < x_.size(); ++i) {
    if (held_[i] == Held::free || !(lower[i] < upper[i])) continue;
    const double gradient = x_[i] - start_[i] - pull[i];
    const double gain = held_[i] == Held::lower ? -gradient : gradient;
    if (gain <= most) continue;
    most = gain;
    found = i;
  }
  if (found < 0) return false;
  held_[found] = Held::free;
  return true;
}

}  // namespace thunder
