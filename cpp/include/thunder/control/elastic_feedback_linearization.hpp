// Feedback linearization of elastic joints by static state feedback.
//
// M. W. Spong, "Modeling and control of elastic joint robots", 1987; A. De Luca and W. Book, "Robots with flexible
// elements", Springer Handbook of Robotics, 2016, section 11.1.
#pragma once

#include "elastic_controller.hpp"

namespace thunder {

/// The link's acceleration and jerk follow from the state; tau makes the fourth derivative of q equal to
///   v = d4q_d + K_3 (d3q_d - d3q) + K_2 (ddq_d - ddq) + K_1 (dq_d - dq) + K_0 (q_d - q).
class ElasticFeedbackLinearization final : public ElasticController<JointController> {
 public:
  struct Gains {
    Eigen::MatrixXd K_0, K_1, K_2, K_3;  // n x n
  };
  /// All joints must be elastic, without damping of the springs. K_d: n x n, of the motors in a hold.
  ElasticFeedbackLinearization(std::shared_ptr<const Model> model, Gains gains, Eigen::MatrixXd K_d);
  int reference_order() const noexcept override { return 4; }

 protected:
  Status law(double t, const double* q, const double* dq, const JointReference& desired, double* tau) noexcept override;

 private:
  bool read_links(const double* q, const double* dq) noexcept;

  Gains gains_;
  RowMajor M_;
  Eigen::VectorXd spring_, spring_rate_, slope_, curve_;
  Eigen::VectorXd ddq_, d3q_, v_, target_, zero_;
  Eigen::VectorXd error_, error_dot_, error_ddot_, error_d3_;
};

}  // namespace thunder
