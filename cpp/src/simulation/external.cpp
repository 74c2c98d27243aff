#include "thunder/simulation/external.hpp"

namespace thunder {

void ExternalActions::advance(double t) noexcept {
  constexpr double kRounding = 1e-9;  // of times that are multiples of a step
  for (std::size_t k = 0; k < actions_.size(); ++k)
    active_[k] = actions_[k].start <= t + kRounding && t + kRounding < actions_[k].stop;
}

const Eigen::VectorXd& ExternalActions::torque(const Model& model, Workspace work, const double* q) noexcept {
  sum_.setZero();
  for (std::size_t k = 0; k < actions_.size(); ++k) {
    if (!active_[k]) continue;
    const ExternalAction& action = actions_[k];
    if (action.frame < 0) {
      sum_ += action.values;
      continue;
    }
    kernels().compute(Quantity::Jacobian, model.view(), work, {q}, J_.data(), {model.frame(action.frame), {}});
    for (int row = 0; row < 6; ++row) sum_ += J_.row(row).transpose() * action.values[row];
  }
  return sum_;
}

}  // namespace thunder
