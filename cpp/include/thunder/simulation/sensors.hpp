// Measurements of joints and motors for a controller: delayed, noisy and quantized.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "../estimation/derivative_filters.hpp"
#include "../math/random.hpp"
#include "../model/elastic.hpp"
#include "delay_line.hpp"

namespace thunder {

struct SensorSettings {
  Eigen::VectorXd position_noise, velocity_noise;            // n standard deviations
  Eigen::VectorXd position_resolution, velocity_resolution;  // n steps of quantization, 0 for none
  double dropout = 0.0;                                      // probability that a reading is missing
  long delay = 0;                                            // control periods
  double period = 1e-3;                                      // control period
  std::uint64_t seed = 0;
  std::shared_ptr<DerivativeEstimator> velocity;  // of measured positions; null where velocities are measured
};

/// Positions and velocities of a group of axes: delay, then noise, then quantization; a velocity estimator uses the
/// result.
class AxisSensors {
 public:
  /// Axis k has the sensors of joint `joints[k]`.
  AxisSensors(const SensorSettings& settings, const std::vector<int>& joints)
      : position_{chosen(settings.position_noise, joints), chosen(settings.position_resolution, joints)},
        velocity_{chosen(settings.velocity_noise, joints), chosen(settings.velocity_resolution, joints)},
        q_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(joints.size()))),
        dq_(q_),
        delayed_q_(static_cast<int>(joints.size()), settings.delay),
        delayed_dq_(static_cast<int>(joints.size()), settings.delay),
        period_(settings.period) {
    if (!settings.velocity || joints.empty()) return;
    estimator_ = settings.velocity->new_state(static_cast<int>(joints.size()));
    estimator_->require_period(period_);
  }

  /// Missing readings are NaN.
  void measure(const double* q, const double* dq, bool missing, Random& random) noexcept {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    read(q, delayed_q_, position_, random, q_);
    if (missing) q_.setConstant(kNaN);
    if (estimator_) {
      estimator_->step(period_, q_.data());
      dq_ = estimator_->dq();
    } else {
      read(dq, delayed_dq_, velocity_, random, dq_);
      if (missing) dq_.setConstant(kNaN);
    }
  }

  const Eigen::VectorXd& q() const noexcept { return q_; }
  const Eigen::VectorXd& dq() const noexcept { return dq_; }

 private:
  struct Errors {
    Eigen::VectorXd noise, resolution;
  };

  static Eigen::VectorXd chosen(const Eigen::VectorXd& values, const std::vector<int>& joints) {
    Eigen::VectorXd result(static_cast<Eigen::Index>(joints.size()));
    for (std::size_t k = 0; k < joints.size(); ++k) result[static_cast<Eigen::Index>(k)] = values[joints[k]];
    return result;
  }

  static void read(const double* truth, DelayLine& line, const Errors& errors, Random& random,
                   Eigen::VectorXd& value) noexcept {
    std::copy_n(truth, value.size(), value.data());
    line.exchange(value.data());
    for (Eigen::Index i = 0; i < value.size(); ++i) {
      if (errors.noise[i] > 0.0) value[i] += errors.noise[i] * random.normal();
      if (errors.resolution[i] > 0.0) value[i] = errors.resolution[i] * std::round(value[i] / errors.resolution[i]);
    }
  }

  Errors position_, velocity_;
  Eigen::VectorXd q_, dq_;
  DelayLine delayed_q_, delayed_dq_;
  std::unique_ptr<DerivativeEstimator> estimator_;
  double period_;
};

/// Sensors of all joints, and of the motors of elastic ones.
class Sensors {
 public:
  /// Motor k belongs to joint `motor_joints[k]`, from 0, and has sensors like it.
  explicit Sensors(const SensorSettings& settings, const std::vector<int>& motor_joints = {})
      : dropout_(settings.dropout),
        random_(settings.seed),
        joints_(settings, all(settings.position_noise.size())),
        motors_(settings, motor_joints) {}

  /// Called once in each control period.
  void measure(const double* q, const double* dq, const Motors& motors = {}) noexcept {
    const bool missing = dropout_ > 0.0 && random_.uniform() < dropout_;
    joints_.measure(q, dq, missing, random_);
    if (motors.x != nullptr && motors_.q().size() > 0) motors_.measure(motors.x, motors.dx, missing, random_);
  }

  const Eigen::VectorXd& q() const noexcept { return joints_.q(); }
  const Eigen::VectorXd& dq() const noexcept { return joints_.dq(); }
  const Eigen::VectorXd& x() const noexcept { return motors_.q(); }
  const Eigen::VectorXd& dx() const noexcept { return motors_.dq(); }

 private:
  static std::vector<int> all(Eigen::Index n) {
    std::vector<int> joints;
    for (int i = 0; i < n; ++i) joints.push_back(i);
    return joints;
  }

  double dropout_;
  Random random_;
  AxisSensors joints_, motors_;
};

}  // namespace thunder
