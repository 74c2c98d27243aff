// External loads on an arm over intervals of time.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "../kernels/evaluator.hpp"

namespace thunder {

/// A wrench on a frame, or torques at the joints, constant from `start` until `stop`.
struct ExternalAction {
  double start, stop;
  int frame;                // index in the model, or -1 for joint torques
  Eigen::VectorXd values;   // force and moment about the frame's origin in world axes (6), or torques (n)
};

class ExternalActions {
 public:
  ExternalActions(int n, std::vector<ExternalAction> actions)
      : actions_(std::move(actions)), active_(actions_.size(), 0), J_(6, n), sum_(Eigen::VectorXd::Zero(n)) {}

  bool empty() const noexcept { return actions_.empty(); }
  /// Selects the loads acting from t on; constant over an integration step.
  void advance(double t) noexcept;
  /// Sum of the joint torques at q, n values.
  const Eigen::VectorXd& torque(const Model& model, Workspace work, const double* q) noexcept;

 private:
  std::vector<ExternalAction> actions_;
  std::vector<char> active_;
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J_;
  Eigen::VectorXd sum_;
};

}  // namespace thunder
