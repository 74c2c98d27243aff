#include "thunder/control/controller.hpp"

#include <cmath>
#include <stdexcept>

#include "thunder/math/dense.hpp"

namespace thunder {

namespace {

bool finite(const double* x, int n) noexcept { return Eigen::Map<const Eigen::VectorXd>(x, n).allFinite(); }

}  // namespace

Controller::Controller(std::shared_ptr<const Model> model, Eigen::MatrixXd K_d)
    : dynamics_(std::move(model)),
      K_d_(std::move(K_d)),
      last_q_(Eigen::VectorXd::Zero(n())),
      last_torque_(last_q_),
      hold_(n()),
      M_(RowMajor::Zero(n(), n())),
      zero_(last_q_) {}

void Controller::reset() noexcept {
  status_ = Status::ok;
  seen_state_ = holding_ = false;
  last_q_.setZero();
  last_torque_.setZero();
  hold_.reset();
}

void Controller::archive(StateArchive& state) {
  state.bounded(status_, 0.0, static_cast<double>(Status::invalid_input));
  bool limited = torque_limits_.size() > 0;
  state(seen_state_, holding_, last_q_, last_torque_, hold_, limited);
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
  return std::isfinite(t) && finite(dq, n());
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

void Controller::hold(bool coasts, double t, const double* q, const double* dq, double* tau) noexcept {
  if (!hold_.continues(t)) {
    dynamics_.mass_matrix(q, M_.data());
    hold_.start(*model(), q, coasts ? dq : nullptr, K_d_, M_);
  }
  hold_.advance(t, q, dq, last_torque_, torque_limits_);
  reference_torque(q, dq, hold_.dq_r(), hold_.ddq_r(), tau);
  add_product(K_d_, hold_.s(), tau);
  Eigen::Map<Eigen::VectorXd>(tau, n()) += hold_.load();
}

void Controller::compensate_gravity(const double* dq, double* tau) noexcept {
  Eigen::Map<Eigen::VectorXd> torque(tau, n());
  torque.setZero();
  if (seen_state_) reference_torque(last_q_.data(), zero_.data(), zero_.data(), zero_.data(), tau);
  if (hold_.active()) torque += hold_.load();
  if (finite(dq, n())) add_product(K_d_, dq, tau, -1.0);
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
