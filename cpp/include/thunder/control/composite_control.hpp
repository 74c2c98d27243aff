// Composite control of elastic joints: a law of the rigid arm, and damping of the springs' fast motion.
//
// M. W. Spong, K. Khorasani and P. V. Kokotovic, "An integral manifold approach to the feedback control of flexible joint
// robots", 1987; adaptive: M. W. Spong, "Adaptive control of flexible joint manipulators", 1989.
#pragma once

#include "elastic_controller.hpp"

namespace thunder {

/// tau = tau_slow(t, q, dq) - K_v (dx - dq), with tau_slow by any law whose model is the arm with rigid joints.
class CompositeControl final : public ElasticController<JointController> {
 public:
  /// `slow` belongs to this controller alone. K_v: e x e.
  CompositeControl(std::shared_ptr<const Model> model, std::shared_ptr<JointController> slow, Eigen::MatrixXd K_v,
                   Eigen::MatrixXd K_d);
  int reference_order() const noexcept override { return slow_->reference_order(); }
  void reset() noexcept override {
    ElasticController::reset();
    slow_->reset();
  }
  void archive(StateArchive& state) override {
    ElasticController::archive(state);
    slow_->archive(state);
  }

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired, double* tau) noexcept override;
  void freeze() noexcept override { slow_->pause(); }
  void ignore_tracking() noexcept override {
    slow_->discard_errors();
    slow_->pause();  // integrals
  }

 private:
  std::shared_ptr<JointController> slow_;
  Eigen::MatrixXd K_v_;
  Eigen::VectorXd fast_, damping_;
};

}  // namespace thunder
