// Velocity and acceleration from sampled positions: causal, one sample after the other.
//
// Linear filters H(s) s and H(s) s^2 with low-pass H, brought to samples by the bilinear rule with the cutoff held
// (prewarping), and causal Savitzky-Golay filters (A. Savitzky and M. Golay, 1964; evaluated at the newest sample, after
// P. Gorry, 1990).
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "../math/state_archive.hpp"

namespace thunder {

class DerivativeEstimator {
 public:
  virtual ~DerivativeEstimator() = default;

  static constexpr int kLongestGap = 1000;  // samples: bounds the work of a step

  int width() const noexcept { return static_cast<int>(dq_.size()); }
  /// Takes the sample `q`, `dt` seconds after the one before; the first one is taken as a state of rest. A sample that
  /// is not finite leaves the estimates as they are; the next finite one fills the gap with a straight line, so that the
  /// filter sees even samples. After more than `kLongestGap` such samples it restarts. Never throws, never allocates.
  void step(double dt, const double* q) noexcept;
  const Eigen::VectorXd& dq() const noexcept { return dq_; }
  const Eigen::VectorXd& ddq() const noexcept { return ddq_; }
  void reset() noexcept;
  virtual void archive(StateArchive& state);
  /// The same filter, of any width, before its first sample.
  virtual std::unique_ptr<DerivativeEstimator> new_state(int width) const = 0;
  /// Throws std::invalid_argument if samples `dt` seconds apart cannot show the cutoff.
  void require_period(double dt) const;

 protected:
  /// `cutoff` in Hz; 0 where there is none.
  DerivativeEstimator(int width, double cutoff);
  using Sample = Eigen::Map<const Eigen::VectorXd>;

  /// Called when the sampling period changes.
  virtual void prepare(double dt) noexcept = 0;
  /// Called with the first sample.
  virtual void start(const Sample& q) noexcept = 0;
  virtual void advance(const Sample& q) noexcept = 0;

  double cutoff_;
  Eigen::VectorXd dq_, ddq_;

 private:
  void restart(const Sample& q) noexcept;
  void fill_gap(const Sample& q) noexcept;

  double dt_ = 0.0;
  bool started_ = false;
  int missing_ = 0;  // samples since the last finite one
  Eigen::VectorXd last_, between_;
};

/// dq = w s / (s + w) q and ddq = w s / (s + w) dq.
class FirstOrderDerivative final : public DerivativeEstimator {
 public:
  /// `cutoff` in Hz, below half of the sampling rate.
  FirstOrderDerivative(int width, double cutoff);
  std::unique_ptr<DerivativeEstimator> new_state(int width) const override {
    return std::make_unique<FirstOrderDerivative>(width, cutoff_);
  }
  void archive(StateArchive& state) override {
    DerivativeEstimator::archive(state);
    state(gain_, pole_, q_);
  }

 protected:
  void prepare(double dt) noexcept override;
  void start(const Sample& q) noexcept override { q_ = q; }
  void advance(const Sample& q) noexcept override;

 private:
  double gain_ = 0.0, pole_ = 0.0;
  Eigen::VectorXd q_, dq_before_;
};

/// dq = s H q and ddq = s^2 H q with the Butterworth filter of second order H = w^2 / (s^2 + sqrt(2) w s + w^2).
class ButterworthDerivative final : public DerivativeEstimator {
 public:
  /// `cutoff` in Hz, below half of the sampling rate.
  ButterworthDerivative(int width, double cutoff);
  std::unique_ptr<DerivativeEstimator> new_state(int width) const override {
    return std::make_unique<ButterworthDerivative>(width, cutoff_);
  }
  void archive(StateArchive& state) override {
    DerivativeEstimator::archive(state);
    state(a1_, a2_, velocity_gain_, acceleration_gain_, q1_, q2_, dq1_, dq2_, ddq1_, ddq2_);
  }

 protected:
  void prepare(double dt) noexcept override;
  void start(const Sample& q) noexcept override;
  void advance(const Sample& q) noexcept override;

 private:
  double a1_ = 0.0, a2_ = 0.0, velocity_gain_ = 0.0, acceleration_gain_ = 0.0;
  Eigen::VectorXd q1_, q2_, dq1_, dq2_, ddq1_, ddq2_;  // 1 and 2 samples ago
};

/// Derivatives, at the newest sample, of the polynomial that fits the last `window` samples best.
class SavitzkyGolayDerivative final : public DerivativeEstimator {
 public:
  /// 1 <= order < window. An order of 1 gives no acceleration: it stays zero.
  SavitzkyGolayDerivative(int width, int window, int order);
  std::unique_ptr<DerivativeEstimator> new_state(int width) const override {
    return std::make_unique<SavitzkyGolayDerivative>(width, static_cast<int>(first_.size()), order_);
  }
  void archive(StateArchive& state) override {
    DerivativeEstimator::archive(state);
    state(samples_, inverse_dt_);
    state.bounded(next_, 0.0, static_cast<double>(samples_.cols() - 1));
  }

 protected:
  void prepare(double dt) noexcept override { inverse_dt_ = 1.0 / dt; }
  void start(const Sample& q) noexcept override { samples_.colwise() = q; }
  void advance(const Sample& q) noexcept override;

 private:
  int order_;
  Eigen::VectorXd first_, second_;  // weights of the samples, oldest first, for a period of 1
  Eigen::MatrixXd samples_;         // a ring: the column at `next_` is the oldest
  Eigen::Index next_ = 0;
  double inverse_dt_ = 0.0;
};

}  // namespace thunder
