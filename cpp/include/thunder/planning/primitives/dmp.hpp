// Discrete and rhythmic dynamic movement primitives (Ijspeert, Hoffmann, Park; D4.2 (104)-(107)), a step at a time.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "../../math/state_archive.hpp"
#include "damped_step.hpp"
#include "dmp_basis.hpp"
#include "../obstacles/dynamic_potential.hpp"
#include "../../threads/exclusive.hpp"

namespace thunder {

/// tau z' = -K y - D z + N, tau y' = z, with one of
///   paper:    N = K g + (g - y0) f(x)
///   hoffmann: N = K g - K (g - y0) x + K f(x)
///   rhythmic: N = K g + K r f(x), entry by entry
/// and, in all, the force of obstacles on the first three entries. The phase is exact: x = exp(-alpha t / tau), in a rhythmic
/// primitive the angle t / tau, so that tau is the period divided by 2 pi. The linear part is integrated exactly, the rest as
/// described at DampedStep.
class Dmp final : public Exclusive {
 public:
  static constexpr int kMaxDimension = 16;
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxDimension, 1>;
  enum class Scaling { hoffmann, paper, rhythmic };
  struct Settings {
    double K, D;
    Scaling scaling;
    bool rotodilatation;  // turn and stretch f as g - y0 is turned and stretched against `displacement` (Ginesi et al., 2021)
  };

  /// weights: count x dimension; displacement: g - y0 of what was learned. Throws std::invalid_argument where sizes do not
  /// agree, gains are not positive, there is nothing to turn, or a periodic basis is not that of a rhythmic primitive.
  Dmp(DmpBasis basis, const Settings& settings, const Eigen::MatrixXd& weights, const Eigen::VectorXd& displacement);

  int dimension() const noexcept { return dimension_; }
  const DmpBasis& basis() const noexcept { return basis_; }

  /// Resets to time 0. velocity: y', may be null for rest. amplitude: r, null for ones; angle: the phase; both of rhythmic
  /// primitives only.
  void reset(const double* start, const double* goal, double tau, const double* velocity, const double* amplitude = nullptr,
             double angle = 0.0) noexcept;
  /// Between steps. Goal and amplitude are taken at once, or approached with the time constant of the filter.
  void set_goal(const double* goal) noexcept;
  void set_amplitude(const double* amplitude) noexcept;
  /// Phase, position and velocity do not change.
  void set_tau(double tau) noexcept;
  /// Time constant [s] with which goal and amplitude in use follow those that were set; 0 for none.
  void set_goal_filter(double time_constant) noexcept { filter_ = time_constant; }
  /// Obstacles at their positions at time 0; allocates.
  void set_obstacles(const DynamicPotential& field, std::vector<RepellingSphere> spheres);

  void step(double dt) noexcept;
  void archive(StateArchive& state);

  double time() const noexcept { return time_; }
  double tau() const noexcept { return tau_; }
  double phase() const noexcept { return x_; }
  const Vector& goal() const noexcept { return goal_; }
  const Vector& amplitude() const noexcept { return amplitude_; }
  const Vector& position() const noexcept { return y_; }
  Vector velocity() const noexcept { return z_ / tau_; }
  Vector acceleration() const noexcept;
  /// The derivative of the acceleration along the motion, exact.
  Vector jerk() const noexcept;

 private:
  template <class S>
  void drive(const S& x, const S* raw, const S* goal, const S* amplitude, S* N) const noexcept;
  template <class S>
  void turn(const S* goal, S* f) const noexcept;
  template <class S>
  void couple(const S* y, const S* z, const S& t, S* N) const noexcept;
  Vector filtered(const Vector& current, const Vector& target, double dt) const noexcept;
  Vector coupled(const Vector& N, const Vector& y, const Vector& z, double t) const noexcept;
  void advance(const Vector (&N)[3]) noexcept;
  void advance_among_obstacles(const Vector (&N)[3], double dt) noexcept;

  DmpBasis basis_;
  Settings settings_;
  int dimension_;
  std::vector<double> weights_;  // function after function
  Vector displacement_;
  DynamicPotential field_{};
  std::vector<RepellingSphere> spheres_;
  DampedStep step_;
  Vector y_, z_, start_, goal_, target_, raw_;  // raw_: f at x_, as learned
  Vector amplitude_, amplitude_target_;
  double tau_ = 1.0, time_ = 0.0, elapsed_ = 0.0, x_ = 1.0, filter_ = 0.0;
};

}  // namespace thunder
