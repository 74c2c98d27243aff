#include "thunder/control/length_estimate.hpp"

#include <algorithm>
#include <stdexcept>

#include "thunder/control/adaptive_model.hpp"
#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::VectorXd;

LengthEstimate::LengthEstimate(const LengthModel& model, LengthGains gains, std::unique_ptr<AdaptationLaw> law)
    : gains_(std::move(gains)), law_(std::move(law)) {
  const int unknown = law_ ? law_->size() : 0;
  if (gains_.Gamma_inverse.rows() != model.lengths() || unknown != static_cast<int>(model.unknown().size()))
    throw std::invalid_argument("the gains must be those of the unknown lengths and parameters");
  start_products_ = RowMajor::Zero(model.monomials(), 1 + unknown);
  gradient_ = start_products_;
  tracking_ = prediction_ = VectorXd::Zero(model.lengths());
  start_from(model, model.data().nominal.data());
}

void LengthEstimate::start_from(const LengthModel& model, const double* lengths) noexcept {
  start_ = Eigen::Map<const VectorXd>(lengths, model.lengths());
  model.products(lengths, model.arm()->parameters().data(), start_products_);
  reset();
}

void LengthEstimate::reset() noexcept {
  lengths_ = start_;
  products_ = start_products_;
  clock_.reset();
  freeze();
}

void LengthEstimate::archive(StateArchive& state) {
  state(start_, lengths_, tracking_, prediction_, start_products_, products_, gradient_, largest_rate_, clock_);
}

bool LengthEstimate::bounded() const noexcept {
  const auto within = [](const auto& values) { return (values.array().abs() <= AdaptiveModel::kBound).all(); };
  return within(lengths_) && within(products_);  // NaN is not
}

bool LengthEstimate::advance(double t) noexcept {
  const double dt = clock_.advance(t);
  // where Euler's rule would overshoot the measured position, the step is shortened
  lengths_ += dt * tracking_ + (dt / std::max(1.0, dt * largest_rate_)) * prediction_;
  for (Eigen::Index a = 0; a < products_.rows(); ++a) {
    products_(a, 0) += dt * gradient_(a, 0) / gains_.Gamma_torque;
    if (law_ && !law_->integrate(&gradient_(a, 1), dt, &products_(a, 1))) return false;
  }
  return bounded();
}

void LengthEstimate::rates(const LengthModel::Kinematics& kinematics, const Vector6d& restoring, const Eigen::Vector3d& p,
                           VectorXd& tracking, VectorXd& prediction) const noexcept {
  const Eigen::Vector3d offset = gains_.gamma * (p - kinematics.p);
  tracking.setZero();
  prediction.setZero();
  for (Eigen::Index j = 0; j < tracking.size(); ++j) {
    tracking -= kinematics.W.col(j).dot(restoring) * gains_.Gamma_inverse.col(j);
    prediction += kinematics.P.col(j).dot(offset) * gains_.Gamma_inverse.col(j);
  }
}

void LengthEstimate::adapt(const LengthModel::Kinematics& kinematics, const VectorXd& tracking, const VectorXd& prediction,
                           const RowMajor& gradient) noexcept {
  tracking_ = tracking;
  prediction_ = prediction;
  gradient_ = gradient;
  gradient_(0, 0) = 0.0;  // the factor of the known parameters at the nominal lengths is 1
  largest_rate_ = 0.0;
  for (Eigen::Index i = 0; i < tracking.size(); ++i)
    for (Eigen::Index j = 0; j < tracking.size(); ++j)
      largest_rate_ += gains_.gamma * gains_.Gamma_inverse(i, j) * kinematics.P.col(i).dot(kinematics.P.col(j));
}

void LengthEstimate::freeze() noexcept {
  prediction_.setZero();
  largest_rate_ = 0.0;
  ignore_tracking();
}

void LengthEstimate::ignore_tracking() noexcept {
  tracking_.setZero();
  gradient_.setZero();
}

}  // namespace thunder
