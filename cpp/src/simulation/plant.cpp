#include "thunder/simulation/plant.hpp"

#include <algorithm>
#include <stdexcept>

#include "thunder/dynamics/forward_dynamics.hpp"

namespace thunder {

RigidPlant::RigidPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads) : model_(std::move(model)) {
  std::stable_sort(payloads.begin(), payloads.end(),
                   [](const Payload& a, const Payload& b) { return a.time < b.time; });
  ModelData data = model_->data();
  for (const Payload& payload : payloads) {
    if (payload.link < 1 || payload.link > n())
      throw std::invalid_argument("a payload's link must be 1 to " + std::to_string(n()) + ", got " +
                                  std::to_string(payload.link));
    data.inertial.row(payload.link - 1) += payload.parameters.transpose();
    phases_.push_back({payload.time, std::make_shared<const Model>(data)});
  }
}

void RigidPlant::begin_step(double t) {
  constexpr double kRounding = 1e-9;  // of times that are multiples of a step
  for (; phase_ < phases_.size() && phases_[phase_].start <= t + kRounding; ++phase_) model_ = phases_[phase_].model;
}

void RigidPlant::derivative(double, const double* x, const double* tau, double* x_dot) {
  const int joints = n();
  std::copy_n(x + joints, joints, x_dot);
  forward_dynamics(model_->view(), x, x + joints, tau, x_dot + joints);
}

}  // namespace thunder
