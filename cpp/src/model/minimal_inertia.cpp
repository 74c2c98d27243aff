#include "thunder/model/minimal_inertia.hpp"

#include <cmath>

#include "thunder/dynamics/second_moments.hpp"

namespace thunder {

namespace {

constexpr double kParallel = 1e-14;  // sine of an angle that is a rounding error

using Moments = SecondMoments<double>;

double snapped(double x) { return std::abs(x) < 1e-15 ? 0.0 : x; }

/// A body in the frame of joint i, not depending on the joint's turn or turned by its constant angle, seen from frame i-1.
Moments seen_from_before(const Link<double>& link, const Moments& body) {
  Moments b = body;
  if (link.type == JointType::prismatic) {
    const Turn<double> turn{snapped(link.sin_theta), snapped(link.cos_theta)};
    b.h = rotated_back(turn, b.h);
    b.J = rotated_back(turn, b.J);
  }
  const Tilt<double> tilt(snapped(link.cos_alpha), snapped(link.sin_alpha));
  return shifted(link.p, Moments{b.m, tilted(tilt, b.h), tilted(tilt, b.J)});
}

BodyInertia<double> inertia_of(const Moments& b) {
  const Sym3<double>& J = b.J;
  return {b.m, b.h, {J.yy + J.zz, -J.xy, -J.xz, J.xx + J.zz, -J.yz, J.xx + J.yy}};
}

/// Possible rotation of the links up to this one; if about one direction in space only, that direction in link axes.
struct Rotation {
  enum { none, one_axis, any } kind = none;
  Vec3<double> axis{0.0, 0.0, 0.0};

  bool about_z() const { return kind == one_axis && std::hypot(axis.x, axis.y) < kParallel; }
};

Rotation next_rotation(Rotation before, const Link<double>& link, bool known_step) {
  const bool revolute = link.type == JointType::revolute;
  if (before.kind == Rotation::none) {
    if (revolute) return {Rotation::one_axis, {0.0, 0.0, 1.0}};
    return before;
  }
  if (before.kind == Rotation::any || !known_step) return {Rotation::any, {}};
  const Tilt<double> tilt(snapped(link.cos_alpha), snapped(link.sin_alpha));
  Rotation here{Rotation::one_axis, rotated_back(tilt, before.axis)};
  if (!revolute) here.axis = turned(Turn<double>{link.sin_theta, link.cos_theta}, here.axis);
  if (revolute && !here.about_z()) here.kind = Rotation::any;
  return here;
}

/// True if, up to the first revolute joint, all motion and gravity are along its axis.
bool along_first_axis(const ChainView<double>& chain, const KnownNumbers& known) {
  if (!known.gravity) return false;
  Vec3<double> g = transposed_times(chain.root.R, chain.gravity);
  const double size = std::sqrt(dot(g, g));
  for (int i = 0; i < chain.n; ++i) {
    const Link<double>& link = chain.links[i];
    if (i > 0) {
      if (!known.steps[i] || std::abs(link.sin_alpha) > kParallel) return false;
      g = rotated_back(Tilt<double>(link.cos_alpha, link.sin_alpha), g);
    }
    if (std::hypot(g.x, g.y) > kParallel * size) return false;
    if (link.type == JointType::revolute) return true;
  }
  return false;
}

/// The part of a body that the link before may carry as well.
Moments movable(const Link<double>& link, const Rotation& rotation, const Moments& b) {
  if (link.type == JointType::revolute) return {b.m, {0.0, 0.0, b.h.z}, {0.0, 0.0, 0.0, 0.0, 0.0, b.J.zz}};
  if (rotation.about_z()) return {0.0, b.h, b.J};  // its place across the axis does not change
  return {0.0, {0.0, 0.0, 0.0}, b.J};
}

void remove(const Moments& part, Moments& b) {
  b.m -= part.m;
  b.h = b.h - part.h;
  const Sym3<double>&P = part.J, &J = b.J;
  b.J = {J.xx - P.xx, J.xy - P.xy, J.xz - P.xz, J.yy - P.yy, J.yz - P.yz, J.zz - P.zz};
}

/// Parameters without effect while the link rotates about one direction at most.
void drop_unidentifiable(const Link<double>& link, const Rotation& rotation, bool h_unidentifiable, Moments& b) {
  if (rotation.kind == Rotation::any) return;
  if (rotation.kind == Rotation::none || h_unidentifiable) b.h = {0.0, 0.0, 0.0};
  if (rotation.kind == Rotation::none) b.J = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  if (link.type == JointType::revolute) {
    b.J = {b.J.xx + b.J.yy, 0.0, 0.0, 0.0, 0.0, 0.0};
  } else {
    const double along = dot(b.h, rotation.axis);
    b.h = b.h - rotation.axis * along;
  }
}

}  // namespace

void minimal_bodies(const ChainView<double>& chain, const KnownNumbers& known,
                    const Joints<BodyInertia, double>& bodies) {
  const int n = chain.n;
  std::vector<Rotation> rotations(static_cast<std::size_t>(n));
  std::vector<Moments> moments(static_cast<std::size_t>(n));
  int first_revolute = n;
  for (int i = 0; i < n; ++i) {
    rotations[i] = next_rotation(i > 0 ? rotations[i - 1] : Rotation{}, chain.links[i], i > 0 && known.steps[i]);
    moments[i] = second_moments<double>(chain.bodies.get(i));
    if (first_revolute == n && chain.links[i].type == JointType::revolute) first_revolute = i;
  }
  const bool axial = along_first_axis(chain, known);
  for (int i = n - 1; i >= 0; --i) {
    if (!known.bodies[i]) {
      bodies.set(i, chain.bodies.get(i));
      continue;
    }
    const Link<double>& link = chain.links[i];
    if (i == 0 || (known.bodies[i - 1] && known.steps[i])) {
      const Moments part = movable(link, rotations[i], moments[i]);
      remove(part, moments[i]);
      if (i > 0) moments[i - 1] += seen_from_before(link, part);
    }
    drop_unidentifiable(link, rotations[i], axial && i == first_revolute, moments[i]);
    bodies.set(i, inertia_of(moments[i]));
  }
}

MinimalChain::MinimalChain(const ChainView<double>& chain, const KnownNumbers& known)
    : links(chain.links, chain.links + chain.n), bodies(chain.n), gravity(chain.gravity) {
  for (int i = 0; i < chain.n; ++i) bodies.view().set(i, chain.bodies.get(i));
  slide_origins(known);
  const OwnedJoints<BodyInertia, double> minimal(chain.n);
  minimal_bodies(view(chain), known, minimal.view());
  bodies = minimal;
  bool all_known = known.gravity && chain.all_revolute;
  for (int i = 0; i < chain.n; ++i) all_known = all_known && known.bodies[i] && (i == 0 || known.steps[i]);
  if (all_known) choose_length_unit();
}

ChainView<double> MinimalChain::view(const ChainView<double>& chain) const {
  ChainView<double> result = chain;
  result.links = links.data();
  result.bodies = bodies.view();
  result.gravity = gravity;
  return result;
}

namespace {

/// Moves the origin of a joint frame by -d along its z.
void slide(double d, int i, std::vector<Link<double>>& links, const Joints<BodyInertia, double>& bodies) {
  Link<double>& link = links[i];
  link.p.y += d * link.sin_alpha;
  link.p.z -= d * link.cos_alpha;
  if (i + 1 < static_cast<int>(links.size())) links[i + 1].p.z += d;
  bodies.set(i, inertia_of(shifted({0.0, 0.0, d}, second_moments<double>(bodies.get(i)))));
}

}  // namespace

/// Towards the tip, where fewer columns of M and C pass: of p = (a, y, z) remains (a, 0, z), of parallel axes (a, y, 0).
void MinimalChain::slide_origins(const KnownNumbers& known) {
  const int n = static_cast<int>(links.size());
  const auto known_step = [&](int i) { return i >= n || known.steps[i]; };
  for (int i = 1; i < n; ++i) {
    if (!known.bodies[i] || !known_step(i) || !known_step(i + 1)) continue;
    Link<double>& link = links[i];
    const bool across = std::abs(link.sin_alpha) > 0.1;  // else p could become large
    slide(across ? -link.p.y / link.sin_alpha : link.p.z / link.cos_alpha, i, links, bodies.view());
    (across ? link.p.y : link.p.z) = 0.0;
    if (i > 1 || !known.bodies[0]) continue;
    slide(-link.p.z, 0, links, bodies.view());  // the first origin is free as well
    link.p.z = 0.0;
  }
  for (Link<double>& link : links) link.p = {snapped(link.p.x), snapped(link.p.y), snapped(link.p.z)};
}

/// Translations by one unit cost no product. Masses are counted so that moments of inertia and torques do not change.
void MinimalChain::choose_length_unit() {
  const int n = static_cast<int>(links.size());
  const auto same = [](double a, double b) { return std::abs(std::abs(a) - b) < 1e-12 * b; };
  double unit = 0.0;
  int most = 0;
  for (Link<double>& candidate : links)
    each(candidate.p, [&](double& length) {
      int passed = 0;  // by columns of M
      for (int i = 1; i < n; ++i)
        each(links[i].p, [&](double& x) { passed += length != 0.0 && same(x, std::abs(length)) ? n - i : 0; });
      if (passed > most) most = passed, unit = std::abs(length);
    });
  if (most == 0) return;
  for (Link<double>& link : links)
    each(link.p, [&](double& x) { x = same(x, unit) ? std::copysign(1.0, x) : x / unit; });
  for (int i = 0; i < n; ++i) {
    BodyInertia<double> body = bodies.view().get(i);
    body.m *= unit * unit;
    body.h = body.h * unit;
    bodies.view().set(i, body);
  }
  gravity = gravity * (1.0 / unit);
}

}  // namespace thunder
