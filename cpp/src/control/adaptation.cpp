#include "thunder/control/adaptation.hpp"

namespace thunder {

GradientLaw::GradientLaw(const Eigen::MatrixXd& Gamma) : diagonal_(Gamma.isDiagonal()) {
  if (diagonal_)
    inverse_diagonal_ = Gamma.diagonal().cwiseInverse();
  else
    inverse_ = Gamma.llt().solve(Eigen::MatrixXd::Identity(Gamma.rows(), Gamma.cols()));
}

void GradientLaw::integrate(const double* gradient, double dt, double* unknown) noexcept {
  const Eigen::Index size = diagonal_ ? inverse_diagonal_.size() : inverse_.rows();
  const Eigen::Map<const Eigen::VectorXd> g(gradient, size);
  Eigen::Map<Eigen::VectorXd> pi(unknown, size);
  if (diagonal_)
    pi += dt * inverse_diagonal_.cwiseProduct(g);
  else
    pi.noalias() += dt * inverse_ * g;
}

}  // namespace thunder
