// What planning is measured on: components that look like those of reaches, and random reaches among spheres.
#pragma once

#include <thunder/planning/obstacles/clearance.hpp>
#include <thunder/planning/functional/functional_planner.hpp>
#include <thunder/math/random.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace bench {

/// Sizes of a model as fitted by default: 15 B-splines of degree 5 have 10 pieces.
struct ModelSize {
  int dimension = 3, components = 12, pieces = 10;
  bool joint = false, aligned = false;
};

/// Values and derivatives of a scalar function at both ends of a piece to the quintic that has them.
template <class Function>
void quintic_piece(const Function& f, double from, double to, double* points, int stride) {
  const double h = to - from;
  double a[3], b[3];
  f(from, a);
  f(to, b);
  const double p[] = {a[0],
                      a[0] + h * a[1] / 5.0,
                      a[0] + 2.0 * h * a[1] / 5.0 + h * h * a[2] / 20.0,
                      b[0] - 2.0 * h * b[1] / 5.0 + h * h * b[2] / 20.0,
                      b[0] - h * b[1] / 5.0,
                      b[0]};
  for (int j = 0; j < 6; ++j) points[j * stride] = p[j];
}

/// S_0 is a minimum-jerk motion in every degree of freedom; the components are straight lines, parabolas and cosines with
/// variances that fall with the sixth power of the frequency, as those of motions with little jerk do.
inline thunder::FunctionalModel reaching_model(const ModelSize& size) {
  std::vector<double> breaks, mean, functions, variances;
  for (int k = 0; k <= size.pieces; ++k) breaks.push_back(double(k) / size.pieces);
  const int d = size.dimension, block = 6 * d;
  const auto append = [&](std::vector<double>& to, const auto& f) {
    for (int k = 0; k < size.pieces; ++k) {
      to.resize(to.size() + std::size_t(block));
      for (int dof = 0; dof < d; ++dof) {
        const auto of_dof = [&](double tau, double* out) { f(tau, dof, out); };
        quintic_piece(of_dof, breaks[k], breaks[k + 1], to.data() + to.size() - block + dof, d);
      }
    }
  };
  append(mean, [&](double t, int dof, double* out) {
    const double scale = size.aligned ? (dof == 0 ? 1.0 : 0.0) : 0.1 * (dof + 1);
    out[0] = scale * t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
    out[1] = scale * 30.0 * t * t * (1.0 - t) * (1.0 - t);
    out[2] = scale * 60.0 * t * (1.0 - 3.0 * t + 2.0 * t * t);
  });
  for (int i = 0; i < size.components; ++i) {
    const int shape = size.joint ? i / d : i;
    const double w = 3.141592653589793 * (shape - 1);
    append(functions, [&](double t, int dof, double* out) {
      const double scale = !size.joint || i % d == dof ? 1.0 : 0.3;  // joint: every one moves them all
      out[0] = scale * (shape == 0 ? t : shape == 1 ? t * t : std::cos(w * t));
      out[1] = scale * (shape == 0 ? 1.0 : shape == 1 ? 2.0 * t : -w * std::sin(w * t));
      out[2] = scale * (shape == 0 ? 0.0 : shape == 1 ? 2.0 : -w * w * std::cos(w * t));
    });
    for (int dof = 0; dof < (size.joint ? 1 : d); ++dof) variances.push_back(shape < 2 ? 1.0 : std::pow(w, -6.0));
  }
  return {breaks, d, size.joint, size.aligned, mean, functions, variances};
}

struct Reach {
  thunder::BoundaryState from, to;
  thunder::ObstacleSet obstacles;
};

constexpr double kReachDuration = 5.0, kMargin = 0.05;

/// Reaches of 1.1 to 1.3 m with so many spheres of 5 to 12 cm that the straight line runs into, or next to it (every
/// other one beyond the second), none at start or goal: like the scenarios of the validation of D4.2, section 5.2.2.
class Reaches {
 public:
  explicit Reaches(std::uint64_t seed, int dimension = 3) : random_(seed), dimension_(dimension) {}

  Reach operator()(int spheres) {
    Reach reach{thunder::BoundaryState(dimension_), thunder::BoundaryState(dimension_), {}};
    // one draw a statement: in which order operands are evaluated is for the compiler to choose
    const double length = between(1.1, 1.3);
    const Eigen::Vector3d half = 0.5 * length * direction(), middle = 0.1 * direction();
    const Eigen::Vector3d start = middle - half, goal = middle + half;
    reach.from.x.head<3>() = start;
    reach.to.x.head<3>() = goal;
    std::vector<thunder::MovingObstacle> obstacles;
    for (int k = 0; k < spheres; ++k) obstacles.push_back({sphere(start, goal, k, spheres), Eigen::Vector3d::Zero()});
    reach.obstacles = thunder::ObstacleSet(obstacles);
    return reach;
  }

 private:
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  Eigen::Vector3d direction() {
    Eigen::Vector3d v;
    for (int k = 0; k < 3; ++k) v[k] = random_.normal();
    return v.normalized();
  }

  std::shared_ptr<const thunder::Sphere> sphere(const Eigen::Vector3d& start, const Eigen::Vector3d& goal, int k,
                                                int count) {
    const bool beside = k >= 2 && k % 2 == 0;
    for (;;) {
      const double along = 0.15 + 0.7 * (k + random_.uniform()) / count, radius = between(0.05, 0.12);
      const Eigen::Vector3d aside = (goal - start).cross(direction()).normalized();
      const Eigen::Vector3d center =
          start + along * (goal - start) + aside * (beside ? between(0.15, 0.35) : between(0.0, 0.05));
      if (std::min((center - start).norm(), (center - goal).norm()) > radius + kMargin + 0.02)
        return std::make_shared<thunder::Sphere>(center, radius);
    }
  }

  thunder::Random random_;
  int dimension_;
};

}  // namespace bench
