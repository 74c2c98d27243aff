#include "thunder/control/adaptive_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

AdaptiveModel::AdaptiveModel(std::shared_ptr<const Model> model, ParameterSubset unknown,
                             std::unique_ptr<AdaptationLaw> law)
    : nominal_(std::move(model)),
      chain_(*nominal()),
      unknown_(std::move(unknown)),
      law_(std::move(law)),
      start_(nominal()->parameters()),
      estimate_(start_),
      estimate_unknown_(unknown_.size()),
      s_(VectorXd::Zero(nominal()->n())),
      tracking_(VectorXd::Zero(unknown_.size())),
      prediction_(tracking_),
      gradient_(tracking_),
      all_(VectorXd::Zero(start_.size())),
      squares_(tracking_),
      moving_(VectorXd::Constant(unknown_.size(), law_ ? 1.0 : 0.0)),
      Y_(nominal()->n(), nominal()->parameter_count()) {
  if (unknown_.full_size() != nominal()->parameter_count())
    throw std::invalid_argument("unknown must have one entry for each of the " +
                                std::to_string(nominal()->parameter_count()) + " parameters, got " +
                                std::to_string(unknown_.full_size()));
  if (law_ && law_->size() != unknown_.size())
    throw std::invalid_argument("the adaptation law moves " + std::to_string(law_->size()) + " parameters, but " +
                                std::to_string(unknown_.size()) + " are unknown");
  if (law_ && law_->dead_zone().size() != 0 && law_->dead_zone().size() != nominal()->n())
    throw std::invalid_argument("dead_zone must have " + std::to_string(nominal()->n()) + " entries, got " +
                                std::to_string(law_->dead_zone().size()));
  reset();
}

void AdaptiveModel::start_from(const double* parameters) noexcept {
  start_ = Map<const VectorXd>(parameters, start_.size());
  reset();
}

void AdaptiveModel::reset() noexcept {
  estimate_ = start_;
  for (int k = 0; k < unknown_.size(); ++k) estimate_unknown_[k] = start_[unknown_.indices()[k]];
  freeze();
  clock_.reset();
  diverged_ = false;
}

VectorXd AdaptiveModel::check_adapting(const std::vector<bool>& moving) const {
  if (static_cast<int>(moving.size()) != unknown_.full_size())
    throw std::invalid_argument("adapting must have one entry for each of the " + std::to_string(unknown_.full_size()) +
                                " parameters, got " + std::to_string(moving.size()));
  std::vector<bool> among(unknown_.size()), known = moving;
  for (int k = 0; k < unknown_.size(); ++k) {
    among[k] = moving[unknown_.indices()[k]];
    known[unknown_.indices()[k]] = false;
  }
  const auto first = std::find(known.begin(), known.end(), true);
  if (first != known.end())
    throw std::invalid_argument("adapting must be False for " + nominal()->parameter_names()[first - known.begin()] +
                                ", which is not an unknown parameter of the controller");
  const bool any = std::find(among.begin(), among.end(), true) != among.end();
  if (any && !law_) throw std::invalid_argument("adapting requires a controller with adaptation; this one has none");
  if (law_ && !law_->separable(among))
    throw std::invalid_argument("adapting must select all parameters of a link or none with natural adaptation");
  VectorXd mask(unknown_.size());
  for (int k = 0; k < unknown_.size(); ++k) mask[k] = among[k] ? 1.0 : 0.0;
  return mask;
}

std::vector<bool> AdaptiveModel::adapting() const {
  std::vector<bool> moving(unknown_.full_size(), false);
  for (int k = 0; k < unknown_.size(); ++k) moving[unknown_.indices()[k]] = moving_[k] != 0.0;
  return moving;
}

void AdaptiveModel::archive(StateArchive& state) {
  state(start_, estimate_, estimate_unknown_, tracking_, prediction_, moving_, prediction_rate_, clock_, diverged_);
}

bool AdaptiveModel::advance(double t) noexcept {
  const double dt = clock_.advance(t);
  if (!law_ || diverged_ || dt == 0.0) return !diverged_;
  excess_ = std::max(1.0, dt * prediction_rate_);
  gradient_ = moving_.cwiseProduct(tracking_ + prediction_ / excess_);
  const bool moved = law_->integrate(gradient_.data(), dt, estimate_unknown_.data());
  for (int k = 0; k < unknown_.size(); ++k) {
    double& kept = estimate_[unknown_.indices()[k]];
    if (moving_[k] != 0.0)
      kept = estimate_unknown_[k];
    else
      estimate_unknown_[k] = kept;
  }
  diverged_ = !moved || !(estimate_unknown_.lpNorm<Eigen::Infinity>() < kBound);
  return !diverged_;
}

void AdaptiveModel::torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                           double* tau) noexcept {
  if (!law_) {
    kernels().slotine_li_torque(chain_.with(*nominal(), estimate_.data()), nominal_.work(), q, dq, dq_r, ddq_r, tau);
    return;
  }
  nominal_.slotine_li_regressor(q, dq, dq_r, ddq_r, Y_.data());
  Map<VectorXd>(tau, Y_.rows()).noalias() = Y_ * (diverged_ ? start_ : estimate_);
}

void AdaptiveModel::apply_dead_zone(const double* s) noexcept {
  s_ = Map<const VectorXd>(s, s_.size());
  if (law_->dead_zone().size() == 0) return;
  s_ -= s_.cwiseMin(law_->dead_zone()).cwiseMax(-law_->dead_zone());
}

void AdaptiveModel::adapt(const double* s) noexcept {
  if (!law_) return;
  apply_dead_zone(s);
  adapt_along(Y_, s_);
}

double AdaptiveModel::limit_rate(const Eigen::MatrixXd& D, double rate) noexcept {
  if (!law_) return 1.0;
  all_.setZero();
  for (Eigen::Index i = 0; i < Y_.rows(); ++i) all_ += Y_.row(i).transpose().cwiseAbs2() / D(i, i);
  for (int k = 0; k < unknown_.size(); ++k) squares_[k] = moving_[k] * all_[unknown_.indices()[k]];
  const double share = std::min(1.0, rate / law_->rate_bound(squares_.data(), estimate_unknown_.data()));
  tracking_ *= share;
  return share;
}

void AdaptiveModel::adapt_along(const RowMajor& W, const VectorXd& x) noexcept {
  if (law_) pull_back(W, x, tracking_);
}

void AdaptiveModel::predict(const RowMajor& W, const VectorXd& weighted, double weight) noexcept {
  if (!law_) return;
  pull_back(W, weighted, prediction_);
  all_.setZero();
  for (Eigen::Index i = 0; i < W.rows(); ++i) all_ += W.row(i).transpose().cwiseAbs2();
  for (int k = 0; k < unknown_.size(); ++k) squares_[k] = moving_[k] * all_[unknown_.indices()[k]];
  prediction_rate_ = weight * law_->rate_bound(squares_.data(), estimate_unknown_.data());
}

/// gradient = W_u' x
void AdaptiveModel::pull_back(const RowMajor& W, const VectorXd& x, VectorXd& gradient) noexcept {
  all_.noalias() = W.transpose() * x;
  for (int k = 0; k < unknown_.size(); ++k) gradient[k] = all_[unknown_.indices()[k]];
}

}  // namespace thunder
