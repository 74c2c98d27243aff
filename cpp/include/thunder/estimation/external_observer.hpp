// External torque from the generalized momentum, and its power from the energy, without accelerations.
//
// A. De Luca and R. Mattone (2003, 2005); energy: A. De Luca, A. Albu-Schaeffer, S. Haddadin, G. Hirzinger (2006). The links
// of elastic joints get the torques of springs and dampers, which follow from the state of the motors, in the place of tau.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <string>
#include <vector>

#include "../control/clock.hpp"
#include "../kernels/evaluator.hpp"
#include "../kinematics/status.hpp"
#include "../threads/exclusive.hpp"
#include "contact_detector.hpp"

namespace thunder {

/// Filters of unit gain, one for each entry: w / (s + w), or w^2 / (s^2 + 2 zeta w s + w^2). A step is exact for an input
/// that is constant over it, and therefore stable for any w and step.
class LowPass {
 public:
  /// bandwidth w > 0 [rad/s]; order 1 or 2; damping_ratio zeta > 0, for order 2.
  LowPass(Eigen::VectorXd bandwidth, int order, double damping_ratio);
  /// False, and nothing changed, where the result would not be finite.
  bool step(double dt, const Eigen::VectorXd& input) noexcept;
  const Eigen::VectorXd& value() const noexcept { return value_; }
  void reset() noexcept;
  void archive(StateArchive& state) { state(value_, rate_); }

 private:
  void advance(double dt, double input, Eigen::Index i) noexcept;

  Eigen::VectorXd bandwidth_;
  bool second_order_;
  double damping_ratio_;
  Eigen::VectorXd value_, rate_, next_value_, next_rate_;
};

/// A storage S of the arm, its momentum or energy, changes by S' = supply(tau) + drift(q, dq) + external. The estimate is
/// the external part, averaged over each step and filtered: a low-pass without differentiation of measurements.
class ExternalObserver : public Exclusive {
 public:
  int n() const noexcept { return dynamics_.n(); }
  /// Joints, from 0, of which `step` needs the state of the motors.
  const std::vector<int>& elastic_joints() const noexcept { return dynamics_.shared_model()->elastic_joints(); }
  /// Number of entries of the estimate.
  int size() const noexcept { return static_cast<int>(input_.size()); }
  /// State at time t; `tau` was held since the step before, and is not used in the first one, nor at elastic joints. A
  /// state that is not finite, or without that of motors, is bridged: the next one counts for the whole time. A torque or time that is not finite, time that stands still or
  /// runs backwards, and a pause of `StepClock::kLongestGap` restart the measurement from the present state; the estimate stays.
  /// Never throws, never allocates.
  Status step(double t, const double* q, const double* dq, const double* tau, const Motors& motors = {}) noexcept;
  const Eigen::VectorXd& estimate() const noexcept { return filter_.value(); }
  /// 1 where there is a contact, else 0; null without a detector.
  const Eigen::VectorXd* contact() const noexcept { return detector_ ? &detector_->contact() : nullptr; }
  Status status() const noexcept { return status_; }
  /// Names of the entries of the estimate.
  const std::vector<std::string>& labels() const noexcept { return labels_; }
  /// The same observer before its first step.
  virtual std::unique_ptr<ExternalObserver> new_state() const = 0;
  void reset() noexcept;
  void archive(StateArchive& state);

 protected:
  struct Sample {
    Eigen::VectorXd dq, storage, drift;
  };

  ExternalObserver(std::shared_ptr<const Model> model, LowPass filter, std::unique_ptr<ContactDetector> detector,
                   std::vector<std::string> labels);
  template <class Observer>
  std::unique_ptr<ExternalObserver> blank() const {
    auto detector = detector_ ? std::make_unique<ContactDetector>(*detector_) : nullptr;
    auto result = std::make_unique<Observer>(dynamics_.shared_model(), filter_, std::move(detector));
    result->reset();
    return result;
  }

  /// Storage and drift at a state.
  virtual void evaluate(const double* q, const double* dq, Sample& sample) noexcept = 0;
  /// Mean supply of a constant torque between two samples.
  virtual void supply(const Eigen::VectorXd& tau, const Sample& from, const Sample& to, Eigen::VectorXd& rate) noexcept = 0;

  Evaluator dynamics_;

 private:
  bool observe(double t, const double* q, const double* dq, const double* tau, const Motors& motors) noexcept;
  bool measure(const double* q, const double* dq, const Motors& motors) noexcept;
  bool update() noexcept;

  LowPass filter_;
  std::unique_ptr<ContactDetector> detector_;
  std::vector<std::string> labels_;
  StepClock clock_;
  Sample last_, next_;
  Eigen::VectorXd held_, springs_;          // torques of motors at rigid joints, of springs at elastic ones
  Eigen::VectorXd tau_, input_, supplied_;  // tau_: mean of held_ since the last sample
  double elapsed_ = 0.0;                    // since the last sample
  bool started_ = false;
  Status status_ = Status::ok;
};

/// p = M dq, p' = tau + C' dq - G - friction + external: the estimate is the external torque at the joints, (n).
class MomentumObserver final : public ExternalObserver {
 public:
  MomentumObserver(std::shared_ptr<const Model> model, LowPass filter, std::unique_ptr<ContactDetector> detector);
  std::unique_ptr<ExternalObserver> new_state() const override { return blank<MomentumObserver>(); }

 protected:
  void evaluate(const double* q, const double* dq, Sample& sample) noexcept override;
  void supply(const Eigen::VectorXd& tau, const Sample&, const Sample&, Eigen::VectorXd& rate) noexcept override {
    rate = tau;
  }

 private:
  Eigen::VectorXd G_, friction_;
};

/// E = T + U, E' = dq' (tau - friction + external): the estimate is the power of the external torque, (1).
class EnergyObserver final : public ExternalObserver {
 public:
  EnergyObserver(std::shared_ptr<const Model> model, LowPass filter, std::unique_ptr<ContactDetector> detector);
  std::unique_ptr<ExternalObserver> new_state() const override { return blank<EnergyObserver>(); }

 protected:
  void evaluate(const double* q, const double* dq, Sample& sample) noexcept override;
  void supply(const Eigen::VectorXd& tau, const Sample& from, const Sample& to, Eigen::VectorXd& rate) noexcept override {
    rate[0] = 0.5 * (tau.dot(from.dq) + tau.dot(to.dq));
  }

 private:
  Eigen::VectorXd p_, drift_, friction_;
};

}  // namespace thunder
