#include "thunder/control/elastic_damping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/math/dense.hpp"

namespace thunder {

ElasticDamping::ElasticDamping(std::shared_ptr<const Model> model)
    : dynamics_(std::move(model)),
      friction_slope_(Eigen::VectorXd::Zero(dynamics_.n())),
      column_(friction_slope_),
      M_(RowMajor::Zero(dynamics_.n(), dynamics_.n())) {
  constexpr double kStep = 1e-4;  // [rad/s or m/s]
  Eigen::VectorXd dq = friction_slope_, ahead = dq, behind = dq;
  for (int j = 0; j < dynamics_.n(); ++j) {
    dq.setZero();
    dq[j] = kStep;
    dynamics_.friction_torque(dq.data(), ahead.data());
    dq[j] = -kStep;
    dynamics_.friction_torque(dq.data(), behind.data());
    friction_slope_[j] = (ahead[j] - behind[j]) / (2.0 * kStep);
  }
}

void ElasticDamping::at(const double* q, double* limits) noexcept {
  std::fill_n(limits, dynamics_.n(), std::numeric_limits<double>::infinity());
  const Model& model = dynamics_.model();
  if (model.elastic_count() == 0) return;
  dynamics_.mass_matrix(q, M_.data());
  const bool regular = factor_positive_definite(dynamics_.n(), M_.data());
  const ElasticView<double> spring = model.view().elastic;
  for (int k = 0; k < spring.count; ++k) {
    const int j = spring.joints[k];
    const double K = spring.K[k * spring.K_order], Mm = spring.Mm[k], B = friction_slope_[j];
    const double D = spring.D_order > 0 ? spring.D[k * spring.D_order] : 0.0;
    const double Dm = spring.Dm_order > 0 ? spring.Dm[k * spring.Dm_order] : 0.0;
    const double M = regular ? link_inertia(j) : 0.0;
    const double a = M * (D + Dm) + (D + B) * Mm;
    const double rest = a * (K * (M + Mm) + D * Dm + B * (D + Dm)) - M * Mm * K * (B + Dm);
    const double margin = M * Mm * K - a * D;
    if (margin > 0.0) limits[j] = std::max(rest / margin, 0.0);
  }
}

double ElasticDamping::link_inertia(int joint) noexcept {
  column_.setZero();
  column_[joint] = 1.0;
  solve_positive_definite(dynamics_.n(), M_.data(), column_.data());
  return 1.0 / column_[joint];
}

}  // namespace thunder
