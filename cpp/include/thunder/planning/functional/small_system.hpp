// The system of one degree of freedom, small enough for the stack: the problem of `ScoreSolver`, solved while a motion runs.
#pragma once

#include "functional_model.hpp"

namespace thunder {

/// Rows 0 and 1 are positions and hold the offset, whose column is not stored: its difference of the two eliminates it.
/// The rest, rows and columns equilibrated, is a least-norm problem, solved by orthogonalizing the rows.
struct SmallSystem {
  static constexpr int kMaxRows = 6;

  SmallSystem(int rows_, int scores_) noexcept : rows(rows_), scores(scores_) {}

  /// Finds offset and scores; returns the condition, infinite where a row repeats others.
  double solve() noexcept;

  int rows, scores;
  double A[kMaxRows][FunctionalModel::kMaxComponents];  // over the scores
  double scale[FunctionalModel::kMaxComponents];        // their standard deviations; negative for one without a prior
  double right[kMaxRows];
  double offset = 0.0;
  double found[FunctionalModel::kMaxComponents];

 private:
  void equilibrate() noexcept;
  bool orthogonalize() noexcept;
  double condition() const noexcept;
  void add_step(const double* residual) noexcept;

  double Q_[kMaxRows - 1][FunctionalModel::kMaxComponents];  // equilibrated rows 1 to rows - 1, made orthonormal
  double L_[kMaxRows - 1][kMaxRows - 1];
  double row_scale_[kMaxRows - 1];
};

}  // namespace thunder
