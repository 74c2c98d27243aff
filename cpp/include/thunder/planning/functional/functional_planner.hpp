// Motion between two states in closed form: functional components under a few linear constraints.
#pragma once

#include <vector>

#include "../../math/matrices.hpp"
#include "../trajectory/bezier_path.hpp"
#include "functional_model.hpp"
#include "travel_limits.hpp"

namespace thunder {

/// A number per degree of freedom, without allocation.
using DofVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxDofs, 1>;

/// Position, velocity and acceleration in real time.
struct BoundaryState {
  BoundaryState() = default;
  explicit BoundaryState(int dimension)
      : x(DofVector::Zero(dimension)), v(DofVector::Zero(dimension)), a(DofVector::Zero(dimension)) {}
  void archive(StateArchive& state) { state(x, v, a); }
  DofVector x, v, a;
};

/// Integral of squared jerk of a segment as a function of the free states at its ends: z' H z + 2 g' z + c with
/// z = (v from, a from, v to, a to), d numbers each; without accelerations where the planner has no constraint on them.
struct JerkCost {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 4 * kMaxDofs, 4 * kMaxDofs> H;
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 4 * kMaxDofs, 1> g;
  double c = 0.0;
};

struct PlannerSettings {
  enum class Mode {
    exact,  // D4.2, eqs. (102) and (115), corrected: as many components as needed, a square system
    map     // all components: the most likely scores of those that meet the constraints
  };
  Mode mode = Mode::map;
  int order = 3;  // constraints at both ends: 1 position, 2 and velocity, 3 and acceleration
};

/// A motion and the place in it from which it continues.
struct MotionSoFar {
  const BezierPath& path;
  double t;                       // [s]
  double tau;                     // the same in the normalized time of the components
  const DofVector &start, &goal;  // frame of an aligned model
};

/// Limits beyond which Hermite's polynomial replaces the components of a correction.
struct ReplanLimits {
  double condition;
  double deviation = 2.0;  // of the new motion from the motion so far, relative to the one that the change requires
};

/// A motion that continues another one, see `FunctionalPlanner::resume`.
struct Resumed {
  BezierPath path;
  double condition = 0.0;
  void archive(StateArchive& state) { state(path, condition, fallback); }
  bool fallback = false;  // the correction is Hermite's polynomial
};

struct MotionFrame;

/// From one state to another in a given time.
///
/// On normalized time the motion is linear in b = (x0, x1, T v0, T v1, T^2 a0, T^2 a1): x(tau) = n(tau) + M(tau) b. n and
/// M are solved for once, in Bernstein form. An aligned model does so in the frame of the path. The offsets x_bar are
/// free: with a prior, the motion would depend on the choice of the origin.
class FunctionalPlanner {
 public:
  /// Throws std::invalid_argument where the components are too few for the constraints, or cannot meet them.
  FunctionalPlanner(FunctionalModel model, PlannerSettings settings);

  const FunctionalModel& model() const noexcept { return model_; }
  const PlannerSettings& settings() const noexcept { return settings_; }
  int dimension() const noexcept { return model_.dimension; }
  /// Condition of the equilibrated linear system, the worst one of several.
  double condition() const noexcept { return condition_; }

  /// Limits of plans in physical units; none by default.
  const TravelLimits& travel_limits() const noexcept { return travel_limits_; }
  void set_travel_limits(const TravelLimits& limits) noexcept { travel_limits_ = limits; }

  /// A path of `segments` segments, each with all pieces of the model, to pass to `connect`.
  BezierPath blank(int segments = 1) const;
  /// The motion in segment number `segment`, with the whole components, S_0 included, compressed into its duration. Writes
  /// the segment's breaks, its first and last one included, and its control points.
  void connect(const BoundaryState& from, const BoundaryState& to, double t0, double duration, BezierPath& path,
               int segment) const noexcept;
  /// Mahalanobis distance of the scores of such a segment from their mean, zero.
  double score_distance(const BoundaryState& from, const BoundaryState& to, double duration) const noexcept;
  /// Cost of such a segment for any velocities and accelerations at its ends; those of `from` and `to` are ignored.
  void jerk_cost(const BoundaryState& from, const BoundaryState& to, double duration, JerkCost& cost) const noexcept;

  /// Remaining motion from time t on, to reach `goal` after `left` seconds: the motion so far, its remaining time scaled,
  /// plus a correction, which consists of the components on [tau, 1] under `order` constraints at both ends (D4.2, eq.
  /// 115, for the difference of two motions). Without a change of goal and time the motion stays the same. Writes the
  /// unknowns of the correction to `correction`, if it is not null. Allocates nothing if the path of `result` has
  /// capacity for all pieces, unless one score moves several degrees of freedom.
  void resume(const MotionSoFar& motion, const BoundaryState& goal, double left, int order, const ReplanLimits& limits,
              Resumed& result, double* correction = nullptr) const;

  /// Standard deviations of the scores of degrees of freedom first to first + size, which share them, zero for those
  /// that this number of constraints per degree of freedom does not use; for the square system, ones.
  Eigen::VectorXd score_scale(int first, int size, int constraints) const;
  /// A constraint at tau over the unknowns of those degrees of freedom: one row for each, S_0's part in `mean`. Rows of
  /// derivatives that no component moves enough to count are zero.
  void constraint_rows(double tau, int derivative, int first, int size, Eigen::Ref<RowMajor> rows, double* mean) const;

 private:
  /// Degrees of freedom with common unknowns: all of a joint model, else one by one. b is (row of the constraint, dof).
  struct System {
    int first, size;
    std::vector<double> constant;  // n: [piece][j][dof]
    std::vector<double> response;  // M: [piece][j][dof][entry of b]
    Eigen::MatrixXd cost[2];       // integral of squared jerk in (1, b): of aligned positions, of all others
    Eigen::MatrixXd deviations;    // norm of its product with (1, b): that of the scores in standard deviations
  };

  void measure_derivatives();
  double deviation(int component, int dof) const noexcept;
  void add_system(int first, int size);
  void tabulate(System& system, const Eigen::MatrixXd& unknowns) const;
  void add_deviations(System& system, const Eigen::MatrixXd& unknowns) const;
  void conditions(const MotionFrame& frame, const BoundaryState& from, const BoundaryState& to, double duration,
                  double (&all)[6][kMaxDofs]) const noexcept;
  void add_costs(System& system) const;
  void scatter_cost(const System& system, const double* fixed, const double* moves, const double* weight,
                    const double* mean, JerkCost& cost) const noexcept;

  FunctionalModel model_;
  PlannerSettings settings_;
  TravelLimits travel_limits_;
  double condition_ = 0.0;
  double least_[4][kMaxDofs] = {};  // derivatives below this are rounding errors
  std::vector<System> systems_;
};

/// The polynomial of degree 2 order - 1 between two states, into a reused path.
void hermite(const BoundaryState& from, const BoundaryState& to, int order, double t0, double duration, BezierPath& path);

}  // namespace thunder
