#include "thunder/control/elastic_feedback_linearization.hpp"

#include "thunder/control/spring.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

ElasticFeedbackLinearization::ElasticFeedbackLinearization(std::shared_ptr<const Model> model, Gains gains,
                                                           Eigen::MatrixXd K_d)
    : ElasticController(std::move(model), std::move(K_d)), gains_(std::move(gains)), M_(RowMajor::Zero(n(), n())) {
  if (e() != n())
    throw std::invalid_argument("robot must have elastic joints only: with rigid ones no static feedback linearizes it");
  const ElasticView<double> springs = elastic();
  for (int k = 0; k < e() * springs.D_order; ++k)
    if (springs.D[k] != 0.0)
      throw std::invalid_argument(
          "robot must have springs without damping D, with which the torque acts on the third derivative: give this law a "
          "model with D = 0");
  for (Eigen::VectorXd* v : {&spring_, &spring_rate_, &slope_, &curve_, &ddq_, &d3q_, &v_, &target_, &zero_, &error_,
                             &error_dot_, &error_ddot_, &error_d3_})
    v->setZero(n());
  publish("error", error_.data(), joint_names());
  publish("ddq", ddq_.data(), joint_names());
  publish("d3q", d3q_.data(), joint_names());
}

/// Acceleration and jerk of the links from q, dq and the springs: M ddq + n = tau_el, and its derivative.
bool ElasticFeedbackLinearization::read_links(const double* q, const double* dq) noexcept {
  dynamics_.forward_dynamics(q, dq, spring_.data(), ddq_.data());
  dynamics_.inverse_dynamics_dot(q, dq, ddq_.data(), zero_.data(), target_.data());
  d3q_ = spring_rate_ - target_;
  dynamics_.mass_matrix(q, M_.data());
  if (!factor_positive_definite(n(), M_.data())) return false;
  solve_positive_definite(n(), M_.data(), d3q_.data());
  return true;
}

Status ElasticFeedbackLinearization::law(double, const double* q, const double* dq, const JointReference& desired,
                                         double* tau) noexcept {
  if (!desired.d3q.allFinite() || !desired.d4q.allFinite()) return Status::invalid_input;
  for (int k = 0; k < n(); ++k) {
    const SpringMotion at = spring_motion(elastic(), k, x_[k] - q[k], dx_[k] - dq[k]);
    if (!(at.slope > 0.0)) return Status::singular;
    spring_[k] = at.tau, spring_rate_[k] = at.rate, slope_[k] = at.slope, curve_[k] = at.curve;
  }
  if (!read_links(q, dq)) return Status::singular;
  error_ = desired.q - Eigen::Map<const Eigen::VectorXd>(q, n());
  error_dot_ = desired.dq - Eigen::Map<const Eigen::VectorXd>(dq, n());
  error_ddot_ = desired.ddq - ddq_;
  error_d3_ = desired.d3q - d3q_;
  v_ = desired.d4q;
  add_product(gains_.K_3, error_d3_.data(), v_.data());
  add_product(gains_.K_2, error_ddot_.data(), v_.data());
  add_product(gains_.K_1, error_dot_.data(), v_.data());
  add_product(gains_.K_0, error_.data(), v_.data());
  dynamics_.inverse_dynamics_ddot(q, dq, ddq_.data(), d3q_.data(), v_.data(), target_.data());
  for (int k = 0; k < n(); ++k) {  // tau_el'' = slope (ddx - ddq) + curve
    const double ddx = ddq_[k] + (target_[k] - curve_[k]) / slope_[k];
    tau[k] = elastic().Mm[k] * ddx + motor_damping(elastic(), k, dx_[k]) + spring_[k];
  }
  return Status::ok;
}

}  // namespace thunder
