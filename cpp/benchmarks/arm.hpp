// A serial arm as numbers in a text file, so that every library measured here is given the same arm
// and none of them needs a parser of robot descriptions.
//
//   n  gx gy gz
//   then per link, in the order of the chain:
//   R|P   R11 R12 R13 p1  R21 R22 R23 p2  R31 R32 R33 p3   (joint frame in its parent at q = 0)
//         m  m cx  m cy  m cz  Ixx Ixy Ixz Iyy Iyz Izz      (inertia about the joint frame's origin)
//
// Every joint moves about or along the z axis of its own frame; the end effector is the last frame.
#pragma once

#include <array>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct Link {
  bool prismatic = false;
  std::array<double, 12> pose{};  // 3 x 4, row major: [R p]
  std::array<double, 10> inertia{};
};

struct Arm {
  std::array<double, 3> gravity{};
  std::vector<Link> links;
};

inline Arm read_arm(const std::string& path) {
  std::ifstream file(path);
  std::size_t n = 0;
  Arm arm;
  file >> n;
  for (double& g : arm.gravity) file >> g;
  arm.links.resize(n);
  for (Link& link : arm.links) {
    char type = 0;
    file >> type;
    link.prismatic = type == 'P';
    for (double& x : link.pose) file >> x;
    for (double& x : link.inertia) file >> x;
  }
  if (!file || n == 0) throw std::runtime_error("cannot read an arm from " + path);
  return arm;
}

}  // namespace bench
