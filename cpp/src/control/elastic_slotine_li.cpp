#include "thunder/control/elastic_slotine_li.hpp"

#include <algorithm>
#include <cmath>

#include "thunder/dynamics/elastic.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

/// y'' + 2 a y' + w^2 y = 0 over the time t, a >= w, exactly.
void decay(double a, double w, double t, double& y, double& v) noexcept {
  const double b = std::sqrt(std::max(a * a - w * w, 0.0));
  const double slow = std::exp(-(a - b) * t), fast = std::exp(-(a + b) * t);
  const double even = 0.5 * (slow + fast), odd = b * t > 1e-6 ? 0.5 * (slow - fast) / b : t * even;  // cosh, sinh / b
  const double before = y;
  y = even * y + odd * (v + a * y);
  v = even * v - odd * (w * w * before + a * v);
}

/// In a hold, K_d of the rigid joints, and of the elastic ones what damps their motors.
Eigen::MatrixXd hold_damping(const Model& model, const ElasticSlotineLi::Gains& gains) {
  Eigen::MatrixXd K_d = gains.K_d;
  for (int k = 0; k < model.elastic_count(); ++k) {
    const int j = model.elastic_joints()[static_cast<std::size_t>(k)];
    K_d.row(j).setZero();
    K_d.col(j).setZero();
    K_d(j, j) = gains.K_x(k, k);
  }
  return K_d;
}

}  // namespace

ElasticSlotineLi::ElasticSlotineLi(AdaptiveModel adaptive_model, Gains gains)
    : ElasticController(std::move(adaptive_model), hold_damping(*adaptive_model.nominal(), gains)), gains_(std::move(gains)) {
  if (elastic().K_order != 1 || elastic().D_order > 1)
    throw std::invalid_argument("robot must have linear springs and dampers for this law: one coefficient K and at most one D");
  if (!(gains_.bandwidth > 0.0) || !std::isfinite(gains_.bandwidth) || !(gains_.stiffness_rate >= 0.0) ||
      !std::isfinite(gains_.stiffness_rate) || !(gains_.Lambda.minCoeff() > 0.0))
    throw std::invalid_argument("Lambda and bandwidth must be positive, and the rate of the stiffness not negative");
  for (int k = 0; k < e(); ++k)
    if (!(stiffness(k) > 0.0) || !(damping(k) >= 0.0))
      throw std::invalid_argument("robot must have springs with positive K, and D that is not negative");
  for (Eigen::VectorXd* v : {&e_, &e_dot_, &dq_r_, &ddq_r_, &s_}) v->setZero(n());
  for (Eigen::VectorXd* v : {&u_, &h_, &dh_, &ddh_, &lag_, &e_x_, &s_x_, &x_f_, &dx_f_, &c_rate_, &k_rate_, &feedback_})
    v->setZero(e());
  c_ = k_ = Eigen::VectorXd::Ones(e());
  std::vector<std::string> motors;
  for (const int j : joints()) motors.push_back(joint_names()[static_cast<std::size_t>(j)]);
  publish("error", e_.data(), joint_names());
  publish("s", s_.data(), joint_names());
  publish("x_f", x_f_.data(), motors);
  publish("dx_f", dx_f_.data(), motors);
  publish("lag", lag_.data(), motors);
  publish("compliance", c_.data(), motors);
  publish("stiffness", k_.data(), motors);
  publish("pace", pace_.data(), {"pace"});
}

void ElasticSlotineLi::ignore_tracking() noexcept {
  ElasticController::ignore_tracking();
  c_rate_.setZero();
  k_rate_.setZero();
}

void ElasticSlotineLi::reset() noexcept {
  ElasticController::reset();
  clock_.reset();
  started_ = false;
  c_.setOnes();
  k_.setOnes();
  freeze();
}

void ElasticSlotineLi::archive(StateArchive& state) {
  ElasticController::archive(state);
  state(clock_, started_, u_, h_, dh_, c_, k_, c_rate_, k_rate_);
}

void ElasticSlotineLi::freeze() noexcept {
  ElasticController::freeze();
  c_rate_.setZero();
  k_rate_.setZero();
  started_ = false;  // the filter starts where the law does
}

/// Deflection h of motor k and its rate after the time dt, in which u does not change.
void ElasticSlotineLi::advance_filter(int k, double dt, double& h, double& dh) const noexcept {
  const double w = gains_.bandwidth, compliance = c_[k] / stiffness(k), rest = compliance * u_[k];
  double y = h - rest;
  decay(w + 0.5 * w * w * compliance * damping(k), w, dt, y, dh);
  h = rest + y;
}

void ElasticSlotineLi::integrate(double dt) noexcept {
  for (int k = 0; k < e(); ++k) {
    advance_filter(k, dt, h_[k], dh_[k]);
    c_[k] = std::clamp(c_[k] + dt * gains_.stiffness_rate * c_rate_[k], kLeastRatio, kLargestRatio);
    k_[k] = std::clamp(k_[k] + dt * gains_.stiffness_rate * k_rate_[k], kLeastRatio, kLargestRatio);
  }
}

/// The filter's input u of motor k; h starts with it. ddh is the mean over a period as long as the last one, over which
/// the torque will be constant.
void ElasticSlotineLi::command(int k, double u, double dt) noexcept {
  const double compliance = c_[k] / stiffness(k);
  u_[k] = u;
  if (!started_) h_[k] = compliance * u, dh_[k] = 0.0;
  lag_[k] = compliance * (u - damping(k) * dh_[k]) - h_[k];
  ddh_[k] = 0.0;
  if (!(dt > 0.0)) return;
  double h = h_[k], dh = dh_[k];
  advance_filter(k, dt, h, dh);
  ddh_[k] = (dh - dh_[k]) / dt;
}

Status ElasticSlotineLi::law(double t, const double* q_, const double* dq_, const JointReference& desired,
                             double* tau) noexcept {
  const Eigen::Map<const Eigen::VectorXd> q(q_, n()), dq(dq_, n());
  e_ = desired.q - q;
  e_dot_ = desired.dq - dq;
  if (!adaptive_model_.advance(t)) return Status::diverged;
  const double dt = clock_.advance(t);
  if (started_) integrate(dt);

  dq_r_ = desired.dq + gains_.Lambda.cwiseProduct(e_);
  ddq_r_ = desired.ddq + gains_.Lambda.cwiseProduct(e_dot_);
  s_ = dq_r_ - dq;
  adaptive_model_.torque(q_, dq_, dq_r_.data(), ddq_r_.data(), tau);
  add_product(gains_.K_d, s_.data(), tau);
  adaptive_model_.adapt(s_.data());
  pace_[0] = adaptive_model_.limit_rate(gains_.K_d, kFastest * gains_.bandwidth);

  for (int k = 0; k < e(); ++k) {
    const int j = joints()[static_cast<std::size_t>(k)];
    command(k, tau[j], started_ ? dt : 0.0);
    x_f_[k] = desired.q[j] + h_[k];
    dx_f_[k] = desired.dq[j] + dh_[k];
    e_x_[k] = x_f_[k] - x_[k];
    s_x_[k] = dx_f_[k] - dx_[k] + gains_.Lambda[j] * e_x_[k];
  }
  started_ = true;
  feedback_.setZero();
  add_product(gains_.K_x, s_x_.data(), feedback_.data());
  for (int k = 0; k < e(); ++k) {
    const int j = joints()[static_cast<std::size_t>(k)];
    const double spring = stiffness(k) * h_[k];
    c_rate_[k] = (u_[k] - damping(k) * dh_[k]) * s_[j];
    k_rate_[k] = spring * s_x_[k];
    tau[j] = elastic().Mm[k] * (desired.ddq[j] + ddh_[k] + gains_.Lambda[j] * (dx_f_[k] - dx_[k])) +
             motor_damping(elastic(), k, dx_[k]) + k_[k] * spring + damping(k) * dh_[k] + feedback_[k];
  }
  return Status::ok;
}

}  // namespace thunder
