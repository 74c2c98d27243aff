#include "thunder/control/gain.hpp"

#include <sstream>
#include <stdexcept>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (condition) return;
  std::ostringstream text;
  (text << ... << parts);
  throw std::invalid_argument(text.str());
}

void require_symmetric(const Eigen::MatrixXd& A, const std::string& name) {
  const double tolerance = 1e-12 * A.cwiseAbs().maxCoeff();
  for (int i = 0; i < A.rows(); ++i)
    for (int j = 0; j < i; ++j)
      require(std::abs(A(i, j) - A(j, i)) <= tolerance, name, " must be symmetric: entry (", j, ", ", i, ") is ",
              A(j, i), ", entry (", i, ", ", j, ") is ", A(i, j));
}

Eigen::MatrixXd expanded(const Eigen::MatrixXd& value, int size, const std::string& name) {
  if (value.size() == 1) return Eigen::MatrixXd::Identity(size, size) * value(0, 0);
  if (value.rows() == size && value.cols() == 1) return value.col(0).asDiagonal();
  require(value.rows() == size && value.cols() == size, name, " must be a number, ", size, " numbers or a ", size,
          " x ", size, " matrix, got ", value.rows(), value.cols() == 1 ? " numbers" : " x ",
          value.cols() == 1 ? "" : std::to_string(value.cols()));
  return value;
}

}  // namespace

Eigen::MatrixXd gain_matrix(const Eigen::MatrixXd& value, int size, const std::string& name) {
  const Eigen::MatrixXd A = expanded(value, size, name);
  require(A.allFinite(), name, " must be finite");
  require_symmetric(A, name);
  const bool diagonal = A.isDiagonal();
  const double smallest = diagonal ? A.diagonal().minCoeff() : smallest_eigenvalue(A);
  require(smallest > 0.0, name, " must be positive definite, its smallest eigenvalue is ", smallest);
  return A;
}

void require_joint_definiteness(const Eigen::MatrixXd& K_p, const Eigen::MatrixXd& Lambda) {
  const double smallest = smallest_eigenvalue(product(K_p, Lambda) + product(Lambda, K_p));
  require(smallest > 0.0, "K_p Lambda + Lambda K_p must be positive definite, its smallest eigenvalue is ", smallest,
          "; take matrices that commute, such as diagonal ones");
}

}  // namespace thunder
