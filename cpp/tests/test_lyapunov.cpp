// The Lyapunov equation: its residual, that P is positive definite, and what is refused.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "check.hpp"
#include "thunder/control/lyapunov.hpp"

using namespace thunder;
using Eigen::MatrixXd;

namespace {

MatrixXd positive(int n, double scale) {
  const MatrixXd A = MatrixXd::Random(n, n);
  return scale * A * A.transpose() + MatrixXd::Identity(n, n);
}

void solves_the_equation() {
  for (const int n : {1, 2, 7, 40}) {
    const MatrixXd A = error_dynamics(positive(n, 50.0), positive(n, 10.0)), Q = positive(2 * n, 1.0);
    const MatrixXd P = solve_lyapunov(A, Q);
    CHECK((A.transpose() * P + P * A + Q).norm() < 1e-13 * A.norm() * P.norm());
    CHECK(P == P.transpose());
    CHECK(P.llt().info() == Eigen::Success);
  }
}

/// e'' + 2 e' + 5 e = 0 by hand: P = [1.7 0.1; 0.1 0.3] for Q = 1.
void known_solution() {
  MatrixXd K_p(1, 1), K_v(1, 1), P(2, 2);
  K_p << 5.0;
  K_v << 2.0;
  P << 1.7, 0.1, 0.1, 0.3;
  CHECK(solve_lyapunov(error_dynamics(K_p, K_v), MatrixXd::Identity(2, 2)).isApprox(P, 1e-14));
}

bool refused(const MatrixXd& A, const MatrixXd& Q, const std::string& expected) {
  try {
    solve_lyapunov(A, Q);
  } catch (const std::invalid_argument& error) {
    return std::string(error.what()).find(expected) != std::string::npos;
  }
  return false;
}

void refusals() {
  const MatrixXd one = MatrixXd::Identity(2, 2);
  MatrixXd oscillator(2, 2);
  oscillator << 0.0, 1.0, -4.0, 0.0;
  CHECK(refused(one, one, "A has the eigenvalue 1"));
  CHECK(refused(oscillator, one, "+ 2i"));
  CHECK(refused(MatrixXd::Zero(2, 2), one, "Hurwitz"));
  CHECK(refused(-one, MatrixXd::Identity(3, 3), "of one size"));
  CHECK(refused(-one, one * std::numeric_limits<double>::quiet_NaN(), "finite"));
}

}  // namespace

int main() {
  solves_the_equation();
  known_solution();
  refusals();
  return check::result();
}
