#include "thunder/realtime/stopping_distance.hpp"

#include <algorithm>
#include <cmath>

namespace thunder::realtime {

namespace {

/// Longest integration step, longest stop [s], and speed at which an arm has stopped, in parts of the one that it had.
constexpr double kBrakingStep = 2e-3, kBrakingTime = 10.0, kBrakedSpeed = 1e-3;

SafetyLimits trusted(SafetyLimits limits, double part) {
  limits.torque *= part;
  limits.torque_rate = limits.torque_rate.cwiseMin(limits.torque_step / limits.period);
  return limits;
}

}  // namespace

StoppingDistance::StoppingDistance(std::shared_ptr<const Model> model, SafetyLimits limits, double part, int reaction)
    : plant_(model),
      integrator_(plant_),
      safety_(model, trusted(std::move(limits), part)),
      brake_(model, braking_rate(safety_.limits().period), safety_.limits().torque, safety_.limits().torque_rate),
      kinematics_(std::move(model)),
      reaction_(reaction),
      x_(2 * n()),
      tau_(n()) {}

Eigen::Vector3d StoppingDistance::end_effector() noexcept {
  const Frame<double> frame = kinematics_.model().frame(n() + 1);
  Pose<double> pose;
  kinematics_.frame_poses(x_.data(), &frame, 1, &pose);
  return {pose.p.x, pose.p.y, pose.p.z};
}

void StoppingDistance::measure(const double* q, const double* dq, const double* applied, double* joints, double& tip) noexcept {
  const double period = safety_.limits().period;
  const int parts = std::max(1, static_cast<int>(std::ceil(period / kBrakingStep)));
  const Eigen::Map<const Eigen::VectorXd> start(q, n()), velocity(dq, n()), torque(applied, n());
  Eigen::Map<Eigen::VectorXd> farthest(joints, n());
  x_ << start, velocity;
  tau_ = torque;
  const Eigen::Vector3d begin = end_effector();
  const double slow = kBrakedSpeed * velocity.cwiseAbs().maxCoeff();
  safety_.reset();
  safety_.begin(tau_);
  brake_.leave();
  for (int k = 1; k * period < kBrakingTime && (k <= reaction_ || x_.tail(n()).cwiseAbs().maxCoeff() > slow); ++k) {
    const double t = k * period;
    if (k > reaction_) {
      brake_.step(t, x_.data(), x_.data() + n(), {}, tau_.data());
      tau_ = safety_.limit(t, tau_.data(), nullptr, false, true);
    } else {
      safety_.limit(t, tau_.data(), nullptr);
    }
    for (int part = 0; part < parts; ++part) integrator_.step(plant_, t, period / parts, tau_.data(), x_.data());
    farthest = farthest.cwiseMax((x_.head(n()) - start).cwiseAbs());
    tip = std::max(tip, (end_effector() - begin).norm());
  }
}

}  // namespace thunder::realtime
