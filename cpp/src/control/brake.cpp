#include "thunder/control/brake.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::VectorXd;

constexpr double kFastestBraking = 150.0;      // [1/s]
constexpr double kOfPeriod = 0.4;       // rate times period
constexpr double kSpringRate = 900.0;   // stiffness over inertia [1/s^2], (30 rad/s)^2, at the fastest rate
constexpr double kSpringOfRate = 0.25;  // the same over the squared rate: critical damping
constexpr double kElasticPart = 0.25;   // of the stable damping of an elastic joint whose motor is not measured
constexpr double kLeastRoom = 0.1;      // of a torque limit: a joint with less is clipped alone, for the others must brake
constexpr double kSlowestBraking = 1e-3;       // rate for which a stop is predicted where the torques cannot brake [1/s]

}  // namespace

double braking_rate(double period) noexcept { return std::min(kFastestBraking, kOfPeriod / period); }

double largest_part(const VectorXd& limits, const double* base, const double* change) noexcept {
  double part = 1.0;
  for (Eigen::Index i = 0; i < limits.size(); ++i) {
    const double left = change[i] > 0.0 ? limits[i] - base[i] : limits[i] + base[i];
    const double room = std::max(left, kLeastRoom * limits[i]), wanted = std::abs(change[i]);
    if (part * wanted > room) part = room / wanted;
  }
  return part;
}

Brake::Brake(std::shared_ptr<const Model> model, double rate, VectorXd torque_limits, VectorXd torque_rate)
    : dynamics_(model),
      elastic_damping_(model),
      rate_(rate),
      spring_rate_(std::min(kSpringRate, kSpringOfRate * rate * rate)),
      torque_limits_(std::move(torque_limits)),
      torque_rate_(std::move(torque_rate)),
      base_(VectorXd::Zero(n())),
      change_(base_),
      momentum_(base_),
      pull_(base_),
      v_(base_),
      drift_(base_),
      friction_(base_),
      zero_(base_) {
  if (!(rate_ > 0.0)) throw std::invalid_argument("rate must be positive, got " + std::to_string(rate_));
  for (const VectorXd* limits : {&torque_limits_, &torque_rate_})
    if (limits->size() != n() || !(limits->array() > 0.0).all())
      throw std::invalid_argument("torque_limits and torque_rate must have " + std::to_string(n()) + " positive entries");
}

double Brake::torque(const double* q, const double* dq, const Feedback& feedback, double* tau) noexcept {
  times_inertia(q, feedback.dy ? feedback.dy : dq, momentum_);
  if (dynamics_.model().elastic_count() == 0) {
    dynamics_.slotine_li_torque(q, dq, dq, zero_.data(), base_.data());  // C dq + G + friction
    dynamics_.friction_torque(dq, friction_.data());                     // helps to brake: it stays
    base_ -= friction_;
  } else {
    dynamics_.gravity_vector(q, base_.data());
  }
  if (feedback.load) base_ += Map<const VectorXd>(feedback.load, n());
  double rate = allowed_rate();
  if (feedback.away) {
    // the spring, which falls with the squared rate, changes by its torque times the rate
    times_inertia(q, feedback.away, pull_);
    for (int i = 0; i < n(); ++i) rate = std::min(rate, std::cbrt(torque_rate_[i] / (kSpringOfRate * std::abs(pull_[i]))));
  }
  change_ = -rate * momentum_;
  if (feedback.away) change_ += std::min(spring_rate_, kSpringOfRate * rate * rate) * pull_;
  const double part = largest_part(torque_limits_, base_.data(), change_.data());
  Map<VectorXd>(tau, n()) = (base_ + part * change_).cwiseMin(torque_limits_).cwiseMax(-torque_limits_);
  return part * rate;
}

/// rho^2 |p| <= R for p = M dq: falling at R, the torque rho p is zero when half the momentum is left.
double Brake::allowed_rate() const noexcept {
  double squared = rate_ * rate_;
  for (int i = 0; i < n(); ++i)
    if (const double p = std::abs(momentum_[i]); squared * p > torque_rate_[i]) squared = torque_rate_[i] / p;
  return std::sqrt(squared);
}

void Brake::rest(const double* q, const double* load, double* tau) noexcept {
  Map<VectorXd> torque(tau, n());
  dynamics_.gravity_vector(q, tau);
  if (load) torque += Map<const VectorXd>(load, n());
  torque = torque.cwiseMin(torque_limits_).cwiseMax(-torque_limits_);
}

void Brake::times_inertia(const double* q, const double* v, VectorXd& product) noexcept {
  const Model& model = dynamics_.model();
  v_ = Map<const VectorXd>(v, n());
  for (const int j : model.elastic_joints()) v_[j] = 0.0;
  dynamics_.momentum_and_drift(q, v_.data(), product.data(), drift_.data());
  for (int k = 0; k < model.elastic_count(); ++k) {
    const int j = model.elastic_joints()[static_cast<std::size_t>(k)];
    product[j] = model.view().elastic.Mm[k] * v[j];
  }
}

void Brake::damping_parts(const double* q, double* parts) noexcept {
  const Model& model = dynamics_.model();
  elastic_damping_.at(q, parts);
  for (int k = 0; k < model.elastic_count(); ++k) {
    double& part = parts[model.elastic_joints()[static_cast<std::size_t>(k)]];
    part = std::min(1.0, kElasticPart * part / (rate_ * model.view().elastic.Mm[k]));
  }
}

BrakingPath::BrakingPath(std::shared_ptr<const Model> model, double rate, const VectorXd& torque_limits,
                         VectorXd torque_rate, double reaction)
    : brake_(model, rate, torque_limits, torque_rate),
      dynamics_(std::move(model)),
      reaction_(reaction),
      torque_rate_(std::move(torque_rate)),
      q_(VectorXd::Zero(brake_.n())),
      dq_(q_),
      ahead_(q_),
      slower_(q_),
      tau_(q_),
      target_(q_),
      mean_(q_),
      ddq_(q_),
      friction_(q_),
      present_(q_),
      ramp_(Eigen::MatrixXd::Zero(brake_.n(), kRamp)) {}

void BrakingPath::predict(const double* q, const double* dq, const double* applied) noexcept {
  q_ = Map<const VectorXd>(q, brake_.n());
  dq_ = Map<const VectorXd>(dq, brake_.n());
  before_ = 0;
  if (applied) {
    dynamics_.friction_torque(dq, friction_.data());
    tau_ = mean_ = Map<const VectorXd>(applied, brake_.n()) - friction_;
    move(reaction_);
    change_torque();
  } else {
    q_ += reaction_ * dq_;
  }
  // with q = q_ + sigma dq_ and dq = s dq_, ds/dsigma = -rho
  sigma_[0] = 0.0;
  for (int k = 0; k < kPoints; ++k) {
    ahead_ = q_ + sigma_[k] * dq_;
    slower_ = (kPoints - k) / static_cast<double>(kPoints) * dq_;
    const double rho = brake_.torque(ahead_.data(), slower_.data(), tau_.data());
    sigma_[k + 1] = sigma_[k] + 1.0 / (kPoints * std::max(rho, kSlowestBraking));
  }
}

/// The torque approaches that of the brake, which is of the present state: all joints by the same part of the difference.
/// The part that makes up for friction at first must go, too, which takes its time, also where another joint is the slowest.
void BrakingPath::change_torque() noexcept {
  for (int left = kRamp; left > 0; --left) {
    brake_.torque(q_.data(), dq_.data(), target_.data());
    double time = 0.0;
    for (int i = 0; i < brake_.n(); ++i) {
      const double applied = tau_[i] + friction_[i] * left / kRamp;
      time = std::max(time, std::abs(target_[i] - applied) / torque_rate_[i]);
    }
    if (!(time > 0.0)) return;
    mean_ = tau_ + 0.5 / left * (target_ - tau_);
    tau_ += (target_ - tau_) / left;
    move(time / left);
    ramp_.col(before_++) = q_;
  }
}

/// Without friction, which is stiff for such steps, and helps: at first the torque makes up for it, then it is left out.
void BrakingPath::move(double time) noexcept {
  dynamics_.friction_torque(dq_.data(), present_.data());
  mean_ += present_;
  dynamics_.forward_dynamics(q_.data(), dq_.data(), mean_.data(), ddq_.data());
  q_ += time * dq_ + 0.5 * time * time * ddq_;
  dq_ += time * ddq_;
}

void BrakingPath::point(int k, double* q) const noexcept {
  Map<VectorXd> position(q, q_.size());
  if (k < before_)
    position = ramp_.col(k);
  else
    position = q_ + sigma_[k - before_] * dq_;
}

}  // namespace thunder
