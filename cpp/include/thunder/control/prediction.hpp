// Filtered torque and its regressor: y = W pi holds for the true parameters, and y - W pihat measures the error
// of an estimate without a tracking error (D4.2, sections 3.2.2 and 3.2.3).
//
// Both forms pass the torque through the low-pass filter phi(t) = lambda exp(-lambda t), lambda the cutoff in rad/s.
#pragma once

#include <memory>

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"
#include "../math/state_archive.hpp"

namespace thunder {

class Prediction {
 public:

  virtual ~Prediction() = default;
  virtual std::unique_ptr<Prediction> clone() const = 0;
  /// Takes the state after `tau` has been held for `dt` seconds; with dt = 0 only the state, to start from.
  void update(double dt, const double* q, const double* dq, const double* tau) noexcept;
  /// Discards past samples.
  void restart() noexcept;
  virtual void archive(StateArchive& state) { state(started_, W_, y_); }

  const RowMajor& W() const noexcept { return W_; }
  const Eigen::VectorXd& y() const noexcept { return y_; }

 protected:
  Prediction(std::shared_ptr<const Model> model, double cutoff);
  virtual void start(const double* q, const double* dq) noexcept = 0;
  /// `decay` = exp(-lambda dt)
  virtual void advance(double dt, double decay, const double* q, const double* dq) noexcept = 0;

  int n() const noexcept { return dynamics_.n(); }

  Evaluator dynamics_;
  double lambda_;
  RowMajor W_;
  Eigen::VectorXd y_;

 private:
  bool started_ = false;
};

/// W = Y of the filtered position, velocity and acceleration, the last by differences of velocities. Friction and
/// other terms nonlinear in the motion match the filtered torque only approximately.
class FilteredAcceleration final : public Prediction {
 public:
  FilteredAcceleration(std::shared_ptr<const Model> model, double cutoff);
  std::unique_ptr<Prediction> clone() const override { return std::make_unique<FilteredAcceleration>(*this); }
  void archive(StateArchive& state) override {
    Prediction::archive(state);
    state(last_q_, last_dq_, q_, dq_, ddq_, weight_);
  }

 protected:
  void start(const double* q, const double* dq) noexcept override;
  void advance(double dt, double decay, const double* q, const double* dq) noexcept override;

 private:
  Eigen::VectorXd last_q_, last_dq_, q_, dq_, ddq_, mean_ddq_;
  double weight_ = 0.0;  // of the samples in the filter
};

/// W without accelerations, by parts (D4.2, 3.2.3 with the signs of errata D-13):
/// W pi = lambda M dq - phi(t) M_0 dq_0 - integral of phi(t - r) (lambda M dq + C' dq - D - G) dr.
class FilteredRegressor final : public Prediction {
 public:
  FilteredRegressor(std::shared_ptr<const Model> model, double cutoff);
  std::unique_ptr<Prediction> clone() const override { return std::make_unique<FilteredRegressor>(*this); }
  void archive(StateArchive& state) override {
    Prediction::archive(state);
    state(last_P_, last_F_);
  }

 protected:
  void start(const double* q, const double* dq) noexcept override;
  void advance(double dt, double decay, const double* q, const double* dq) noexcept override;

 private:
  /// P_ pi = M dq and F_ pi = lambda M dq + C' dq - D - G
  void parts(const double* q, const double* dq) noexcept;

  RowMajor P_, F_, last_P_, last_F_, G_;
};

}  // namespace thunder
