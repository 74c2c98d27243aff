// Rotations, their vectors and quaternions against each other and against differences; dense algebra against Eigen's.
#include "check.hpp"
#include "random_chain.hpp"
#include "thunder/math/dense.hpp"
#include "thunder/math/rotations.hpp"

#include <stdexcept>
#include <string>

using namespace thunder;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

void check_rotations(const Vector3d& phi, const Vector3d& rate, const Vector3d& second) {
  const Matrix3d R = rotation_exp(phi);
  const Matrix3d expected = Eigen::AngleAxisd(phi.norm(), phi.norm() > 0.0 ? phi.normalized() : Vector3d::UnitX()).matrix();
  CHECK((R - expected).norm() < 1e-14);
  CHECK((quaternion_exp(phi).toRotationMatrix() - R).norm() < 1e-14);
  CHECK((rotation_log(R) - phi).norm() < 1e-13 * std::max(1.0, 1.0 / (3.1416 - phi.norm())));
  CHECK((quaternion_log(Eigen::Quaterniond(-quaternion_exp(phi).coeffs())) - phi).norm() < 1e-13);
  CHECK(std::abs(shorter_quaternion(R).vec().norm() - std::sin(0.5 * phi.norm())) < 1e-14);

  // dR/dt = [w] R and dw/dt along phi(t) = phi + rate t + second t^2 / 2
  constexpr double h = 1e-5;
  const auto velocity = [&](double t) -> Vector3d {
    return rotation_jacobian(phi + rate * t + 0.5 * t * t * second) * (rate + t * second);
  };
  const Matrix3d R_dot = (rotation_exp(phi + h * rate) - rotation_exp(phi - h * rate)) / (2.0 * h);
  CHECK((R_dot - cross_matrix(velocity(0.0)) * R).norm() < 1e-8);
  const Vector3d w_dot = (velocity(h) - velocity(-h)) / (2.0 * h);
  CHECK((w_dot - rotation_jacobian(phi) * second - rotation_bias(phi, rate)).norm() < 1e-8);
}

/// On both sides of where series end: against the formulae in long double.
void check_bias(const Vector3d& phi, const Vector3d& rate) {
  using Vector3l = Eigen::Matrix<long double, 3, 1>;
  const Vector3l p = phi.cast<long double>(), r = rate.cast<long double>(), turn = p.cross(r);
  const long double s = p.squaredNorm(), x = std::sqrt(s), half = std::sin(0.5L * x) / x;
  const long double a = std::sin(x) / x, b = 2.0L * half * half, c = (1.0L - a) / s;
  const Vector3l expected =
      p.dot(r) * ((a - 2.0L * b) / s * turn + (b - 3.0L * c) / s * p.cross(turn)) + c * r.cross(turn);
  CHECK((rotation_bias(phi, rate).cast<long double>() - expected).norm() < 1e-13L * r.norm() * turn.norm());
}

void check_dense(const MatrixXd& B, const VectorXd& x) {
  const MatrixXd A = B * B.transpose() + MatrixXd::Identity(B.rows(), B.rows());
  VectorXd y = x;
  add_product(B, x.data(), y.data(), -2.0);
  CHECK((y - (x - 2.0 * B * x)).norm() < 1e-13);
  CHECK((positive_definite_inverse(A, "A") * A - MatrixXd::Identity(A.rows(), A.rows())).norm() < 1e-12);
  const VectorXd values = A.selfadjointView<Eigen::Lower>().eigenvalues();
  CHECK(std::abs(smallest_eigenvalue(A) - values.minCoeff()) < 1e-12 * values.maxCoeff());
  CHECK(std::abs(largest_eigenvalue(A) - values.maxCoeff()) < 1e-12 * values.maxCoeff());
  MatrixXd indefinite = A;
  indefinite(0, 0) = -1.0;
  std::string message;
  try {
    positive_definite_inverse(indefinite, "A");
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CHECK(message == "A must be positive definite, its Cholesky factorization fails");
  CHECK(!factor_positive_definite(static_cast<int>(A.rows()), indefinite.data()));
}

}  // namespace

int main() {
  chains::Random random(7);
  const auto vector = [&](double size) {
    const Vector3d v(random(), random(), random());
    return Vector3d(v.normalized() * size);
  };
  for (const double angle : {0.0, 1e-9, 1e-3, 0.099, 0.101, 1.0, 2.0, 3.0, 3.1})
    for (int k = 0; k < 20; ++k) check_rotations(vector(angle), vector(1.0), vector(1.0));
  for (const double angle : {0.09, 0.0999, 0.1001, 0.11, 0.3, 1.0, 3.0})
    for (int k = 0; k < 100; ++k) check_bias(vector(angle), vector(1.0));
  for (const int n : {1, 2, 7}) {
    MatrixXd B(n, n);
    VectorXd x(n);
    for (double* p = B.data(); p != B.data() + B.size(); ++p) *p = random();
    for (double* p = x.data(); p != x.data() + n; ++p) *p = random();
    check_dense(B, x);
  }
  return check::result();
}
