// Repulsive forces of spheres on chosen points of the arm (D4.2, eqs. 109, 110), bounded.
#pragma once

#include <limits>
#include <vector>

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"
#include "../math/state_archive.hpp"

namespace thunder {

class Repulsion {
 public:
  struct Sphere {
    Eigen::Vector3d center;  // in the world
    double radius;
  };
  /// A force gain (1/d - 1/influence) along the way out, none past `influence`, `largest_force` at most. With gain 1,
  /// no radius, an infinite influence and no bound it is the paper's.
  struct Shape {
    double gain = 1.0;                                             // [N m]
    double influence = std::numeric_limits<double>::infinity();    // [m] from the surface
    double largest_force = std::numeric_limits<double>::infinity();
  };

  /// Frames whose origins are repelled.
  Repulsion(std::vector<Frame<double>> points, Shape shape, int n)
      : points_(std::move(points)), shape_(shape), poses_(points_.size()), J_(6 * points_.size(), n) {}

  void set_spheres(std::vector<Sphere> spheres) { spheres_ = std::move(spheres); }
  const std::vector<Sphere>& spheres() const noexcept { return spheres_; }

  void archive(StateArchive& state) {
    spheres_.resize(state.count(spheres_.size(), 4));
    for (Sphere& sphere : spheres_) state(sphere.center, sphere.radius);
  }

  /// tau += sum of J_i' F_i
  void add_torque(const Evaluator& dynamics, const double* q, Eigen::VectorXd& tau) noexcept;

 private:
  Eigen::Vector3d force(const Eigen::Vector3d& point) const noexcept;

  std::vector<Frame<double>> points_;
  std::vector<Sphere> spheres_;
  Shape shape_;
  std::vector<Pose<double>> poses_;  // of the points
  RowMajor J_;                       // Jacobians one below the other
};

}  // namespace thunder
