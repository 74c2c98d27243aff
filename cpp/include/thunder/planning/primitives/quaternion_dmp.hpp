// Movement primitives of orientation (Ude et al., 2014).
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "../../math/state_archive.hpp"
#include "dmp_basis.hpp"
#include "../../threads/exclusive.hpp"

namespace thunder {

/// With e(a, b) = 2 log(a b*), the rotation vector from b to a by the shorter way, world axes, and eta = tau w:
///   tau eta' = K e(g, q) - D eta + forcing,  tau q' = eta q / 2,  tau x' = -alpha x
///   paper:    forcing = e(g, q0) f(x), entry by entry (Ude's D_o)
///   hoffmann: forcing = -K e(g, q0) x + K f(x)
/// Integrated on the group by Munthe-Kaas' method with the classical tableau; q is of unit length always.
class QuaternionDmp final : public Exclusive {
 public:
  struct Settings {
    double K, D;
    bool paper;
  };

  /// weights: count x 3. Throws std::invalid_argument where they are not, or gains are not positive.
  QuaternionDmp(DmpBasis basis, const Settings& settings, const Eigen::MatrixXd& weights);

  const DmpBasis& basis() const noexcept { return basis_; }

  void reset(const Eigen::Quaterniond& start, const Eigen::Quaterniond& goal, double tau,
             const Eigen::Vector3d& velocity) noexcept;
  void set_goal(const Eigen::Quaterniond& goal) noexcept { goal_ = goal.normalized(); }
  /// Phase, orientation and angular velocity do not change.
  void set_tau(double tau) noexcept;
  void step(double dt) noexcept;
  void archive(StateArchive& state) {
    state(q_.coeffs(), start_.coeffs(), goal_.coeffs(), eta_, tau_, time_, elapsed_, x_);
  }

  double time() const noexcept { return time_; }
  double tau() const noexcept { return tau_; }
  double phase() const noexcept { return x_; }
  const Eigen::Quaterniond& goal() const noexcept { return goal_; }
  const Eigen::Quaterniond& orientation() const noexcept { return q_; }
  Eigen::Vector3d velocity() const noexcept { return eta_ / tau_; }
  Eigen::Vector3d acceleration() const noexcept { return slope(q_, eta_, elapsed_) / (tau_ * tau_); }

 private:
  void advance(double h) noexcept;
  Eigen::Vector3d slope(const Eigen::Quaterniond& q, const Eigen::Vector3d& eta, double elapsed) const noexcept;

  DmpBasis basis_;
  Settings settings_;
  std::vector<double> weights_;
  Eigen::Quaterniond q_, start_, goal_;
  Eigen::Vector3d eta_ = Eigen::Vector3d::Zero();
  double tau_ = 1.0, time_ = 0.0, elapsed_ = 0.0, x_ = 1.0;
};

}  // namespace thunder
