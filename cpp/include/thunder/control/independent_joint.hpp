// Independent joint control: one PD (PID) loop per joint motor, with the rest of the arm as a disturbance.
//
// Lecture notes, lecture 20, with errata N-8.
#pragma once

#include "controller.hpp"
#include "integral_action.hpp"

namespace thunder {

class IndependentJoint final : public JointController {
 public:
  enum class Feedforward {
    motor,  // J ddq_d + B dq_d
    model,  // inverse dynamics of the model along the reference
  };
  struct Motors {
    Eigen::VectorXd inertia, damping;  // J and B at the joints
  };
  struct Gains {
    Eigen::VectorXd K_p, K_d;  // positive
  };

  IndependentJoint(std::shared_ptr<const Model> model, Gains gains, Motors motors, IntegralAction integral,
                   Feedforward feedforward);

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
  Gains gains_;
  Motors motors_;
  IntegralAction integral_;
  Feedforward feedforward_;
  Eigen::VectorXd e_, e_dot_;
};

}  // namespace thunder
