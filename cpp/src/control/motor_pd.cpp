#include "thunder/control/motor_pd.hpp"

#include <algorithm>

#include "thunder/control/spring.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

MotorPD::MotorPD(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d, Gravity compensated)
    : ElasticController(std::move(model), std::move(K_d)), K_p_(std::move(K_p)), compensated_(compensated) {
  set_hold_stiffness(K_p_);
  const ElasticView<double> springs = elastic();
  for (int k = 0; k < e(); ++k) {
    const double* const K = springs.K + k * springs.K_order;
    if (std::any_of(K, K + springs.K_order, [](double c) { return !(c >= 0.0); }) ||
        std::all_of(K, K + springs.K_order, [](double c) { return c == 0.0; }))
      throw std::invalid_argument("robot must have springs that do not soften for this law: no negative K, and one above 0");
  }
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &deflection_, &error_, &biased_}) v->setZero(n());
  publish("error", error_.data(), joint_names());
}

Status MotorPD::law(double, const double* q, const double* dq, const JointReference& desired, double* tau) noexcept {
  set_theta(q, dq);
  error_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  dynamics_.gravity_vector(desired.q.data(), tau);
  deflection_.setZero();
  for (int k = 0; k < e(); ++k) deflection_[joints()[k]] = spring_deflection(elastic(), k, tau[joints()[k]]);
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
