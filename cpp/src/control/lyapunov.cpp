#include "thunder/control/lyapunov.hpp"

#include <Eigen/Eigenvalues>
#include <complex>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace thunder {

namespace {

using Complex = std::complex<double>;

/// Throws unless every eigenvalue (`values`) of a matrix of norm `norm` is to the left of the imaginary axis.
void require_hurwitz(const Eigen::VectorXcd& values, double norm) {
  int worst = 0;
  values.real().maxCoeff(&worst);
  const double rounding = static_cast<double>(values.size()) * std::numeric_limits<double>::epsilon() * norm;
  if (values[worst].real() < -rounding) return;
  std::ostringstream text;
  text << "the error dynamics must be stable (A Hurwitz), but A has the eigenvalue " << values[worst].real();
  if (values[worst].imag() != 0.0) text << " + " << std::abs(values[worst].imag()) << "i";
  throw std::invalid_argument(text.str());
}

}  // namespace

// With A = U T U*, T upper triangular, and Y = U* P U the equation reads T* Y + Y T = -U* Q U, and is solved column by
// column by forward substitution (Bartels and Stewart, 1972, in complex arithmetic).
Eigen::MatrixXd solve_lyapunov(const Eigen::MatrixXd& A, const Eigen::MatrixXd& Q) {
  const Eigen::Index n = A.rows();
  if (A.cols() != n || Q.rows() != n || Q.cols() != n)
    throw std::invalid_argument("A and Q of a Lyapunov equation must be square and of one size");
  if (!A.allFinite() || !Q.allFinite()) throw std::invalid_argument("A and Q of a Lyapunov equation must be finite");
  const Eigen::ComplexSchur<Eigen::MatrixXd> schur(A);
  const Eigen::MatrixXcd &T = schur.matrixT(), &U = schur.matrixU();
  require_hurwitz(T.diagonal(), A.norm());
  Eigen::MatrixXcd Y = -(U.adjoint() * Q.cast<Complex>() * U);
  for (Eigen::Index j = 0; j < n; ++j) {
    Y.col(j) -= Y.leftCols(j) * T.col(j).head(j);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Complex sum = T.col(i).head(i).dot(Y.col(j).head(i));  // conjugates T
      Y(i, j) = (Y(i, j) - sum) / (std::conj(T(i, i)) + T(j, j));
    }
  }
  const Eigen::MatrixXd P = (U * Y * U.adjoint()).real();
  return 0.5 * (P + P.transpose());
}

Eigen::MatrixXd error_dynamics(const Eigen::MatrixXd& K_p, const Eigen::MatrixXd& K_v) {
  const Eigen::Index n = K_p.rows();
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = -K_p;
  A.bottomRightCorner(n, n) = -K_v;
  return A;
}

}  // namespace thunder
