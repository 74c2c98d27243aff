// The largest damping of a link's velocity that keeps an elastic joint stable.
#pragma once

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"

namespace thunder {

/// Routh's criterion for link and motor under the torque -K_d dq, derived in docs/theory/adaptive_control.md; every joint
/// moves alone with the inertia 1 / (M^-1)_jj.
class ElasticDamping {
 public:
  explicit ElasticDamping(std::shared_ptr<const Model> model);
  /// n values, infinite for rigid joints. Never throws, never allocates.
  void at(const double* q, double* limits) noexcept;

 private:
  double link_inertia(int joint) noexcept;

  Evaluator dynamics_;
  Eigen::VectorXd friction_slope_, column_;
  RowMajor M_;
};

}  // namespace thunder
