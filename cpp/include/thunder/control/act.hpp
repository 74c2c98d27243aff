// Adaptive computed torque in joint space (Craig, Hsu, Sastry 1987; D4.2, eq. 56).
#pragma once

#include "adaptive_controller.hpp"
#include "estimated_chain.hpp"
#include "prediction.hpp"

namespace thunder {

class ACT final : public AdaptiveController<JointReference> {
 public:
  enum class Form {
    craig,      // Mhat (ddq_d + K_v e' + K_p e) + ..., K in 1/s^2 and 1/s: the one the proof holds for
    impedance,  // Mhat ddq_d + K_v e' + K_p e + ..., as D4.2 prints it (eq. 53)
  };
  struct Gains {
    Eigen::MatrixXd K_p, K_v;  // n x n, symmetric positive definite
    Eigen::MatrixXd P;         // 2n x 2n, symmetric positive definite: a Lyapunov function of x' = [0 1; -K_p -K_v] x
    Eigen::MatrixXd damping;   // n x n, of the safe torque
  };

  /// `prediction` gives the regressor that the law adapts along; none where nothing adapts.
  ACT(AdaptiveModel adaptive_model, std::unique_ptr<Prediction> prediction, Form form, Gains gains);

  void reset() noexcept override;
  void archive(StateArchive& state) override {
    AdaptiveController::archive(state);
    state(prediction_, clock_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;
  void freeze() noexcept override;

 private:
  bool factorize(const double* q) noexcept;
  void adapt() noexcept;

  std::unique_ptr<Prediction> prediction_;
  StepClock clock_;
  Form form_;
  Eigen::MatrixXd K_p_, K_v_;
  Eigen::MatrixXd BtP_;  // n x 2n
  EstimatedChain chain_;
  Eigen::MatrixXd M_;    // its factors
  Eigen::VectorXd e_, e_dot_, feedback_, ddq_, x_, along_;
};

}  // namespace thunder
