// Inverse dynamics and regressors for recordings that keep pieces: the computation common to all joints is one function, called for
// each of them, with the numbers of the link among its arguments. Fewer lines of code to fetch than straight operations, and
// regressors have their rows in packs.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include "../math/outline.hpp"
#include "joint_steps.hpp"

namespace thunder {

/// Fixed numbers of scalars, in a row.
template <class S, std::size_t N>
struct Row {
  S entry[N];
};
template <class S, std::size_t N, class F>
THUNDER_INLINE void each(Row<S, N>& t, F&& f) {
  for (S& x : t.entry) f(x);
}

/// Relative orientation of the axes of two joints; each case has its own function, which omits the zero terms.
enum class AxisPair { right_angle, parallel, skew };

/// Entries ca, sa, p of a step, fewer where the axes make them 0 and 1; the turn; and the position, of a prismatic joint.
template <AxisPair axes, bool revolute, class S, class P, std::size_t N>
THUNDER_INLINE JointStep<S, P> joined(const Row<P, N>& link, const S& s, const S& c, const S& q) {
  const P* p = link.entry + N - 3;
  const P ca = axes == AxisPair::right_angle ? P(0.0) : axes == AxisPair::parallel ? P(1.0) : link.entry[0];
  const P sa = axes == AxisPair::parallel ? P(0.0) : p[-1];
  JointStep<S, P> step(ca, sa, s, c, as<S>(Vec3<P>{p[0], p[1], p[2]}));
  if constexpr (!revolute) {
    step.p.y -= q * sa;
    step.p.z += q * ca;
  }
  return step;
}

template <AxisPair axes, class S, class P, std::size_t N, class F, class... A>
auto joint_piece_of(std::string name, const Row<P, N>& numbers, bool revolute, const Turn<S>& turn, const S& q, const F& f,
                    const A&... arguments) {
  name += axes == AxisPair::right_angle ? "_right" : axes == AxisPair::parallel ? "_parallel" : "";
  if (revolute)
    return uniform<S>(
        (name + "_R").c_str(),
        [f](const Row<P, N>& l, const S& s, const S& c, const A&... a) {
          return f(std::true_type{}, joined<axes, true>(l, s, c, S(0.0)), a...);
        },
        numbers, turn.s, turn.c, arguments...);
  return uniform<S>(
      (name + "_P").c_str(),
      [f](const Row<P, N>& l, const S& s, const S& c, const S& x, const A&... a) {
        return f(std::false_type{}, joined<axes, false>(l, s, c, x), a...);
      },
      numbers, turn.s, turn.c, q, arguments...);
}

/// f(is it revolute?, its step, arguments...) as a piece of a joint.
template <class S, class P, class F, class... A>
auto joint_piece(const char* name, const Link<P>& link, const Turn<S>& turn, const S& q, const F& f, const A&... arguments) {
  const bool revolute = link.type == JointType::revolute;
  const P &ca = link.cos_alpha, &sa = link.sin_alpha;
  const Vec3<P>& p = link.p;
  if (Outliner<S>::is(ca, 0.0))
    return joint_piece_of<AxisPair::right_angle>(name, Row<P, 4>{{sa, p.x, p.y, p.z}}, revolute, turn, q, f, arguments...);
  if (Outliner<S>::is(ca, 1.0) && Outliner<S>::is(sa, 0.0))
    return joint_piece_of<AxisPair::parallel>(name, Row<P, 3>{{p.x, p.y, p.z}}, revolute, turn, q, f, arguments...);
  return joint_piece_of<AxisPair::skew>(name, Row<P, 5>{{ca, sa, p.x, p.y, p.z}}, revolute, turn, q, f, arguments...);
}

}  // namespace thunder
