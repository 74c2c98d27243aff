// Least squares within bounds, of at most six rows: joint rates that follow a task within limits of the joints.
#pragma once

#include "row_svd.hpp"

namespace thunder {

/// The x in [lower, upper] that minimizes |A x - b|^2 + delta^2 |x - x_0|^2 with delta = 1e-6 |A|: next to A x = b the
/// distance from x_0 counts only as a tie-breaker. A primal active-set method: every iterate is within the bounds.
class BoxLeastSquares {
 public:
  static constexpr int kMaxColumns = kMaxJoints + 1;  // the joints, and a scale of the task
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 6, kMaxColumns>;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxColumns, 1>;

  /// `x` is x_0 before and the solution after. Needs lower <= upper. Never throws, never allocates.
  void solve(const Matrix& A, const TaskVector& b, const Vector& lower, const Vector& upper,
             Vector& x) noexcept;

 private:
  void solve_free(const Matrix& A, const TaskVector& b) noexcept;
  bool move(const Vector& lower, const Vector& upper) noexcept;
  bool release(const Matrix& A, const Vector& lower, const Vector& upper) noexcept;

  enum class Held : signed char { free, lower, upper };

  BasicRowSvd<Matrix, Vector> svd_;
  Matrix free_;  // A with zero columns where x is held
  TaskVector y_;          // (b - A x) / delta^2
  Vector start_, x_, goal_;
  double delta_squared_ = 0.0;
  Held held_[kMaxColumns] = {};
};

}  // namespace thunder
