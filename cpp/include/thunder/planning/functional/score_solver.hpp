// Linear constraints on offsets and scores: the most likely ones that meet them, and the remaining freedom.
#pragma once

#include <Eigen/Dense>

namespace thunder {

/// A u = r + noise for u = (free, others): the free ones have no prior, the others are independent with mean
/// zero and standard deviations `scale`, the noise has its own per row (0: the constraint is exact).
///
/// The free ones are eliminated by an orthogonal transformation, which is the limit of a prior whose variance grows without
/// bound; the remainder, in units of standard deviations, is a problem of least norm, solved by QR with pivoting:
/// alpha = Sigma A' (A Sigma A' + R)^+ (r - A mu), without that product of matrices. Where there are as many unknowns as
/// rows this is the square system of D4.2, eq. (102), and scale only equilibrates its columns.
class ScoreSolver {
 public:
  ScoreSolver(const Eigen::MatrixXd& A, int free, const Eigen::VectorXd& scale, const Eigen::VectorXd& noise);

  /// True if the constraints can be met for every r.
  bool solvable() const noexcept { return solvable_; }
  /// Condition in the Frobenius norm, of the equilibrated problem without the free unknowns; infinite where not solvable.
  double condition() const noexcept { return condition_; }
  /// Most likely unknowns, one column per right-hand side.
  Eigen::MatrixXd solve(const Eigen::MatrixXd& r) const;
  /// Square root of the covariance that the constraints leave: covariance = spread spread'.
  Eigen::MatrixXd spread() const;

 private:
  void eliminate(const Eigen::MatrixXd& A);
  void factor();
  Eigen::MatrixXd step(const Eigen::MatrixXd& r, Eigen::MatrixXd& w) const;

  int rows_, free_;
  Eigen::VectorXd scale_, row_scale_;
  Eigen::MatrixXd U_, G_;  // equilibrated: columns of the free unknowns; of the others and the noise, in standard deviations
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> free_qr_, qr_;
  bool solvable_ = true;
  double condition_ = 1.0;
};

/// Scales that make the columns of a square system alike, rows made alike first.
Eigen::VectorXd equilibration(const Eigen::MatrixXd& A, int free);

}  // namespace thunder
