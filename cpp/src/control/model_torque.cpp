#include "thunder/control/model_torque.hpp"

namespace thunder {

void ModelTorque::compute(const Evaluator& dynamics, const double* q, const double* dq, const double* dq_r,
                          const double* ddq_r, double* tau_) noexcept {
  Eigen::Map<Eigen::VectorXd> tau(tau_, friction_.size());
  dynamics.mass_coriolis(q, dq, M_.data(), C_.data());
  dynamics.gravity_vector(q, tau_);
  dynamics.friction_torque(dq, friction_.data());
  tau += friction_;
  tau += M_.lazyProduct(Eigen::Map<const Eigen::VectorXd>(ddq_r, tau.size()));
  tau += C_.lazyProduct(Eigen::Map<const Eigen::VectorXd>(dq_r, tau.size()));
}

}  // namespace thunder
