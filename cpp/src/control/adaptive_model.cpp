#include "thunder/control/adaptive_model.hpp"

#include <algorithm>
#include <stdexcept>

#include "thunder/dynamics/gravity.hpp"
#include "thunder/dynamics/regressor.hpp"

namespace thunder {

AdaptiveModel::AdaptiveModel(std::shared_ptr<const Model> nominal, ParameterSubset unknown,
                             std::unique_ptr<AdaptationLaw> law)
    : nominal_(std::move(nominal)),
      unknown_(std::move(unknown)),
      law_(std::move(law)),
      start_(nominal_->parameters()),
      estimate_(start_),
      estimate_unknown_(unknown_.size()),
      gradient_(Eigen::VectorXd::Zero(unknown_.size())),
      rest_(Eigen::VectorXd::Zero(nominal_->n())),
      Y_(nominal_->n(), nominal_->parameter_count()) {
  if (unknown_.full_size() != nominal_->parameter_count())
    throw std::invalid_argument("unknown must have one entry for each of the " +
                                std::to_string(nominal_->parameter_count()) + " parameters, got " +
                                std::to_string(unknown_.full_size()));
  reset();
}

void AdaptiveModel::start_from(const double* parameters) noexcept {
  start_ = Eigen::Map<const Eigen::VectorXd>(parameters, start_.size());
  reset();
}

void AdaptiveModel::reset() noexcept {
  estimate_ = start_;
  for (int k = 0; k < unknown_.size(); ++k) estimate_unknown_[k] = start_[unknown_.indices()[k]];
  freeze();
  last_time_ = std::numeric_limits<double>::quiet_NaN();
  diverged_ = false;
  if (law_) law_->reset();
}

bool AdaptiveModel::advance(double t) noexcept {
  const double dt = std::min(t - last_time_, kLongestGap);
  last_time_ = t;
  if (!law_ || diverged_ || !(dt > 0.0)) return !diverged_;
  law_->integrate(gradient_.data(), dt, estimate_unknown_.data());
  for (int k = 0; k < unknown_.size(); ++k) estimate_[unknown_.indices()[k]] = estimate_unknown_[k];
  diverged_ = !(estimate_unknown_.lpNorm<Eigen::Infinity>() < kBound);
  return !diverged_;
}

void AdaptiveModel::torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                           double* tau) noexcept {
  slotine_li_regressor(nominal_->view(), q, dq, dq_r, ddq_r, Y_.data());
  Eigen::Map<Eigen::VectorXd>(tau, Y_.rows()).noalias() = Y_ * estimate_;
}

void AdaptiveModel::adapt(const double* s) noexcept {
  if (!law_) return;
  if (unknown_.size() == unknown_.full_size()) {
    gradient_.noalias() = Y_.transpose() * Eigen::Map<const Eigen::VectorXd>(s, Y_.rows());
    return;
  }
  for (int k = 0; k < unknown_.size(); ++k)
    gradient_[k] = Y_.col(unknown_.indices()[k]).dot(Eigen::Map<const Eigen::VectorXd>(s, Y_.rows()));
}

void AdaptiveModel::gravity(const double* q, double* G) noexcept {
  if (diverged_)
    gravity_vector(nominal_->view(), q, G);
  else
    torque(q, rest_.data(), rest_.data(), rest_.data(), G);
}

}  // namespace thunder
