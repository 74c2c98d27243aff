#include "thunder/planning/functional/score_solver.hpp"

#include <limits>

namespace thunder {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRank = 1e-14;  // of the largest pivot: below it a constraint repeats others

Eigen::VectorXd inverse_or_one(const Eigen::VectorXd& norms) {
  return norms.unaryExpr([](double norm) { return norm > 0.0 ? 1.0 / norm : 1.0; });
}

}  // namespace

Eigen::VectorXd equilibration(const Eigen::MatrixXd& A, int free) {
  const Eigen::VectorXd rows = inverse_or_one(A.rowwise().norm());
  return inverse_or_one((rows.asDiagonal() * A.rightCols(A.cols() - free)).colwise().norm().transpose());
}

ScoreSolver::ScoreSolver(const Eigen::MatrixXd& A, int free, const Eigen::VectorXd& scale, const Eigen::VectorXd& noise)
    : rows_(static_cast<int>(A.rows())), free_(free), scale_(scale) {
  const Eigen::Index others = A.cols() - free, noisy = noise.size();
  G_.resize(rows_, others + noisy);
  G_.leftCols(others) = A.rightCols(others) * scale.asDiagonal();
  if (noisy > 0) G_.rightCols(noisy) = noise.asDiagonal();
  row_scale_ = inverse_or_one((A.leftCols(free).rowwise().squaredNorm() + G_.rowwise().squaredNorm()).cwiseSqrt());
  G_ = row_scale_.asDiagonal() * G_;
  eliminate(A);
  factor();
}

void ScoreSolver::eliminate(const Eigen::MatrixXd& A) {
  if (free_ == 0) return;
  U_ = row_scale_.asDiagonal() * A.leftCols(free_);
  free_qr_.compute(U_);
  const auto pivots = free_qr_.matrixR().diagonal();
  solvable_ = rows_ >= free_ && std::abs(pivots(pivots.size() - 1)) > kRank;
}

void ScoreSolver::factor() {
  const int left = rows_ - free_;
  if (!solvable_ || left > G_.cols()) solvable_ = false;
  if (!solvable_) {
    condition_ = kInfinity;
    return;
  }
  if (left == 0) return;
  Eigen::MatrixXd projected = G_;
  if (free_ > 0) projected.applyOnTheLeft(free_qr_.householderQ().adjoint());
  qr_.compute(projected.bottomRows(left).transpose());
  const Eigen::MatrixXd R = qr_.matrixR().topRows(left).triangularView<Eigen::Upper>();
  solvable_ = std::abs(R(left - 1, left - 1)) > kRank * std::abs(R(0, 0));
  condition_ = kInfinity;
  if (!solvable_) return;
  const Eigen::MatrixXd inverse = R.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(left, left));
  condition_ = R.norm() * inverse.norm() / left;
}

/// Unknowns for an equilibrated right-hand side; w gets the others in standard deviations, the noise behind them.
Eigen::MatrixXd ScoreSolver::step(const Eigen::MatrixXd& r, Eigen::MatrixXd& w) const {
  const int left = rows_ - free_;
  const Eigen::Index others = scale_.size();
  Eigen::MatrixXd unknowns(free_ + others, r.cols());
  w = Eigen::MatrixXd::Zero(G_.cols(), r.cols());
  if (left > 0) {
    Eigen::MatrixXd projected = r;
    if (free_ > 0) projected.applyOnTheLeft(free_qr_.householderQ().adjoint());
    const Eigen::MatrixXd permuted = qr_.colsPermutation().transpose() * projected.bottomRows(left);
    w.topRows(left) = qr_.matrixR().topLeftCorner(left, left).triangularView<Eigen::Upper>().transpose().solve(permuted);
    w.applyOnTheLeft(qr_.householderQ());
  }
  unknowns.bottomRows(others) = scale_.asDiagonal() * w.topRows(others);
  if (free_ > 0) unknowns.topRows(free_) = free_qr_.solve(r - G_ * w);
  return unknowns;
}

Eigen::MatrixXd ScoreSolver::solve(const Eigen::MatrixXd& r) const {
  const Eigen::MatrixXd scaled = row_scale_.asDiagonal() * r;
  Eigen::MatrixXd w, correction;
  Eigen::MatrixXd unknowns = step(scaled, w);
  Eigen::MatrixXd residual = scaled - G_ * w;
  if (free_ > 0) residual -= U_ * unknowns.topRows(free_);
  return unknowns + step(residual, correction);  // exact to rounding, however ill-conditioned
}

Eigen::MatrixXd ScoreSolver::spread() const {
  const Eigen::Index left = rows_ - free_, all = G_.cols(), others = scale_.size();
  Eigen::MatrixXd null = Eigen::MatrixXd::Identity(all, all);
  if (left > 0) null.applyOnTheLeft(qr_.householderQ());
  const Eigen::MatrixXd directions = null.rightCols(all - left);
  Eigen::MatrixXd spread(free_ + others, all - left);
  spread.bottomRows(others) = scale_.asDiagonal() * directions.topRows(others);
  if (free_ > 0) spread.topRows(free_) = -free_qr_.solve(G_ * directions);
  return spread;
}

}  // namespace thunder
