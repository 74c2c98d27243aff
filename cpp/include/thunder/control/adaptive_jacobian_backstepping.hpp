// Adaptive backstepping in task space with unknown lengths of the arm (Thunder article, section 4, Remark 1).
#pragma once

#include "../kinematics/task_error.hpp"
#include "backstepping.hpp"
#include "length_estimate.hpp"

namespace thunder {

/// Measured position and velocity of the end effector.
class PositionSensor {
 public:
  virtual ~PositionSensor() = default;
  /// False without a measurement.
  virtual bool read(const double* q, const double* dq, Eigen::Vector3d& p, Eigen::Vector3d& v) noexcept = 0;
  /// Throws what the last `read` could not.
  virtual void rethrow() {}
};

/// That of a model without errors.
class ExactPosition final : public PositionSensor {
 public:
  explicit ExactPosition(std::shared_ptr<const Model> model) : arm_(std::move(model)), motion_(arm_.n()) {}
  bool read(const double* q, const double* dq, Eigen::Vector3d& p, Eigen::Vector3d& v) noexcept override;

 private:
  Evaluator arm_;
  FrameMotion motion_;
};

class AdaptiveJacobianBackstepping final : public TaskController {
 public:
  struct Terms {
    LengthModel::Kinematics kinematics;  // J_dot contains the derivative of the estimated lengths
    FrameMotion measured;                // p, R and xi
    TaskError task;
    Eigen::VectorXd tracking, prediction;  // parts of the derivative of the estimated lengths
    Eigen::VectorXd dq_r, ddq_r, s, tau;
  };

  AdaptiveJacobianBackstepping(LengthModel model, LengthEstimate estimate, std::unique_ptr<PositionSensor> sensor,
                               Backstepping::Task task, OrientationKind kind, Backstepping::Gains gains);

  int rows() const noexcept { return feedback_.rows().count(); }
  LengthModel& length_model() noexcept { return lengths_; }
  const LengthEstimate& estimate() const noexcept { return estimate_; }
  /// Estimate of all inertial parameters.
  const Eigen::VectorXd& parameters() const noexcept { return parameters_; }
  /// Sets the estimated lengths, with the nominal parameters; `reset` restores them.
  void start_from(const double* lengths) noexcept;
  Terms blank_terms() const;
  /// The law under the current estimates, which do not change; the regressor of `length_model` is that of the torque.
  Status evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& terms) noexcept;

  void reset() noexcept override;
  void archive(StateArchive& state) override;
  void rethrow() override { sensor_->rethrow(); }

 protected:
  Status law(double t, const double* q, const double* dq, const TaskReference& desired, double* tau) noexcept override;
  void reference_torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                        double* tau) noexcept override;
  void freeze() noexcept override { estimate_.freeze(); }
  void ignore_tracking() noexcept override { estimate_.ignore_tracking(); }

 private:
  bool measure(const double* q, const double* dq, Terms& terms) noexcept;
  Status evaluate_measured(const double* q, const double* dq, const TaskReference& desired, Terms& terms) noexcept;
  void publish_estimates() noexcept;

  LengthModel lengths_;
  LengthEstimate estimate_;
  std::unique_ptr<PositionSensor> sensor_;
  OrientationKind kind_;
  BacksteppingFeedback feedback_;
  Terms terms_;
  RowMajor gradient_;
  Eigen::VectorXd logged_lengths_, logged_products_, parameters_;  // products without the first, a constant 1
};

}  // namespace thunder
