#include "thunder/simulation/plant.hpp"

#include <algorithm>
#include <stdexcept>

namespace thunder {

LoadedModel::LoadedModel(std::shared_ptr<const Model> model, std::vector<Payload> payloads,
                         std::vector<ExternalAction> actions)
    : model_(std::move(model)),
      memory_(workspace_bytes(model_->n(), sizeof(double))),
      external_(model_->n(), std::move(actions)) {
  std::stable_sort(payloads.begin(), payloads.end(),
                   [](const Payload& a, const Payload& b) { return a.time < b.time; });
  ModelData data = model_->data();
  for (const Payload& payload : payloads) {
    if (payload.link < 1 || payload.link > model_->n())
      throw std::invalid_argument("a payload's link must be 1 to " + std::to_string(model_->n()) + ", got " +
                                  std::to_string(payload.link));
    data.inertial.row(payload.link - 1) += payload.parameters.transpose();
    phases_.push_back({payload.time, std::make_shared<const Model>(data)});
  }
}

void LoadedModel::advance(double t) {
  constexpr double kRounding = 1e-9;  // of times that are multiples of a step
  for (; phase_ < phases_.size() && phases_[phase_].start <= t + kRounding; ++phase_) model_ = phases_[phase_].model;
  external_.advance(t);
}

void ArmPlant::inertia(const double* q, const double* dq, double* M, double* M_dot) {
  if (M_dot == nullptr) return kernels().mass_matrix(model_->view(), model_.work(), q, M);
  const int joints = n();
  kernels().mass_coriolis(model_->view(), model_.work(), q, dq, M, M_dot);
  for (int i = 0; i < joints; ++i)  // M_dot = C + C'
    for (int j = 0; j <= i; ++j)
      M_dot[i * joints + j] = M_dot[j * joints + i] = M_dot[i * joints + j] + M_dot[j * joints + i];
}

bool ArmPlant::external_torque(const double* q, double* tau) noexcept {
  const double* external = model_.external(q);
  if (external != nullptr) std::copy_n(external, n(), tau);
  return external != nullptr;
}

bool ArmPlant::has_friction() const noexcept {
  const Chain chain = model_->view();
  const auto any = [](const double* values, int count) {
    return std::any_of(values, values + count, [](double value) { return value != 0.0; });
  };
  return joint_friction_ != nullptr || any(chain.friction, chain.n * chain.friction_count) || any(chain.elastic.Dm, motors() * chain.elastic.Dm_order);
}

/// The chain with the motors that move, which is none where a rigid plant has an elastic model.
Chain ArmPlant::moving() const noexcept {
  Chain chain = model_->view();
  chain.elastic.count = motors();
  return chain;
}

void ArmPlant::friction(const double* w, double* torque, double* slope) const noexcept {
  kernels().friction_and_slope(moving(), w, torque, slope);
  for (int i = 0; joint_friction_ != nullptr && i < n(); ++i) {
    torque[i] += joint_friction_->torque(i, w[i]);
    slope[i] += joint_friction_->slope(i, w[i]);
  }
}

Spring ArmPlant::spring(int motor, double deflection, double rate) const noexcept {
  const auto& elastic = model_->view().elastic;
  Spring spring;
  double power = 1.0;
  for (int k = 0; k < elastic.K_order; ++k, power *= deflection * deflection) {  // odd powers
    const double K = elastic.K[motor * elastic.K_order + k];
    spring.torque += K * power * deflection;
    spring.stiffness += (2 * k + 1) * K * power;
  }
  power = 1.0;
  for (int k = 0; k < elastic.D_order; ++k, power *= std::abs(rate)) {
    const double D = elastic.D[motor * elastic.D_order + k];
    spring.torque += D * power * rate;
    spring.damping += (k + 1) * D * power;
  }
  return spring;
}

const double* ArmPlant::load(const double* q, const double* dq) noexcept {
  const double* external = model_.external(q);
  if (joint_friction_ == nullptr) return external;
  for (int i = 0; i < n(); ++i) load_[i] = (external != nullptr ? external[i] : 0.0) - joint_friction_->torque(i, dq[i]);
  return load_.data();
}

void ArmPlant::friction_slope(const double* slow, const double* fast, double* slope) const noexcept {
  kernels().friction_slope(moving(), slow, fast, slope);
  for (int i = 0; joint_friction_ != nullptr && i < n(); ++i) slope[i] += joint_friction_->largest_slope(i, std::abs(slow[i]));
}

void ArmPlant::velocity_inertia(const double* x, Eigen::MatrixXd& M) {
  if (motors() == 0) return inertia(x, nullptr, M.data(), nullptr);
  inertia(x, nullptr, joint_inertia_.data(), nullptr);
  M.setZero();
  M.topLeftCorner(n(), n()) = joint_inertia_;
  for (int k = 0; k < motors(); ++k) M(n() + k, n() + k) = model_->view().elastic.Mm[k];
}

void RigidPlant::derivative(double, const double* x, const double* tau, double* x_dot) {
  const int joints = n();
  if (const double* extra = load(x, x + joints)) {
    for (int i = 0; i < joints; ++i) torque_[i] = tau[i] + extra[i];
    tau = torque_.data();
  }
  std::copy_n(x + joints, joints, x_dot);
  kernels().forward_dynamics(model_->view(), model_.work(), x, x + joints, tau, x_dot + joints);
}

ElasticPlant::ElasticPlant(std::shared_ptr<const Model> model, std::vector<Payload> payloads,
                           std::vector<ExternalAction> actions)
    : ArmPlant(model, std::move(payloads), std::move(actions), model->elastic_joints()), acceleration_(n() + motors()) {}

void ElasticPlant::derivative(double, const double* state, const double* tau, double* state_dot) {
  const int joints = n(), motor_count = motors();
  const double *q = state, *dq = q + joints, *x = dq + joints, *dx = x + motor_count;
  double *q_dot = state_dot, *dq_dot = q_dot + joints, *x_dot = dq_dot + joints, *dx_dot = x_dot + motor_count;
  kernels().loaded_elastic_dynamics(model_->view(), model_.work(), q, dq, x, dx, tau, acceleration_.data(),
                                    load(q, dq));
  std::copy_n(dq, joints, q_dot);
  std::copy_n(acceleration_.data(), joints, dq_dot);
  std::copy_n(dx, motor_count, x_dot);
  std::copy_n(acceleration_.data() + joints, motor_count, dx_dot);
}

}  // namespace thunder
