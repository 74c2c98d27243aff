#include "thunder/planning/functional/small_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thunder {

namespace {

constexpr double kLeastRest = 1e-14;  // remainder of a row of unit length that repeats others

double inner(const double* a, const double* b, int n) noexcept {
  double sums[4] = {};  // independent additions
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

/// Columns in standard deviations, or of unit length where there are none; rows of unit length.
void SmallSystem::equilibrate() noexcept {
  for (int r = 1; r < rows; ++r) {
    for (int i = 0; i < scores; ++i) Q_[r - 1][i] = r == 1 ? A[1][i] - A[0][i] : A[r][i];
    const double norm = std::sqrt(inner(Q_[r - 1], Q_[r - 1], scores));
    row_scale_[r - 1] = norm > 0.0 ? 1.0 / norm : 1.0;
  }
  for (int i = 0; i < scores; ++i) {
    if (scale[i] >= 0.0) continue;
    double squares = 0.0;
    for (int r = 1; r < rows; ++r) squares += std::pow(row_scale_[r - 1] * Q_[r - 1][i], 2);
    scale[i] = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
  }
  for (int r = 1; r < rows; ++r) {
    for (int i = 0; i < scores; ++i) Q_[r - 1][i] *= scale[i];
    const double norm = std::sqrt(inner(Q_[r - 1], Q_[r - 1], scores));
    row_scale_[r - 1] = norm > 0.0 ? 1.0 / norm : 1.0;
    for (int i = 0; i < scores; ++i) Q_[r - 1][i] *= row_scale_[r - 1];
  }
}

/// Rows = L Q by Gram-Schmidt, applied twice for orthogonality to rounding.
bool SmallSystem::orthogonalize() noexcept {
  for (int r = 0; r + 1 < rows; ++r) {
    std::fill_n(L_[r], kMaxRows - 1, 0.0);
    for (int pass = 0; pass < 2; ++pass)
      for (int c = 0; c < r; ++c) {
        const double along = inner(Q_[r], Q_[c], scores);
        L_[r][c] += along;
        for (int i = 0; i < scores; ++i) Q_[r][i] -= along * Q_[c][i];
      }
    L_[r][r] = std::sqrt(inner(Q_[r], Q_[r], scores));
    if (!(L_[r][r] > kLeastRest)) return false;
    const double inverse = 1.0 / L_[r][r];
    for (int i = 0; i < scores; ++i) Q_[r][i] *= inverse;
  }
  return true;
}

double SmallSystem::condition() const noexcept {
  const int n = rows - 1;
  double squares = 0.0, inverse_squares = 0.0;
  for (int c = 0; c < n; ++c) {  // column c of the inverse
    double x[kMaxRows - 1] = {};
    for (int r = c; r < n; ++r) {
      double sum = r == c ? 1.0 : 0.0;
      for (int k = c; k < r; ++k) sum -= L_[r][k] * x[k];
      x[r] = sum / L_[r][r];
      inverse_squares += x[r] * x[r];
      squares += L_[r][c] * L_[r][c];
    }
  }
  return std::sqrt(squares * inverse_squares) / n;
}

void SmallSystem::add_step(const double* residual) noexcept {
  double y[kMaxRows - 1];
  for (int r = 0; r + 1 < rows; ++r) {
    const double given = r == 0 ? residual[1] - residual[0] : residual[r + 1];
    y[r] = (row_scale_[r] * given - inner(L_[r], y, r)) / L_[r][r];
  }
  double moved = 0.0;
  for (int i = 0; i < scores; ++i) {
    double step = 0.0;
    for (int r = 0; r + 1 < rows; ++r) step += Q_[r][i] * y[r];
    found[i] += scale[i] * step;
    moved += A[0][i] * scale[i] * step;
  }
  offset += residual[0] - moved;
}

double SmallSystem::solve() noexcept {
  equilibrate();
  if (!orthogonalize()) return std::numeric_limits<double>::infinity();
  std::fill_n(found, scores, 0.0);
  offset = 0.0;
  add_step(right);
  double residual[kMaxRows];
  for (int r = 0; r < rows; ++r) residual[r] = right[r] - (r < 2 ? offset : 0.0) - inner(A[r], found, scores);
  add_step(residual);  // exact to rounding, however ill-conditioned
  return condition();
}

}  // namespace thunder
