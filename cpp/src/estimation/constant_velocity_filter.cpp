#include "thunder/estimation/constant_velocity_filter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thunder {

namespace {

using Process = ConstantVelocitySettings::Process;

constexpr double kSameTime = 1e-9;  // images closer in time are one image [s]

}  // namespace

void ConstantVelocityFilter::reset() noexcept {
  first_ = count_ = updates_ = rejected_ = repeats_ = 0;
  distance_ = std::numeric_limits<double>::quiet_NaN();
}

void ConstantVelocityFilter::archive(StateArchive& state) {
  constexpr double kMany = 2e9;
  state.bounded(count_, 0.0, kHistory);
  state.bounded(rejected_, 0.0, kMostRejected - 1.0);
  state.bounded(updates_, 0.0, kMany);
  state.bounded(repeats_, 0.0, kMany);
  if (state.reading()) first_ = 0;
  for (int k = 0; k < count_; ++k) state(entry(k).time, entry(k).z, entry(k).x, entry(k).P);
  for (int k = 0; k < rejected_; ++k) state(rejected_times_[k], rejected_positions_[k]);
  state(last_seen_, distance_);
}

void ConstantVelocityFilter::start(double t, const Eigen::Vector3d& z) noexcept {
  first_ = 0;
  count_ = updates_ = 1;
  rejected_ = 0;
  Entry& e = entry(0);
  e.time = t;
  e.z = z;
  e.x << z, Eigen::Vector3d::Zero();
  e.P.setZero();
  e.P.topLeftCorner<3, 3>() = settings_.R;
  const double sigma = settings_.velocity_deviation;
  e.P.bottomRightCorner<3, 3>().diagonal().setConstant(sigma * sigma);
}

void ConstantVelocityFilter::predict(double dt, State& x, Covariance& P) const noexcept {
  if (dt == 0.0) return;  // the paper's noise does not depend on time
  const double h = std::abs(dt), nu = settings_.intensity;
  // A P A' in blocks
  P.topLeftCorner<3, 3>() += dt * (P.topRightCorner<3, 3>() + P.bottomLeftCorner<3, 3>()) +
                             dt * dt * P.bottomRightCorner<3, 3>();
  P.topRightCorner<3, 3>() += dt * P.bottomRightCorner<3, 3>();
  P.bottomLeftCorner<3, 3>() = P.topRightCorner<3, 3>().transpose();
  if (settings_.process == Process::paper) {
    State D;
    D << x.tail<3>(), x.tail<3>();
    P.noalias() += nu * D * D.transpose();
  } else {
    const bool exact = settings_.process == Process::continuous;
    const double pp = nu * (exact ? h * h * h / 3.0 : 0.25 * h * h * h * h);
    const double pv = nu * (exact ? 0.5 * h * dt : 0.5 * h * h * dt), vv = nu * (exact ? h : h * h);
    for (int k = 0; k < 3; ++k) {
      P(k, k) += pp;
      P(k, k + 3) += pv;
      P(k + 3, k) += pv;
      P(k + 3, k + 3) += vv;
    }
  }
  x.head<3>() += dt * x.tail<3>();
}

bool ConstantVelocityFilter::correct(const Entry& before, double t, const Eigen::Vector3d& z, double gate,
                                     Entry& after) noexcept {
  State x = before.x;
  Covariance P = before.P;
  predict(t - before.time, x, P);
  const Eigen::Vector3d innovation = z - x.head<3>();
  const Eigen::Matrix3d S = settings_.R + P.topLeftCorner<3, 3>(), S_inverse = S.inverse();
  distance_ = innovation.dot(S_inverse * innovation);
  if (!(distance_ <= gate)) return false;
  const Eigen::Matrix<double, 6, 3> L = P.leftCols<3>() * S_inverse;
  Covariance J = Covariance::Identity();
  J.leftCols<3>() -= L;
  const Covariance JP = J.lazyProduct(P);
  const Eigen::Matrix<double, 6, 3> LR = L * settings_.R;
  x += L * innovation;
  if (!x.allFinite()) return false;  // overflow of the difference; without a gate, too
  after.time = t;
  after.z = z;
  after.x = x;
  after.P = JP.lazyProduct(J.transpose()) + LR.lazyProduct(L.transpose());
  after.P = (0.5 * (after.P + after.P.transpose())).eval();
  return true;
}

bool ConstantVelocityFilter::repeated(const Eigen::Vector3d& z) noexcept {
  repeats_ = count_ > 0 && z == last_seen_ ? repeats_ + 1 : 0;
  last_seen_ = z;
  return settings_.frozen_after > 0 && repeats_ >= settings_.frozen_after;
}

FilterUpdate ConstantVelocityFilter::update(double t, const Eigen::Vector3d& z) noexcept {
  if (!std::isfinite(t) || !z.allFinite()) return FilterUpdate::invalid;
  for (int k = 0; k < count_; ++k)
    if (std::abs(entry(k).time - t) < kSameTime) return FilterUpdate::duplicate;
  for (int k = 0; k < rejected_; ++k)  // repeats of one wrong image do not reinitialize
    if (std::abs(rejected_times_[k] - t) < kSameTime) return FilterUpdate::duplicate;
  if (repeated(z)) return FilterUpdate::frozen;
  if (count_ == 0) {
    start(t, z);
    return FilterUpdate::started;
  }
  int place = count_;
  while (place > 0 && entry(place - 1).time > t) --place;
  if (place == 0) return FilterUpdate::too_old;
  return insert(place, t, z);
}

FilterUpdate ConstantVelocityFilter::reject(double t, const Eigen::Vector3d& z) noexcept {
  const int most = std::min(settings_.reinitialize_after, kMostRejected), last = rejected_;
  rejected_times_[last] = t;
  rejected_positions_[last] = z;
  if (++rejected_ < most) return FilterUpdate::rejected;
  start(rejected_times_[0], rejected_positions_[0]);  // then all of them, for an estimate of velocity
  for (int k = 1; k < most; ++k) {
    Entry made;
    if (!(rejected_times_[k] > time()) ||
        !correct(entry(count_ - 1), rejected_times_[k], rejected_positions_[k], settings_.gate, made))
      continue;
    entry(count_++) = made;
    ++updates_;
  }
  return FilterUpdate::reinitialized;
}

FilterUpdate ConstantVelocityFilter::insert(int place, double t, const Eigen::Vector3d& z) noexcept {
  const bool newest = place == count_;
  Entry made;
  if (!correct(entry(place - 1), t, z, settings_.gate, made))
    return newest && settings_.reinitialize_after > 0 ? reject(t, z) : FilterUpdate::rejected;
  if (count_ == kHistory) {  // discard the oldest
    first_ = (first_ + 1) % kHistory;
    --count_;
    --place;
  }
  for (int k = count_; k > place; --k) entry(k) = entry(k - 1);
  entry(place) = made;
  ++count_;
  ++updates_;
  const double distance = distance_;
  for (int k = place + 1; k < count_; ++k) {  // accepted measurements stay accepted
    const Entry old = entry(k);
    correct(entry(k - 1), old.time, old.z, std::numeric_limits<double>::infinity(), entry(k));
  }
  distance_ = distance;
  if (newest) rejected_ = 0;
  return newest ? FilterUpdate::accepted : FilterUpdate::late;
}

ConstantVelocityFilter::State ConstantVelocityFilter::at(double t) const noexcept {
  const Entry& last = entry(count_ - 1);
  State x = last.x;
  x.head<3>() += (t - last.time) * x.tail<3>();
  return x;
}

void ConstantVelocityFilter::at(double t, State& x, Covariance& P) const noexcept {
  const Entry& last = entry(count_ - 1);
  x = last.x;
  P = last.P;
  predict(t - last.time, x, P);
}

}  // namespace thunder
