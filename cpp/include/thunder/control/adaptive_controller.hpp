// A controller whose model adapts.
#pragma once

#include "adaptive_model.hpp"
#include "controller.hpp"

namespace thunder {

template <class Reference>
class AdaptiveController : public TrackingController<Reference> {
 public:
  AdaptiveModel& adaptive_model() noexcept { return adaptive_model_; }

  void reset() noexcept override {
    Controller::reset();
    adaptive_model_.reset();
  }
  void archive(StateArchive& state) override {
    Controller::archive(state);
    state(adaptive_model_);
  }

 protected:
  AdaptiveController(AdaptiveModel adaptive_model, Eigen::MatrixXd K_d)
      : TrackingController<Reference>(adaptive_model.nominal(), std::move(K_d)),
        adaptive_model_(std::move(adaptive_model)) {
    this->publish("parameters", adaptive_model_.estimate().data(), adaptive_model_.nominal()->parameter_names());
  }

  void reference_torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                        double* tau) noexcept override {
    adaptive_model_.torque(q, dq, dq_r, ddq_r, tau);
  }
  void freeze() noexcept override { adaptive_model_.freeze(); }
  void ignore_tracking() noexcept override { adaptive_model_.ignore_tracking(); }

  AdaptiveModel adaptive_model_;
};

}  // namespace thunder
