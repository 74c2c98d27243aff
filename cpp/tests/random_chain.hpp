// Random chains as kernels see them, with everything a chain may have.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "thunder/model/chain.hpp"

namespace chains {

using namespace thunder;

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  double operator()() { return std::uniform_real_distribution<double>(-1.0, 1.0)(engine); }
  bool chance(double p) { return (*this)() < 2.0 * p - 1.0; }
  Vec3<double> vector() { return {(*this)(), (*this)(), (*this)()}; }
  Vec3<double> direction() {
    const Vec3<double> v = vector();
    return v * (1.0 / std::sqrt(dot(v, v)));
  }
};

/// Quarter turns are common in arms: they decide which entries are zero.
inline double random_alpha(Random& random) {
  if (random.chance(0.3)) return 0.0;
  if (random.chance(0.5)) return random.chance(0.5) ? M_PI_2 : -M_PI_2;
  return 3.0 * random();
}

/// Owns what a ChainView points to.
struct RandomChain {
  std::vector<Link<double>> links;
  OwnedJoints<BodyInertia, double> bodies;
  std::vector<double> theta, revolute;  // padded
  Pose<double> root{};
  Vec3<double> gravity{};
  std::vector<Rotor<double>> rotors;
  bool armature = false;

  /// Room for n links and none of them yet.
  explicit RandomChain(int n) : bodies(n), theta(padded_joints(n)), revolute(padded_joints(n)) {}
  RandomChain(Random& random, int n) : RandomChain(n) {
    for (int i = 0; i < n; ++i) add_link(random, random.chance(0.65));
    const Vec3<double> axis = random.direction();
    root.p = random.vector();
    const double angle = random.chance(0.5) ? 0.0 : 3.0 * random();  // by Rodrigues
    root.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const Mat3<double> K{0.0, -axis.z, axis.y, axis.z, 0.0, -axis.x, -axis.y, axis.x, 0.0};
    const Mat3<double> K2 = K * K;
    add_scaled(K, std::sin(angle));
    add_scaled(K2, 1.0 - std::cos(angle));
    gravity = random.chance(0.5) ? Vec3<double>{0.0, 0.0, -9.81} : random.vector() * 9.81;
    armature = random.chance(0.5);
    for (int r = 0; r < n && random.chance(0.4); ++r) add_rotor(random);
  }

  void add_scaled(Mat3<double> K, double k) {
    double* R = &root.R.xx;
    const double* A = &K.xx;
    for (int i = 0; i < 9; ++i) R[i] += k * A[i];
  }

  void add_link(Random& random, bool is_revolute) {
    const int i = static_cast<int>(links.size());
    Link<double> link{};
    link.type = is_revolute ? JointType::revolute : JointType::prismatic;
    const double alpha = random_alpha(random);
    link.cos_alpha = std::cos(alpha), link.sin_alpha = std::sin(alpha);
    link.p = random.vector();
    if (i == 0) link.cos_alpha = 1.0, link.sin_alpha = 0.0, link.p = {0.0, 0.0, 0.0};  // as the normal form has it
    link.theta = random.chance(0.5) ? 0.0 : 3.0 * random();
    link.cos_theta = std::cos(link.theta), link.sin_theta = std::sin(link.theta);
    link.armature = 0.1 + 0.05 * random();
    links.push_back(link);
    theta[i] = link.theta;
    revolute[i] = is_revolute;
    // any ten numbers: nothing here needs them to be physical
    bodies.view().set(i, {2.0 + random(), random.vector(), {4.0 + random(), random(), random(), 4.0 + random(), random(), 4.0 + random()}});
  }

  void add_rotor(Random& random) {
    const int n = static_cast<int>(links.size());
    const auto below = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(random.engine); };
    rotors.push_back({below(n), below(n + 1), random.direction(), 30.0 + 20.0 * random(), 0.01});
  }

  ChainView<double> view() const {
    ChainView<double> chain{};
    chain.n = static_cast<int>(links.size());
    chain.links = links.data();
    chain.bodies = bodies.view();
    chain.theta = theta.data();
    chain.revolute = revolute.data();
    chain.all_revolute = true;
    for (const auto& link : links) chain.all_revolute = chain.all_revolute && link.type == JointType::revolute;
    chain.root = root;
    chain.gravity = gravity;
    chain.rotor_count = static_cast<int>(rotors.size());
    chain.rotors = rotors.data();
    chain.has_armature = armature;
    return chain;
  }
};

}  // namespace chains
