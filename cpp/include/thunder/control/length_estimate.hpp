// Estimates of unknown lengths and of their products with inertial parameters, and their adaptation.
#pragma once

#include "adaptation.hpp"
#include "clock.hpp"
#include "length_model.hpp"

namespace thunder {

/// lhat' = Gamma^-1 (-W' K_p e + gamma P' (p - phat)); products' = Y' s, each over its gain.
struct LengthGains {
  Eigen::MatrixXd Gamma_inverse;  // (k, k)
  double gamma;                   // weight of the measured position
  double Gamma_torque;            // of the monomials of the lengths
};

class LengthEstimate {
 public:
  /// `law` moves the unknown inertial parameters; none if all are known.
  LengthEstimate(const LengthModel& model, LengthGains gains, std::unique_ptr<AdaptationLaw> law);

  const Eigen::VectorXd& lengths() const noexcept { return lengths_; }
  const RowMajor& products() const noexcept { return products_; }
  /// Of the initial lengths and parameters.
  const RowMajor& initial_products() const noexcept { return start_products_; }
  /// False once an estimate has diverged, until `reset`.
  bool bounded() const noexcept;
  /// Sets the lengths, and the products with the nominal parameters; `reset` restores them.
  void start_from(const LengthModel& model, const double* lengths) noexcept;
  void reset() noexcept;
  void archive(StateArchive& state);

  /// Brings the estimates to time t under the last `adapt`, by Euler's rule; false once one has diverged.
  bool advance(double t) noexcept;
  /// The two parts of lhat' that belong to these kinematics: of the tracking error, restoring = K_p e, and of the
  /// prediction error.
  void rates(const LengthModel::Kinematics& kinematics, const Vector6d& restoring, const Eigen::Vector3d& p,
             Eigen::VectorXd& tracking, Eigen::VectorXd& prediction) const noexcept;
  /// Adapts along these and the gradient of the products, Y' s.
  void adapt(const LengthModel::Kinematics& kinematics, const Eigen::VectorXd& tracking, const Eigen::VectorXd& prediction,
             const RowMajor& gradient) noexcept;
  /// Holds the estimates until the next `adapt`.
  void freeze() noexcept;
  /// For clipped torques, and after a hold: only the predicted position counts.
  void ignore_tracking() noexcept;

 private:
  LengthGains gains_;
  std::unique_ptr<AdaptationLaw> law_;
  Eigen::VectorXd start_, lengths_, tracking_, prediction_;
  RowMajor start_products_, products_, gradient_;
  double largest_rate_ = 0.0;  // of the predicted position towards the measured one [1/s], at most
  StepClock clock_;
};

}  // namespace thunder
