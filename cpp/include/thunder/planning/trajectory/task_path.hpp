// Task-space trajectories: portions of path and turns, each moved along by a timing law, added up.
#pragma once

#include <vector>

#include "../../kinematics/reference.hpp"
#include "piecewise_polynomial.hpp"

namespace thunder {

/// Position is start + the sum of the portions' displacements, orientation the product of the turns' rotations. Portions
/// that overlap in time pass near the point between them instead of through it (Siciliano et al., 2009, section 4.3.3:
/// via points by anticipation), and velocity is continuous wherever each law begins and ends at rest.
class TaskPath final : public TaskReferenceSource {
 public:
  /// Displacement s chord + (cos(s angle) - 1) u + sin(s angle) w: straight for u = w = 0, an arc of a circle where chord
  /// is zero and u, w are its perpendicular radii. The law takes s from 0 to 1.
  struct Portion {
    PiecewisePolynomial law;
    Eigen::Vector3d chord, u, w;
    double angle;
  };
  /// Rotation by s angle about an axis of unit length in the world, after those before it.
  struct Turn {
    PiecewisePolynomial law;
    Eigen::Vector3d axis;
    double angle;
  };

  TaskPath(const Eigen::Vector3d& p, const Eigen::Matrix3d& R, std::vector<Portion> portions, std::vector<Turn> turns);
  TaskReference blank() const override { return {}; }
  void at(double t, TaskReference& reference) const noexcept override;
  double end() const noexcept { return end_; }

 private:
  /// s and its derivatives. One law ends where the next begins: at that instant the next one counts.
  void progress(const PiecewisePolynomial& law, double t, double (&s)[3]) const noexcept;
  void move(const Portion& portion, double t, TaskReference& reference) const noexcept;
  void turn(const Turn& turn, double t, TaskReference& reference) const noexcept;

  Eigen::Vector3d p_;
  Eigen::Matrix3d R_;
  std::vector<Portion> portions_;
  std::vector<Turn> turns_;
  double end_ = 0.0;
};

}  // namespace thunder
