// Joint measurements for a controller: delayed, noisy and quantized.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "../estimation/derivative_filters.hpp"
#include "delay_line.hpp"
#include "../math/random.hpp"

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

/// Delay, then noise, then quantization; a velocity estimator uses the result. Missing readings are NaN.
class Sensors {
 public:
  explicit Sensors(SensorSettings settings)
      : settings_(std::move(settings)),
        random_(settings_.seed),
        q_(Eigen::VectorXd::Zero(settings_.position_noise.size())),
        dq_(q_),
        delayed_q_(static_cast<int>(q_.size()), settings_.delay),
        delayed_dq_(static_cast<int>(q_.size()), settings_.delay) {
    if (settings_.velocity) {
      settings_.velocity->require_period(settings_.period);
      settings_.velocity->reset();
    }
  }

  /// Called once in each control period.
  void measure(const double* q, const double* dq) noexcept {
    const bool missing = settings_.dropout > 0.0 && random_.uniform() < settings_.dropout;
    read(q, delayed_q_, settings_.position_noise, settings_.position_resolution, q_);
    if (missing) q_.setConstant(std::numeric_limits<double>::quiet_NaN());
    if (settings_.velocity) {
      settings_.velocity->step(settings_.period, q_.data());
      dq_ = settings_.velocity->dq();
    } else {
      read(dq, delayed_dq_, settings_.velocity_noise, settings_.velocity_resolution, dq_);
      if (missing) dq_.setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  }

  const Eigen::VectorXd& q() const noexcept { return q_; }
  const Eigen::VectorXd& dq() const noexcept { return dq_; }

 private:
  void read(const double* truth, DelayLine& line, const Eigen::VectorXd& noise, const Eigen::VectorXd& resolution,
            Eigen::VectorXd& value) noexcept {
    std::copy_n(truth, value.size(), value.data());
    line.exchange(value.data());
    for (Eigen::Index i = 0; i < value.size(); ++i) {
      if (noise[i] > 0.0) value[i] += noise[i] * random_.normal();
      if (resolution[i] > 0.0) value[i] = resolution[i] * std::round(value[i] / resolution[i]);
    }
  }

  SensorSettings settings_;
  Random random_;
  Eigen::VectorXd q_, dq_;
  DelayLine delayed_q_, delayed_dq_;
};

}  // namespace thunder
