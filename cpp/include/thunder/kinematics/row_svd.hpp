// Singular value decomposition of a matrix with at most six rows, which is what task Jacobians are. One decomposition
// serves inverse, damped inverse, null-space projection and distance from singularities.
#pragma once

#include <cmath>

#include "../math/matrices.hpp"

namespace thunder {

/// J = U diag(sigma) V'. Rotates rows until they are orthogonal (one-sided Jacobi, after Hestenes): unlike the
/// eigenvalues of J J' this keeps all digits of small singular values. Values are in no order.
template <class Matrix, class Vector>
class BasicRowSvd {
 public:
  void compute(const Matrix& J) noexcept {
    const int m = static_cast<int>(J.rows());
    W_ = J;
    Ut_.setIdentity(m, m);
    const double negligible = kEpsilon * kEpsilon * J.squaredNorm();
    constexpr int kSweeps = 20;  // six rows need about five
    bool turned = true;
    for (int sweep = 0; turned && sweep < kSweeps; ++sweep) {
      turned = false;
      for (int i = 0; i < m; ++i)
        for (int k = i + 1; k < m; ++k) turned |= orthogonalize(i, k, negligible);
    }
    squares_.resize(m);
    for (int i = 0; i < m; ++i) squares_[i] = W_.row(i).squaredNorm();
    floor_ = negligible;
  }

  double largest() const noexcept { return std::sqrt(squares_.maxCoeff()); }
  double smallest() const noexcept { return std::sqrt(squares_.minCoeff()); }

  /// x = J' (J J' + damping_squared)^-1 v; without damping the pseudo-inverse, where directions that vanish give none.
  void solve(const TaskVector& v, double damping_squared, Vector& x) const noexcept {
    x.setZero(W_.cols());
    for (Eigen::Index i = 0; i < W_.rows(); ++i) {
      if (squares_[i] <= floor_) continue;
      const double along = Ut_.row(i).dot(v) / (squares_[i] + damping_squared);
      x += along * W_.row(i).transpose();
    }
  }

  /// y = (J J' + damping_squared)^-1 v, for a positive damping.
  void solve_dual(const TaskVector& v, double damping_squared, TaskVector& y) const noexcept {
    y.setZero(v.size());
    for (Eigen::Index i = 0; i < W_.rows(); ++i)
      y += Ut_.row(i).dot(v) / (squares_[i] + damping_squared) * Ut_.row(i).transpose();
  }

  /// x = (I - J^+ J) x: what is left does not move the task.
  void project_to_null_space(Vector& x) const noexcept {
    for (Eigen::Index i = 0; i < W_.rows(); ++i) {
      if (squares_[i] <= floor_) continue;
      const double along = W_.row(i).dot(x) / squares_[i];
      x -= along * W_.row(i).transpose();
    }
  }

 private:
  static constexpr double kEpsilon = 1e-15;

  bool orthogonalize(int i, int k, double negligible) noexcept {
    const double a = W_.row(i).squaredNorm(), b = W_.row(k).squaredNorm(), overlap = W_.row(i).dot(W_.row(k));
    if (a <= negligible || b <= negligible || std::abs(overlap) <= kEpsilon * std::sqrt(a * b)) return false;
    const double zeta = (b - a) / (2.0 * overlap);
    const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1.0 + zeta * zeta));
    const double c = 1.0 / std::sqrt(1.0 + t * t), s = c * t;
    turn(W_, i, k, c, s);
    turn(Ut_, i, k, c, s);
    return true;
  }

  template <class Rows>
  static void turn(Rows& A, int i, int k, double c, double s) noexcept {
    for (Eigen::Index j = 0; j < A.cols(); ++j) {
      const double x = A(i, j), y = A(k, j);
      A(i, j) = c * x - s * y;
      A(k, j) = s * x + c * y;
    }
  }

  Matrix W_;  // U' J: row i is sigma_i v_i'
  TaskMatrix Ut_;
  TaskVector squares_;  // of the singular values
  double floor_ = 0.0;  // squares up to this are rounding errors
};

using RowSvd = BasicRowSvd<CompactJacobian, JointVector>;

}  // namespace thunder
