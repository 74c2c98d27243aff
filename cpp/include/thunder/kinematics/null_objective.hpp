// Null-space joint velocities of secondary objectives of redundant arms.
#pragma once

#include <Eigen/Dense>
#include <memory>

#include "../kernels/kernels.hpp"
#include "../model/model.hpp"

namespace thunder {

class NullObjective {
 public:
  virtual ~NullObjective() = default;
  virtual int n() const noexcept = 0;
  /// The n joint velocities dq_0 that are projected into the null space of the task.
  virtual void velocity(Workspace work, const double* q, double* dq_0) const noexcept = 0;
};

/// gain dw/dq with w = sqrt(det(J J')): away from singularities.
class ManipulabilityObjective final : public NullObjective {
 public:
  ManipulabilityObjective(std::shared_ptr<const Model> model, const Frame<double>& frame, TaskRows rows, double gain)
      : model_(std::move(model)), frame_(frame), rows_(rows), gain_(gain) {}
  int n() const noexcept override { return model_->n(); }
  void velocity(Workspace work, const double* q, double* dq_0) const noexcept override;

 private:
  std::shared_ptr<const Model> model_;
  Frame<double> frame_;
  TaskRows rows_;
  double gain_;
};

/// gain dw/dq with w = -1/(2 n) sum ((q - middle) / range)^2; joints without limits are left alone.
class JointLimitObjective final : public NullObjective {
 public:
  JointLimitObjective(const Eigen::VectorXd& lower, const Eigen::VectorXd& upper, double gain);
  int n() const noexcept override { return static_cast<int>(middle_.size()); }
  void velocity(Workspace work, const double* q, double* dq_0) const noexcept override;

 private:
  Eigen::VectorXd middle_, slope_;
};

/// gain (posture - q)
class PostureObjective final : public NullObjective {
 public:
  PostureObjective(Eigen::VectorXd posture, double gain) : posture_(std::move(posture)), gain_(gain) {}
  int n() const noexcept override { return static_cast<int>(posture_.size()); }
  void velocity(Workspace work, const double* q, double* dq_0) const noexcept override;

 private:
  Eigen::VectorXd posture_;
  double gain_;
};

}  // namespace thunder
