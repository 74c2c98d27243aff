// One kernel source, two ways through the joints: a pack of joints at a time where the scalar is a plain double,
// one by one for every other scalar (a pack of states, a dual number, a recording scalar).
//
// Values of all joints stand field by field (`Joints`), so that the same field of neighbouring joints is one load.
#pragma once

#include <cstring>
#include <type_traits>

#include "../model/limits.hpp"
#include "pack.hpp"

namespace thunder {

#ifdef __AVX2__
struct JointLanes4;
using DoubleLanes = Pack<4, JointLanes4>;
#else
struct JointLanes2;
using DoubleLanes = Pack<2, JointLanes2>;
#endif

/// The scalar that loops over joints use.
template <class S>
struct LaneTraits {
  using Lane = S;
  static constexpr int width = 1;
};
template <>
struct LaneTraits<double> {
  using Lane = DoubleLanes;
  static constexpr int width = DoubleLanes::width;
};
template <class S>
using Lane = typename LaneTraits<S>::Lane;
template <class S>
inline constexpr int kLanes = LaneTraits<S>::width;

/// Does the scalar record operations, directly or in a dual number? Then kernels choose forms in joint frames, where zeros of the
/// robot's table leave fewest.
struct Expression;
template <class S>
struct Dual;
template <class S>
inline constexpr bool kPrefersLinkFrames = false;
template <>
inline constexpr bool kPrefersLinkFrames<Expression> = true;
template <class S>
inline constexpr bool kPrefersLinkFrames<Dual<S>> = kPrefersLinkFrames<S>;

template <class L, class S>
THUNDER_INLINE L load_lanes(const S* p) {
  if constexpr (std::is_same_v<L, S>) {
    return *p;
  } else {
    L lane;
    std::memcpy(&lane.v, p, sizeof lane.v);
    return lane;
  }
}
template <class L, class S>
THUNDER_INLINE void store_lanes(const L& lane, S* p) {
  if constexpr (std::is_same_v<L, S>)
    *p = lane;
  else
    std::memcpy(p, &lane.v, sizeof lane.v);
}
/// The first `count` lanes only.
template <class L, class S>
THUNDER_INLINE void store_lanes(const L& lane, S* p, int count) {
  if constexpr (std::is_same_v<L, S>) {
    *p = lane;
  } else {
    if (count >= L::width) return store_lanes(lane, p);
    for (int l = 0; l < count; ++l) p[l] = lane.v[l];
  }
}
/// Lane l.
template <class S, class L>
THUNDER_INLINE S lane_value(const L& lane, [[maybe_unused]] int l) {
  if constexpr (std::is_same_v<L, S>)
    return lane;
  else
    return lane.v[l];
}

/// One for the joint in lane l, zero for the others.
template <class S>
THUNDER_INLINE Lane<S> one_hot([[maybe_unused]] int l) {
  using L = Lane<S>;
  if constexpr (kLanes<S> > 1) {
    const double ones[8] = {0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    static_assert(L::width <= 4);
    L lane;
    std::memcpy(&lane.v, ones + 4 - l, sizeof lane.v);
    return lane;
  } else {
    return L(1.0);
  }
}

/// A value T<S> for every joint, T an aggregate of S alone, stored field by field and padded to whole packs.
template <template <class> class T, class S>
struct Joints {
  static constexpr int kFields = sizeof(T<S>) / sizeof(S);
  static constexpr int kStride = kMaxJoints + 8;  // no power of two: fields would fall into one cache set
  alignas(32) S field[kFields][kStride];

  THUNDER_INLINE T<S> get(int i) const {
    T<S> value;
    int f = 0;
    each(value, [&](S& x) { x = field[f++][i]; });
    return value;
  }
  THUNDER_INLINE void set(int i, T<S> value) {
    int f = 0;
    each(value, [&](S& x) { field[f++][i] = x; });
  }
  THUNDER_INLINE T<Lane<S>> load(int i) const {
    T<Lane<S>> value;
    int f = 0;
    each(value, [&](Lane<S>& x) { x = load_lanes<Lane<S>>(&field[f++][i]); });
    return value;
  }
  THUNDER_INLINE void store(int i, T<Lane<S>> value) {
    int f = 0;
    each(value, [&](Lane<S>& x) { store_lanes(x, &field[f++][i]); });
  }
  /// Zeros behind the last joint, up to a whole pack: idle lanes then compute harmless numbers.
  THUNDER_INLINE void pad(int n) {
    if constexpr (kLanes<S> > 1)
      for (int i = n; i % kLanes<S> != 0; ++i)
        for (int f = 0; f < kFields; ++f) field[f][i] = S(0.0);
  }
};

}  // namespace thunder
