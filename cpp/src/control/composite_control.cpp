#include "thunder/control/composite_control.hpp"

#include "thunder/math/dense.hpp"

namespace thunder {

CompositeControl::CompositeControl(std::shared_ptr<const Model> model, std::shared_ptr<JointController> slow,
                                   Eigen::MatrixXd K_v, Eigen::MatrixXd K_d)
    : ElasticController(std::move(model), std::move(K_d)),
      slow_(std::move(slow)),
      K_v_(std::move(K_v)),
      fast_(Eigen::VectorXd::Zero(e())),
      damping_(fast_) {
  if (slow_->n() != n())
    throw std::invalid_argument("slow must have the robot's " + std::to_string(n()) + " joints, got " +
                                std::to_string(slow_->n()));
  if (slow_->sees_motors() || slow_->model()->elastic_count() > 0)
    throw std::invalid_argument("slow must be a law of the robot with rigid joints, ``robot.rigid()``");
  for (const Signal& signal : slow_->signals()) publish(signal.name, signal.data, signal.labels);
}

Status CompositeControl::law(double t, const double* q, const double* dq, const JointReference& desired,
                             double* tau) noexcept {
  const Status status = slow_->step(t, q, dq, desired, tau);
  for (int k = 0; k < e(); ++k) fast_[k] = dq[joints()[k]] - dx_[k];
  damping_.setZero();
  add_product(K_v_, fast_.data(), damping_.data());
  for (int k = 0; k < e(); ++k) tau[joints()[k]] += damping_[k];
  return status;
}

}  // namespace thunder
