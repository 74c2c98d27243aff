// PD control with gravity compensation, and its PID form.
//
// Lecture notes, lecture 31 (M. Takegaki and S. Arimoto, 1981).
#pragma once

#include "controller.hpp"
#include "integral_action.hpp"

namespace thunder {

class PDGravity final : public JointController {
 public:
  enum class Gravity { actual, desired };  // G(q) or G(q_d)

  /// K_p and K_d: n x n, symmetric positive definite.
  PDGravity(std::shared_ptr<const Model> model, Eigen::MatrixXd K_p, Eigen::MatrixXd K_d, IntegralAction integral,
            Gravity compensated);

  void reset() noexcept override;
  void archive(StateArchive& state) override {
    Controller::archive(state);
    state(integral_);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired,
             double* tau) noexcept override;
  void freeze() noexcept override { integral_.pause(); }

 private:
  Eigen::MatrixXd K_p_;
  IntegralAction integral_;
  Gravity compensated_;
  Eigen::VectorXd e_, e_dot_;
};

}  // namespace thunder
