// Base of laws for elastic joints, which see the state of the motors: the torque acts on the motor, the spring on the
// link.
#pragma once

#include <stdexcept>

#include "../math/dense.hpp"
#include "adaptive_controller.hpp"
#include "controller.hpp"

namespace thunder {

/// Where the law gives no torque, its motors are held where they are: tau = G(q_h) + K_h (theta_h - theta) - K_d dtheta,
/// whose feedback is collocated with the torque and therefore passive at any stiffness of the springs.
template <class Base>
class ElasticController : public Base {
 public:
  bool sees_motors() const noexcept override { return true; }
  void reset() noexcept override {
    Base::reset();
    holds_ = held_ = motors_measured_ = false;
    theta_h_.setZero();
    G_h_.setZero();
  }
  void archive(StateArchive& state) override {
    Base::archive(state);
    state(holds_, held_, theta_h_, G_h_);
  }

 protected:
  template <class... Arguments>
  explicit ElasticController(Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...),
        x_(Eigen::VectorXd::Zero(e())),
        dx_(x_),
        theta_(Eigen::VectorXd::Zero(this->n())),
        theta_dot_(theta_),
        theta_h_(theta_),
        G_h_(theta_),
        zero_(theta_),
        K_h_(kRate * this->K_d_) {}

  /// Stiffness of a hold [N m/rad], n x n, in the place of 10 K_d.
  void set_hold_stiffness(Eigen::MatrixXd K_h) { K_h_ = std::move(K_h); }

  int e() const noexcept { return this->model()->elastic_count(); }
  /// The elastic joints, from 0.
  const std::vector<int>& joints() const noexcept { return this->model()->elastic_joints(); }
  ElasticView<double> elastic() const noexcept { return this->dynamics_.chain().elastic; }

  bool read_motors(const Motors& motors) noexcept override {
    held_ = std::exchange(holds_, false);
    if (motors.x == nullptr || motors.dx == nullptr) return motors_measured_ = false;
    x_ = Eigen::Map<const Eigen::VectorXd>(motors.x, e());
    dx_ = Eigen::Map<const Eigen::VectorXd>(motors.dx, e());
    return motors_measured_ = x_.allFinite() && dx_.allFinite();
  }

  /// theta: the motors, and the links of rigid joints.
  void set_theta(const double* q, const double* dq) noexcept {
    theta_ = Eigen::Map<const Eigen::VectorXd>(q, this->n());
    theta_dot_ = Eigen::Map<const Eigen::VectorXd>(dq, this->n());
    for (int k = 0; k < e(); ++k) {
      theta_[joints()[k]] = x_[k];
      theta_dot_[joints()[k]] = dx_[k];
    }
  }

  void replace_law(Status, bool measured, double, const double* q, const double* dq, double* tau) noexcept override {
    this->freeze();
    Eigen::Map<Eigen::VectorXd> torque(tau, this->n());
    if (measured) {
      set_theta(q, dq);
      if (!held_) start_hold(q);
      holds_ = true;
      torque = G_h_;
      theta_h_error_ = theta_h_ - theta_;
      add_product(K_h_, theta_h_error_.data(), tau);
      add_product(this->K_d_, theta_dot_.data(), tau, -1.0);
    } else {
      holds_ = held_;
      torque = G_h_;
      if (!held_ && this->seen_state()) this->reference_torque(this->last_q().data(), zero_.data(), zero_.data(), zero_.data(), tau);
      if (motors_measured_) damp_motors(tau);
    }
    if (!torque.allFinite()) torque.setZero();
  }

  Eigen::VectorXd x_, dx_, theta_, theta_dot_;

 private:
  static constexpr double kRate = 10.0;  // of the motors' return, stiffness over damping [1/s]

  void start_hold(const double* q) noexcept {
    theta_h_ = theta_;
    this->reference_torque(q, zero_.data(), zero_.data(), zero_.data(), G_h_.data());
    if (!G_h_.allFinite()) G_h_.setZero();
  }

  void damp_motors(double* tau) noexcept {
    theta_h_error_.setZero(this->n());
    for (int k = 0; k < e(); ++k) theta_h_error_[joints()[k]] = -dx_[k];
    add_product(this->K_d_, theta_h_error_.data(), tau);
  }

  bool holds_ = false, held_ = false, motors_measured_ = false;  // in this step, in the last one
  Eigen::VectorXd theta_h_, G_h_, zero_;
  Eigen::MatrixXd K_h_;
  Eigen::VectorXd theta_h_error_ = zero_;
};

}  // namespace thunder
