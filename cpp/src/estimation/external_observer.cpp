#include "thunder/estimation/external_observer.hpp"

#include <cmath>
#include <utility>

#include "thunder/dynamics/elastic.hpp"

namespace thunder {

namespace {

using Vector = Eigen::Map<const Eigen::VectorXd>;

/// exp(A dt) of A = [0 1; -w^2 -2 zeta w].
Eigen::Matrix2d exponential(double w, double zeta, double dt) noexcept {
  const double sigma = zeta * w, delta = w * std::sqrt(std::abs(zeta * zeta - 1.0));
  double c, s;  // exp(-sigma dt) times cosh(delta dt) and sinh(delta dt) / delta, or cos and sin
  if (zeta > 1.0) {
    const double slow = std::exp(-w / (zeta + delta / w) * dt);  // sigma - delta without cancellation
    const double decay = -std::expm1(-2.0 * delta * dt);
    c = slow * (1.0 - 0.5 * decay);
    s = slow * (delta * dt > 0.0 ? decay / (2.0 * delta) : dt);
  } else {
    const double envelope = std::exp(-sigma * dt), angle = delta * dt;
    c = envelope * std::cos(angle);
    s = envelope * (angle > 0.0 ? std::sin(angle) / delta : dt);
  }
  Eigen::Matrix2d Phi;
  Phi << c + sigma * s, s, -w * w * s, c - sigma * s;
  return Phi;
}

}  // namespace

LowPass::LowPass(Eigen::VectorXd bandwidth, int order, double damping_ratio)
    : bandwidth_(std::move(bandwidth)),
      second_order_(order == 2),
      damping_ratio_(damping_ratio),
      value_(Eigen::VectorXd::Zero(bandwidth_.size())),
      rate_(value_),
      next_value_(value_),
      next_rate_(value_) {}

void LowPass::reset() noexcept {
  value_.setZero();
  rate_.setZero();
}

bool LowPass::step(double dt, const Eigen::VectorXd& input) noexcept {
  for (Eigen::Index i = 0; i < value_.size(); ++i) advance(dt, input[i], i);
  if (!next_value_.allFinite() || !next_rate_.allFinite()) return false;
  value_ = next_value_;  // keeps the addresses, which logs read
  rate_ = next_rate_;
  return true;
}

void LowPass::advance(double dt, double input, Eigen::Index i) noexcept {
  const double w = bandwidth_[i];
  if (!second_order_) {
    next_value_[i] = value_[i] - std::expm1(-w * dt) * (input - value_[i]);
    return;
  }
  const Eigen::Vector2d deviation(value_[i] - input, rate_[i]);
  const Eigen::Vector2d next = exponential(w, damping_ratio_, dt) * deviation;
  next_value_[i] = input + next[0];
  next_rate_[i] = next[1];
}

ExternalObserver::ExternalObserver(std::shared_ptr<const Model> model, LowPass filter,
                                   std::unique_ptr<ContactDetector> detector, std::vector<std::string> labels)
    : dynamics_(std::move(model)),
      filter_(std::move(filter)),
      detector_(std::move(detector)),
      labels_(std::move(labels)),
      held_(Eigen::VectorXd::Zero(n())),
      springs_(held_),
      tau_(held_),
      input_(Eigen::VectorXd::Zero(filter_.value().size())),
      supplied_(input_) {
  last_ = next_ = {tau_, input_, input_};
}

void ExternalObserver::reset() noexcept {
  filter_.reset();
  if (detector_) detector_->reset();
  clock_.reset();
  started_ = false;
  status_ = Status::ok;
}

void ExternalObserver::archive(StateArchive& state) {
  state(filter_, detector_, clock_, last_.dq, last_.storage, last_.drift, tau_, elapsed_, started_);
  state.bounded(status_, 0.0, static_cast<double>(Status::invalid_input));
}

Status ExternalObserver::step(double t, const double* q, const double* dq, const double* tau,
                              const Motors& motors) noexcept {
  return status_ = observe(t, q, dq, tau, motors) ? Status::ok : Status::invalid_input;
}

bool ExternalObserver::observe(double t, const double* q, const double* dq, const double* tau,
                               const Motors& motors) noexcept {
  if (!std::isfinite(t)) return started_ = false;
  const bool recent = clock_.recent(t);
  const double dt = clock_.advance(t);
  started_ = started_ && recent && dt > 0.0;
  bool valid = true;
  if (started_) {
    held_ = Vector(tau, n());
    for (const int joint : elastic_joints()) held_[joint] = 0.0;
    valid = held_.allFinite();
    tau_ = (elapsed_ * tau_ + dt * held_) / (elapsed_ + dt);
    elapsed_ += dt;
    started_ = valid && elapsed_ < StepClock::kLongestGap;
  }
  if (!measure(q, dq, motors)) return false;
  if (started_) valid = update();
  std::swap(last_, next_);
  tau_.setZero();
  elapsed_ = 0.0;
  started_ = true;
  return valid;
}

bool ExternalObserver::measure(const double* q, const double* dq, const Motors& motors) noexcept {
  if (!Vector(q, n()).allFinite() || !Vector(dq, n()).allFinite()) return false;
  evaluate(q, dq, next_);
  next_.dq = Vector(dq, n());
  const auto& joints = elastic_joints();
  if (!joints.empty()) {
    if (motors.x == nullptr || motors.dx == nullptr) return false;
    const ElasticView<double>& elastic = dynamics_.chain().elastic;
    for (int k = 0; k < elastic.count; ++k) {
      const int j = elastic.joints[k];
      springs_[j] = spring_torque(elastic, k, motors.x[k] - q[j]) + damper_torque(elastic, k, motors.dx[k] - dq[j]);
    }
    supply(springs_, next_, next_, supplied_);
    next_.drift += supplied_;
  }
  return next_.storage.allFinite() && next_.drift.allFinite();
}

bool ExternalObserver::update() noexcept {
  supply(tau_, last_, next_, supplied_);
  input_ = (next_.storage - last_.storage) / elapsed_ - supplied_ - 0.5 * (last_.drift + next_.drift);
  if (!filter_.step(elapsed_, input_)) return false;
  if (detector_) detector_->step(estimate().data());
  return true;
}

MomentumObserver::MomentumObserver(std::shared_ptr<const Model> model, LowPass filter,
                                   std::unique_ptr<ContactDetector> detector)
    : ExternalObserver(model, std::move(filter), std::move(detector), model->data().joint_names),
      G_(Eigen::VectorXd::Zero(n())),
      friction_(G_) {}

void MomentumObserver::evaluate(const double* q, const double* dq, Sample& sample) noexcept {
  dynamics_.momentum_and_drift(q, dq, sample.storage.data(), sample.drift.data());
  dynamics_.gravity_vector(q, G_.data());
  dynamics_.friction_torque(dq, friction_.data());
  sample.drift -= G_ + friction_;
}

EnergyObserver::EnergyObserver(std::shared_ptr<const Model> model, LowPass filter,
                               std::unique_ptr<ContactDetector> detector)
    : ExternalObserver(std::move(model), std::move(filter), std::move(detector), {"power"}),
      p_(Eigen::VectorXd::Zero(n())),
      drift_(p_),
      friction_(p_) {}

void EnergyObserver::evaluate(const double* q, const double* dq, Sample& sample) noexcept {
  const Vector velocity(dq, n());
  dynamics_.momentum_and_drift(q, dq, p_.data(), drift_.data());
  dynamics_.friction_torque(dq, friction_.data());
  double U;
  dynamics_.potential_energy(q, &U);
  sample.storage[0] = 0.5 * velocity.dot(p_) + U;
  sample.drift[0] = -velocity.dot(friction_);
}

}  // namespace thunder
