// Columns of a regressor that follow from those of the link before, for recordings.
//
// A mass and a first moment on a revolute joint's axis, and a second moment along it, may as well belong to the link before; behind
// a prismatic joint all of the inertia may. In rows of joints before, these columns are then combinations of columns of
// the link before (Gautier and Khalil, 1990), and between axes at right angles of one or two of them.
#pragma once

#include "../model/inertia.hpp"

namespace thunder {

inline bool known_to_be(double x, double value) { return x == value; }
template <class P>
bool known_to_be(const P& x, double value) {
  return x.is(value);
}

/// A unit of some parameter of link i as parameters of the link before.
template <class P>
struct MovedUnit {
  P coefficient[kLinkParameters];

  MovedUnit(const Link<P>& link, const BodyInertia<P>& unit) {
    const P one(1.0), o(0.0), &ca = link.cos_alpha, &sa = link.sin_alpha;
    const bool revolute = link.type == JointType::revolute;  // then the unit does not change with the turn
    const P c = revolute ? one : link.cos_theta, s = revolute ? o : link.sin_theta;
    BodyInertia<P> body = moved(unit, Pose<P>{{c, -s, o, ca * s, ca * c, -sa, sa * s, sa * c, ca}, link.p});
    int k = 0;
    each(body, [&](P& x) { coefficient[k++] = x; });
  }
  /// Operations of `combination`, if coefficients are numbers.
  int cost() const {
    int count = -1;
    for (const P& c : coefficient)
      if (!known_to_be(c, 0.0)) count += known_to_be(c, 1.0) || known_to_be(c, -1.0) ? 1 : 2;
    return count;
  }
  template <class S>
  S combination(const S* block) const {
    S sum(0.0);
    for (int k = 0; k < kLinkParameters; ++k) sum += block[k] * coefficient[k];
    return sum;
  }
};

/// Where that takes fewer operations, the entries of link i in rows of joints before it from those of link i - 1.
template <class S, class P>
void take_dependent_columns(const ChainView<P>& chain, int i, int p, S* Y) {
  if (i == 0 || chain.links[i].has_offset || chain.links[i - 1].has_offset) return;
  const Link<P>& link = chain.links[i];
  const int before = kLinkParameters * (i - 1), own = kLinkParameters * i;
  const P one(1.0), o(0.0);
  const auto take = [&](const BodyInertia<P>& body, int column, int direct_cost) {
    const MovedUnit<P> unit(link, body);
    if (unit.cost() >= direct_cost) return;
    for (int j = 0; j < i; ++j) Y[j * p + own + column] = unit.combination(Y + j * p + before);
  };
  if (link.type == JointType::prismatic) {
    for (int k = 0; k < 6; ++k) {
      P I[6] = {o, o, o, o, o, o};
      I[k] = one;
      take({o, {o, o, o}, {I[0], I[1], I[2], I[3], I[4], I[5]}}, 4 + k, 5);
    }
    return;
  }
  take({one, {o, o, o}, {o, o, o, o, o, o}}, 0, 5);
  take({o, {o, o, one}, {o, o, o, o, o, o}}, 3, 9);
  // a second moment along z is I_xx and I_yy together
  const MovedUnit<P> along(link, {o, {o, o, o}, {one, o, o, one, o, o}});
  if (along.cost() + 1 >= 5) return;
  for (int j = 0; j < i; ++j)
    Y[j * p + own + 7] = along.combination(Y + j * p + before) - Y[j * p + own + 4];
}

}  // namespace thunder
