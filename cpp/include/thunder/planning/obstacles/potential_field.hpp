// Artificial potential of a whole arm among convex obstacles: points of the arm are attracted to their positions at
// the goal and repelled from obstacles (Khatib, 1986).
#pragma once

#include <memory>
#include <vector>

#include "../../kernels/evaluator.hpp"
#include "../../threads/exclusive.hpp"
#include "obstacle.hpp"

namespace thunder {

/// The arm is a polyline from the first joint through the origins O_1 ... O_n of the link frames to the end effector, with
/// thickness `radius` on all sides. Forces act at these origins, at points of the links fixed by the user, and, repulsive ones
/// only, at points evenly between neighboring origins.
class PotentialField final : public Exclusive {
 public:
  struct Settings {
    double attraction;      // c in c d^2 / 2 [N/m]
    double conic_distance;  // beyond it the attraction is constant [m]
    double repulsion;       // eta in eta (1/rho - 1/rho_0)^2 / 2 [N m^3]
    double influence;       // rho_0 [m]
    double posture;         // of |q - q_goal|^2 / 2: also attracts rotations that move no origin to the goal
    double radius;          // [m]
    int interior;           // points between two origins
  };
  struct LinkPoint {
    int link;  // 0 ... n
    Eigen::Vector3d offset;
  };

  PotentialField(std::shared_ptr<const Model> model, std::vector<std::shared_ptr<const Obstacle>> obstacles,
                 const Settings& settings, const std::vector<LinkPoint>& points, const Eigen::VectorXd& goal);

  int n() const { return dynamics_.n(); }
  const Eigen::VectorXd& goal() const { return goal_; }

  /// U(q), infinite where a point touches an obstacle; its gradient goes to `gradient`, n entries.
  double potential(const double* q, double* gradient);
  /// Least distance between arm and obstacles, negative if they overlap; infinite without obstacles.
  double clearance(const double* q);
  /// True if the straight motion is free: by clearances and bounds on the motion of the arm, halving where undecided.
  bool free(const double* from, const double* to, double margin);

 private:
  struct Place {  // of two frames, weighted
    int a, b;
    double fraction;
    bool attracts;
  };
  using Reach = std::vector<double>;  // largest distance of any point of the arm from joint j

  void place_points(int interior);
  void locate(const double* q);
  void pull(int frame, const Eigen::Vector3d& force, double* gradient) const;
  double attract(const Eigen::Vector3d& p, const Eigen::Vector3d& goal, Eigen::Vector3d& slope) const;
  double repel(const Eigen::Vector3d& p, Eigen::Vector3d& slope) const;
  double segment_distance(const Obstacle& obstacle, const Eigen::Vector3d& a, const Eigen::Vector3d& b) const;
  Reach reach() const;
  bool free_between(const Eigen::VectorXd& from, double before, const Eigen::VectorXd& to, double after, double margin,
                    int depth);

  Evaluator dynamics_;
  std::vector<std::shared_ptr<const Obstacle>> obstacles_;
  Settings settings_;
  Eigen::VectorXd goal_;
  std::vector<Frame<double>> frames_;  // the polyline, then the user's points
  int polyline_ = 0;                   // frames in it
  std::vector<Place> places_;
  std::vector<Pose<double>> joints_;  // of the joint frames
  std::vector<Eigen::Vector3d> positions_, goals_;  // of frames_
};

}  // namespace thunder
