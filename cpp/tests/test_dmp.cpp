// Steps of movement primitives: no allocation, and numbers that stay finite at every edge.
#include "allocations.hpp"
#include "check.hpp"
#include "thunder/planning/primitives/dmp.hpp"
#include "thunder/planning/primitives/quaternion_dmp.hpp"

using namespace thunder;

namespace {

constexpr BasisKind kKinds[] = {BasisKind::gaussian, BasisKind::mollifier, BasisKind::wendland_c2,
                                BasisKind::wendland_c4};

/// Every call that is made between steps, and steps long after the end, with obstacles that are met on the way.
void check_position(BasisKind kind, const Dmp::Settings& settings, int dimension) {
  Dmp dmp(DmpBasis(kind, 21, 4.0, 1.0), settings, Eigen::MatrixXd::Constant(21, dimension, 0.3),
          Eigen::VectorXd::Ones(dimension));
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(dimension), goal = Eigen::VectorXd::Ones(dimension);
  const Eigen::VectorXd other = -goal, large = 3.0 * goal;
  dmp.set_obstacles({0.5, 2.0, 0.01, 0.02, {0.1, 0.4, 0.9}},
                    {{{0.5, 0.5, 0.5}, {0.0, 0.0, 0.1}, 0.1}, {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.2}});
  dmp.set_goal_filter(0.1);
  const allocations::Scope scope;
  dmp.reset(start.data(), goal.data(), 1.0, nullptr);
  for (int k = 0; k < 3000; ++k) {
    if (k == 500) dmp.set_goal(other.data());
    if (k == 600) dmp.set_amplitude(large.data());
    if (k == 700) dmp.set_tau(0.5);
    dmp.step(k % 2 ? 1e-3 : 2e-3);
    CHECK(dmp.position().allFinite() && dmp.velocity().allFinite() && dmp.acceleration().allFinite() &&
          dmp.jerk().allFinite());
  }
  dmp.step(0.0);
  dmp.step(NAN);
  CHECK(dmp.position().allFinite());
  CHECK(scope.made() == 0);
}

void check_orientation(BasisKind kind, bool paper) {
  QuaternionDmp dmp(DmpBasis(kind, 21, 4.0, 1.0), {150.0, 24.5, paper}, Eigen::MatrixXd::Constant(21, 3, 0.3));
  const Eigen::Quaterniond there(Eigen::AngleAxisd(3.1, Eigen::Vector3d(0.6, 0.0, 0.8)));
  const allocations::Scope scope;
  dmp.reset(Eigen::Quaterniond::Identity(), there, 1.0, Eigen::Vector3d::Ones());
  for (int k = 0; k < 1000; ++k) {
    if (k == 300) dmp.set_goal(there.conjugate());
    if (k == 400) dmp.set_tau(2.0);
    dmp.step(2e-3);
    CHECK(std::abs(dmp.orientation().norm() - 1.0) < 1e-14 && dmp.acceleration().allFinite());
  }
  CHECK(scope.made() == 0);
}

}  // namespace

int main() {
  for (const BasisKind kind : kKinds) {
    for (const int dimension : {1, 2, 3, 16})
      for (const bool rotodilatation : {false, true})
        check_position(kind, {150.0, 24.5, Dmp::Scaling::hoffmann, rotodilatation}, dimension);
    check_position(kind, {150.0, 24.5, Dmp::Scaling::paper, false}, 3);
    for (const bool paper : {false, true}) check_orientation(kind, paper);
  }
  for (const int dimension : {1, 3, 16})
    check_position(BasisKind::von_mises, {150.0, 24.5, Dmp::Scaling::rhythmic, false}, dimension);
  return check::result();
}
