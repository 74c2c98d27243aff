// Adaptive passivity-based control of elastic joints.
//
// The structure is that of R. Lozano and B. Brogliato, "Adaptive control of robot manipulators with flexible joints",
// 1992; the desired spring torque is filtered, so that no acceleration of the links is needed.
#pragma once

#include "clock.hpp"
#include "elastic_controller.hpp"

namespace thunder {

/// With e = q_d - q, s = de + Lambda e and u = Y_r pihat + K_d s, the torque that the links need, the springs shall be
/// deflected by h, a filtered u / K; the motors follow x_f = q_d + h. With e_x = x_f - x and s_x = de_x + Lambda e_x
///   tau = Mm (ddx_f + Lambda de_x) + Dm(dx) + K h + D dh + K_x s_x        (elastic joints),  tau = u  (rigid ones).
/// The estimates of 1 / K and of K are numbers c and k over the nominal stiffness.
class ElasticSlotineLi final : public ElasticController<AdaptiveController<JointReference>> {
 public:
  struct Gains {
    Eigen::VectorXd Lambda;  // n, positive
    Eigen::MatrixXd K_d;     // n x n, of the links
    Eigen::MatrixXd K_x;     // e x e, of the motors
    double bandwidth;        // of the filter [rad/s]
    double stiffness_rate;   // of c and k [1/J], 0 for a known stiffness
  };
  /// c and k stay between these.
  static constexpr double kLeastRatio = 0.1, kLargestRatio = 10.0;
  /// The estimate changes u at most so much faster than K_d damps s, over the filter's bandwidth: beyond that the lag
  /// makes adaptation oscillate.
  static constexpr double kFastest = 0.1;

  /// Springs and their dampers must be linear.
  ElasticSlotineLi(AdaptiveModel adaptive_model, Gains gains);
  void reset() noexcept override;
  void archive(StateArchive& state) override;

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired, double* tau) noexcept override;
  void freeze() noexcept override;
  void ignore_tracking() noexcept override;

 private:
  double stiffness(int k) const noexcept { return elastic().K[k]; }
  double damping(int k) const noexcept { return elastic().D_order > 0 ? elastic().D[k] : 0.0; }
  void integrate(double dt) noexcept;
  void advance_filter(int k, double dt, double& h, double& dh) const noexcept;
  void command(int k, double u, double dt) noexcept;

  Gains gains_;
  StepClock clock_;
  bool started_ = false;
  Eigen::VectorXd pace_ = Eigen::VectorXd::Ones(1);
  Eigen::VectorXd e_, e_dot_, dq_r_, ddq_r_, s_;        // n, of the links
  Eigen::VectorXd u_, h_, dh_, ddh_, lag_, e_x_, s_x_;  // e, of the motors
  Eigen::VectorXd x_f_, dx_f_, c_, k_, c_rate_, k_rate_, feedback_;
};

}  // namespace thunder
