#include "thunder/control/robust_unit_vector.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

void require_positive(double value, const char* name) {
  if (!(value > 0.0) || !std::isfinite(value))
    throw std::invalid_argument(std::string(name) + " must be positive and finite, got " + std::to_string(value));
}

}  // namespace

RobustUnitVector::RobustUnitVector(std::shared_ptr<const Model> model, Gains gains)
    : JointController(std::move(model), gains.K_1), gains_(std::move(gains)) {
  require_positive(gains_.rho, "rho");
  require_positive(gains_.epsilon, "epsilon");
  P_e_ = gains_.P.bottomLeftCorner(n(), n());
  P_v_ = gains_.P.bottomRightCorner(n(), n());
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &z_, &w_, &ddq_}) v->setZero(n());
  publish("error", e_.data(), joint_names());
  publish("z", z_.data(), joint_names());
  publish("w", w_.data(), joint_names());
}

Status RobustUnitVector::law(double, const double* q, const double* dq, const JointReference& desired,
                             double* tau) noexcept {
  e_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  e_dot_ = desired.dq - Eigen::Map<const Eigen::VectorXd>(dq, n());
  z_.setZero();
  add_product(P_e_, e_.data(), z_.data());
  add_product(P_v_, e_dot_.data(), z_.data());
  w_ = gains_.rho / std::max(z_.norm(), gains_.epsilon) * z_;

  ddq_ = desired.ddq + w_;
  add_product(gains_.K_1, e_dot_.data(), ddq_.data());
  add_product(gains_.K_0, e_.data(), ddq_.data());
  dynamics_.inverse_dynamics(q, dq, ddq_.data(), tau);
  return Status::ok;
}

}  // namespace thunder
