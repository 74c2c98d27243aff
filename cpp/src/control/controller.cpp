#include "thunder/control/controller.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

constexpr double kSlow = 0.05;  // of an arm that a hold need not brake [rad/s or m/s]

bool finite(const double* x, int n) noexcept { return Eigen::Map<const Eigen::VectorXd>(x, n).allFinite(); }

}  // namespace

Controller::Controller(std::shared_ptr<const Model> model, Eigen::MatrixXd K_d)
    : dynamics_(std::move(model)),
      K_d_(std::move(K_d)),
      last_q_(Eigen::VectorXd::Zero(n())),
      last_torque_(last_q_),
      hold_(n()),
      M_(RowMajor::Zero(n(), n())),
      zero_(last_q_),
      gravity_(last_q_),
      change_(last_q_) {
  const std::shared_ptr<const Model>& arm = dynamics_.shared_model();
  if (arm->elastic_count() > 0) elastic_damping_ = std::make_unique<ElasticDamping>(arm);
}

void Controller::reset() noexcept {
  status_ = Status::ok;
  seen_state_ = holding_ = false;
  last_q_.setZero();
  last_torque_.setZero();
  hold_.reset();
  steps_.reset();
  period_ = 0.0;
}

void Controller::archive(StateArchive& state) {
  state.bounded(status_, 0.0, static_cast<double>(Status::invalid_input));
  bool limited = torque_limits_.size() > 0;
  state(seen_state_, holding_, last_q_, last_torque_, hold_, steps_, period_, limited);
  Eigen::VectorXd limits = state.reading() ? Eigen::VectorXd(limited ? n() : 0) : torque_limits_;
  state(limits);
  if (state.reading()) set_torque_limits(limits);
  for (const Signal& signal : signals_) state.numbers(const_cast<double*>(signal.data), signal.size());  // members of this
}

void Controller::set_torque_limits(const Eigen::VectorXd& limits) {
  if (limits.size() != 0 && limits.size() != n())
    throw std::invalid_argument("torque_limits must have " + std::to_string(n()) + " entries, got " +
                                std::to_string(limits.size()));
  for (int j = 0; j < limits.size(); ++j)
    if (!(limits[j] > 0.0))
      throw std::invalid_argument("torque_limits must be positive, got " + std::to_string(limits[j]) + " for joint " +
                                  std::to_string(j + 1) + "; leave them out where nothing limits the torques");
  torque_limits_ = limits;
}

bool Controller::clip(double* tau) const noexcept {
  if (torque_limits_.size() == 0) return false;
  Eigen::Map<Eigen::VectorXd> torque(tau, n());
  const bool beyond = (torque.array().abs() > torque_limits_.array()).any();
  torque = torque.cwiseMin(torque_limits_).cwiseMax(-torque_limits_);
  return beyond;
}

void Controller::reference_torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                                  double* tau) noexcept {
  dynamics_.slotine_li_torque(q, dq, dq_r, ddq_r, tau);
}

void Controller::publish(std::string name, const double* data, std::vector<std::string> labels) {
  signals_.push_back({std::move(name), data, std::move(labels)});
}

bool Controller::read_state(double t, const double* q, const double* dq) noexcept {
  if (!finite(q, n())) return false;
  last_q_ = Eigen::Map<const Eigen::VectorXd>(q, n());
  seen_state_ = true;
  if (!std::isfinite(t)) return false;
  if (const double dt = steps_.advance(t); dt > 0.0) period_ = dt;
  return finite(dq, n());
}

void Controller::unmodeled_gravity(const double* q, double* tau) noexcept {
  reference_torque(q, zero_.data(), zero_.data(), zero_.data(), tau);
  dynamics_.gravity_vector(q, gravity_.data());
  Eigen::Map<Eigen::VectorXd> load(tau, n());
  load -= gravity_;
  if (!load.allFinite()) load.setZero();
}

void Controller::unmodeled_gravity(const double* q, Evaluator& known, double* tau) noexcept {
  unmodeled_gravity(q, tau);  // and gravity_ of the model
  known.gravity_vector(q, change_.data());
  for (int j = 0; j < n(); ++j) {
    const double added = change_[j] - gravity_[j];
    tau[j] -= std::clamp(tau[j], std::min(added, 0.0), std::max(added, 0.0));
  }
}

/// The law gave no torque.
void Controller::replace_law(Status status, bool measured, double t, const double* q, const double* dq, double* tau) noexcept {
  freeze();
  if (measured) {
    hold(status == Status::invalid_input, t, q, dq, tau);
    if (finite(tau, n())) return;
    hold_.reset();
  }
  compensate_gravity(dq, tau);
}

double Controller::hold_rate(double period, const double* q) noexcept {
  double rate = Hold::rate(period);
  if (elastic_damping_ == nullptr) return rate;
  dynamics_.mass_matrix(q, M_.data());
  elastic_damping_->at(q, change_.data());
  for (const int j : model()->elastic_joints()) rate = std::min(rate, Hold::kElasticShare * change_[j] / M_(j, j));
  return rate;
}

void Controller::hold(bool coasts, double t, const double* q, const double* dq, double* tau_) noexcept {
  // without a known period the rate is that of short ones, which a single step of 20 ms can take
  const bool too_fast = !hold_.knows_period() && period_ > 0.0 && Hold::rate(period_) < Hold::rate(0.0);
  if (!hold_.continues(t) || too_fast) {
    const double rate = hold_rate(period_, q);
    dynamics_.mass_matrix(q, M_.data());
    hold_.start(*model(), q, coasts ? dq : nullptr, M_, rate, period_ > 0.0);
  }
  hold_.advance(t, q, dq, last_torque_, torque_limits_);
  Eigen::Map<Eigen::VectorXd> tau(tau_, n());
  unmodeled_gravity(q, tau_);  // and gravity_ of the model
  // motion and feedback by the nominal model, because the inertia of an estimate need not be positive; friction helps
  dynamics_.slotine_li_torque(q, dq, hold_.dq_r(), hold_.ddq_r(), change_.data());
  change_ -= gravity_;
  tau += gravity_ + hold_.load();
  dynamics_.friction_torque(dq, gravity_.data());
  change_ -= gravity_;
  double part = largest_part(torque_limits_, tau_, change_.data());
  if (part < 1.0 && Eigen::Map<const Eigen::VectorXd>(dq, n()).cwiseAbs().maxCoeff() > kSlow) {
    // a part of spring and Coriolis torque need not dissipate: the arm is braked, and held where the limits suffice
    tau -= hold_.load();
    const double rate = hold_rate(period_, q);
    dynamics_.mass_matrix(q, M_.data());
    hold_.start(*model(), q, nullptr, M_, rate, period_ > 0.0);
    hold_.advance(t, q, dq, last_torque_, torque_limits_);
    dynamics_.momentum_and_drift(q, dq, change_.data(), gravity_.data());
    change_ *= -3.0 * rate;
    part = largest_part(torque_limits_, tau_, change_.data());
  }
  tau += part * change_;
}

void Controller::compensate_gravity(const double* dq, double* tau) noexcept {
  Eigen::Map<Eigen::VectorXd> torque(tau, n());
  torque.setZero();
  if (seen_state_) reference_torque(last_q_.data(), zero_.data(), zero_.data(), zero_.data(), tau);
  if (hold_.active()) torque += hold_.load();
  if (seen_state_ && finite(dq, n())) {
    const double rate = 3.0 * hold_rate(period_, last_q_.data());
    dynamics_.momentum_and_drift(last_q_.data(), dq, change_.data(), gravity_.data());
    change_ *= -rate;
    torque += largest_part(torque_limits_, tau, change_.data()) * change_;
  }
  if (!torque.allFinite()) torque.setZero();
}

Status Controller::finish(Status status, bool measured, double t, const double* q, const double* dq,
                          double* tau) noexcept {
  if (status == Status::ok && holding_ && !hold_.resting()) status = Status::singular;  // it overshoots q_h
  const auto solved = [&status] { return status == Status::ok || status == Status::saturated; };
  if (solved() && !finite(tau, n())) status = Status::diverged;
  if (solved())
    hold_.hand_over(t, last_torque_, tau);
  else
    replace_law(status, measured, t, q, dq, tau);
  holding_ = status == Status::singular || (holding_ && !solved());
  if (clip(tau)) {
    if (status == Status::ok) status = Status::saturated;
    ignore_tracking();
  }
  if (settling()) ignore_tracking();
  last_torque_ = Eigen::Map<const Eigen::VectorXd>(tau, n());
  return status_ = status;
}

}  // namespace thunder
