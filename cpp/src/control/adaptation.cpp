#include "thunder/control/adaptation.hpp"

#include <stdexcept>

#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

GradientLaw::GradientLaw(const Eigen::MatrixXd& Gamma) : diagonal_(Gamma.isDiagonal()) {
  if (diagonal_)
    inverse_diagonal_ = Gamma.diagonal().cwiseInverse();
  else
    inverse_ = positive_definite_inverse(Gamma, "Gamma");
  if (!diagonal_) largest_inverse_ = 1.0 / smallest_eigenvalue(Gamma);
}

GradientLaw::GradientLaw(const Eigen::MatrixXd& Gamma, const VectorXd& lower, const VectorXd& upper)
    : GradientLaw(Gamma) {
  if (!diagonal_) throw std::invalid_argument("lower and upper require a diagonal Gamma");
  if (lower.size() != size() || upper.size() != size())
    throw std::invalid_argument("lower and upper must have " + std::to_string(size()) + " entries, got " +
                                std::to_string(lower.size()) + " and " + std::to_string(upper.size()));
  if (!(lower.array() < upper.array()).all()) throw std::invalid_argument("lower must be less than upper, entry by entry");
  lower_ = lower;
  upper_ = upper;
}

bool GradientLaw::integrate(const double* gradient, double dt, double* unknown) noexcept {
  const Map<const VectorXd> g(gradient, size());
  Map<VectorXd> pi(unknown, size());
  if (diagonal_)
    pi += dt * inverse_diagonal_.cwiseProduct(g);
  else
    add_product(inverse_, gradient, unknown, dt);
  if (lower_.size() != 0) pi = pi.cwiseMax(lower_).cwiseMin(upper_);
  return true;
}

double GradientLaw::rate_bound(const double* squares, const double*) const noexcept {
  const Map<const VectorXd> c(squares, size());
  return diagonal_ ? inverse_diagonal_.dot(c) : largest_inverse_ * c.sum();
}

}  // namespace thunder
