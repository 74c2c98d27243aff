// Analytic inverse kinematics of elbow arms with a spherical wrist, all branches (lectures 10 and 11).
#pragma once

#include <Eigen/Dense>
#include <array>

namespace thunder {

/// Six revolute joints: the last three axes meet in one point, each at a right angle to the next; the second and third
/// are parallel, and the first is not parallel to them. Offsets of shoulder and elbow are free.
class SphericalWrist {
 public:
  /// The arm at q = 0, in the world.
  struct Geometry {
    std::array<Eigen::Vector3d, 6> axes;    // unit
    std::array<Eigen::Vector3d, 3> points;  // on the first three axes
    Eigen::Vector3d wrist;                  // where the last three meet
    Eigen::Vector3d p;                      // pose of the frame that is to reach the target
    Eigen::Matrix3d R;
  };
  using Joints = Eigen::Matrix<double, 6, 1>;

  /// At most eight; angles from -pi to pi.
  struct Solutions {
    std::array<Joints, 8> q;
    int count = 0;
  };

  explicit SphericalWrist(const Geometry& geometry);
  /// `near`: what joints are set to that the pose leaves free, at a singular wrist or shoulder.
  Solutions solve(const Eigen::Vector3d& p, const Eigen::Matrix3d& R, const Joints& near) const noexcept;

 private:
  void solve_elbow(double q1, const Eigen::Vector3d& wrist, const Eigen::Matrix3d& turn, const Joints& near,
                   Solutions& solutions) const noexcept;
  void solve_wrist(const Eigen::Vector3d& arm, const Eigen::Matrix3d& turn, const Joints& near,
                   Solutions& solutions) const noexcept;
  void add(const Joints& q, Solutions& solutions) const noexcept;

  Geometry g_;
  Eigen::Vector3d wrist_in_frame_;
};

}  // namespace thunder
