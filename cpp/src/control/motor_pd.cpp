#include "thunder/control/motor_pd.hpp"

#include "thunder/control/spring.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

MotorPD::MotorPD(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d, Gravity compensated)
    : ElasticController(std::move(model), std::move(K_d)), K_p_(std::move(K_p)), compensated_(compensated) {
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &deflection_, &error_, &biased_}) v->setZero(n());
  publish("error", error_.data(), joint_names());
}

Status MotorPD::law(double, const double* q, const double* dq, const JointReference& desired, double* tau) noexcept {
  set_theta(q, dq);
  error_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  dynamics_.gravity_vector(desired.q.data(), tau);
  deflection_.setZero();
  for (int k = 0; k < e(); ++k)
    if (!spring_deflection(elastic(), k, tau[joints()[k]], deflection_[joints()[k]])) return Status::singular;
  e_ = desired.q + deflection_ - theta_;
  e_dot_ = desired.dq - theta_dot_;
  if (compensated_ == Gravity::online) {
    biased_ = theta_ - deflection_;
    dynamics_.gravity_vector(biased_.data(), tau);
  }
  add_product(K_p_, e_.data(), tau);
  add_product(K_d_, e_dot_.data(), tau);
  return Status::ok;
}

}  // namespace thunder
