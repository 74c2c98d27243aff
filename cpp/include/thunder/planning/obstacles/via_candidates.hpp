// Candidate via points of a path, in the order of the polyline from start over the point to the goal.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace thunder {

/// Computed once for a number of points and a seed; identical on every platform.
class ViaCandidates {
 public:
  enum class Method {
    uniform,   // D4.2, section 5.1.2: uniform in a cube about the middle of start and goal
    ellipsoid  // on ellipsoids whose foci are start and goal, low discrepancy
  };

  /// half_width: half the cube's edges; largest distance of the ellipsoids from the middle of the straight line [m].
  ViaCandidates(Method method, int count, std::uint64_t seed, double half_width);

  int count() const noexcept { return static_cast<int>(table_.size()); }
  /// From the shortest polyline on.
  void begin(const Eigen::Vector3d& start, const Eigen::Vector3d& goal) noexcept;
  /// False when no candidate remains.
  bool next(Eigen::Vector3d& via) noexcept;
  /// Candidate k in the order of the table, which is the order of length for ellipsoids and no order for the cube.
  Eigen::Vector3d at(int k) const noexcept;

 private:
  struct Place {
    double length;
    int k;
    bool operator<(const Place& other) const noexcept {  // a heap has its largest on top
      return length != other.length ? length > other.length : k > other.k;
    }
  };

  Method method_;
  double half_width_;
  std::vector<Eigen::Vector3d> table_;  // cube: -1 to 1; ellipsoid: radius 0 to 1 ascending, place along, angle
  std::vector<Eigen::Vector2d> turns_;  // ellipsoid: cosine and sine of the angle
  std::vector<Place> heap_;
  int left_ = 0;  // in the heap, or of the table
  Eigen::Vector3d middle_ = Eigen::Vector3d::Zero();
  Eigen::Matrix3d frame_ = Eigen::Matrix3d::Identity();
  double focal_ = 0.0;  // half the distance of the foci
};

}  // namespace thunder
