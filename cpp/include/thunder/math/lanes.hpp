// One kernel source, two ways through the joints: a pack of joints at a time where the scalar is `One` double, one by one
// for every other scalar (a pack of states, a dual number, a recording scalar).
//
// Values of all joints are stored field by field (`Joints`), so that the same field of neighboring joints is one load.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "limits.hpp"
#include "pack.hpp"
#include "workspace.hpp"

namespace thunder {

/// The scalar that loops over joints use, and how many joints are stored side by side.
template <class S>
struct LaneTraits {
  using Lane = S;
  static constexpr int width = 1, block = 1;
};
template <>
struct LaneTraits<double> {  // of the model's data, which every instruction set reads
  using Lane = double;
  static constexpr int width = 1, block = kJointBlock;
};
template <class Isa>
struct LaneTraits<One<Isa>> {
  using Lane = Pack<Isa::joint_lanes, Isa>;
  static constexpr int width = Isa::joint_lanes, block = kJointBlock;
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
    for (int l = 0; l < count; ++l) p[l] = S(lane.v[l]);
  }
}
/// Lane l.
template <class S, class L>
THUNDER_INLINE S lane_value(const L& lane, [[maybe_unused]] int l) {
  if constexpr (std::is_same_v<L, S>)
    return lane;
  else
    return S(lane.v[l]);
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

/// A value T<S> for every joint, T an aggregate of S alone: a view of memory where blocks of joints are stored field by field.
template <template <class> class T, class S>
struct Joints {
  static constexpr int kFields = sizeof(T<S>) / sizeof(S), kBlock = LaneTraits<S>::block;
  S* data = nullptr;

  static constexpr int size(int n) { return kFields * (kBlock == 1 ? n : padded_joints(n)); }

  Joints() = default;
  THUNDER_INLINE explicit Joints(S* memory) : data(memory) {}
  THUNDER_INLINE Joints(Workspace& work, int n) : data(work.take<S>(size(n))) {}

  THUNDER_INLINE T<S> get(int i) const {
    T<S> value;
    const S* p = at(i);
    each(value, [&](S& x) { x = *p, p += kBlock; });
    return value;
  }
  THUNDER_INLINE void set(int i, T<S> value) const {
    S* p = at(i);
    each(value, [&](S& x) { *p = x, p += kBlock; });
  }
  /// The joints of lane i, as packs L; i is a multiple of their width.
  template <class L = Lane<S>>
  THUNDER_INLINE T<L> load(int i) const {
    T<L> value;
    const S* p = at(i);
    each(value, [&](L& x) { x = load_lanes<L>(p), p += kBlock; });
    return value;
  }
  THUNDER_INLINE void store(int i, T<Lane<S>> value) const {
    S* p = at(i);
    each(value, [&](Lane<S>& x) { store_lanes(x, p), p += kBlock; });
  }
  /// All fields of joint i zero; i may be one of padding.
  THUNDER_INLINE void clear(int i) const {
    for (int f = 0; f < kFields; ++f) at(i)[f * kBlock] = S(0.0);
  }
  /// Zeros behind the last joint, up to a whole pack: idle lanes then compute harmless numbers.
  THUNDER_INLINE void pad(int n) const {
    if constexpr (kLanes<S> > 1)
      for (int i = n; i % kLanes<S> != 0; ++i) clear(i);
  }
  /// Of each joint, the sum over it and all joints behind it.
  THUNDER_INLINE void sum_from_tip(int n) const {
    T<S> sum = get(n - 1);
    for (int i = n - 2; i >= 0; --i) {
      S* p = at(i);
      each(sum, [&](S& x) { *p = x = x + *p, p += kBlock; });
    }
  }

 private:
  THUNDER_INLINE S* at(int i) const {
    if constexpr (kBlock == 1) return data + static_cast<std::ptrdiff_t>(i) * kFields;
    const auto k = static_cast<unsigned>(i);
    return data + (k / kBlock * (kFields * kBlock) + k % kBlock);
  }
};

/// The same with its own memory, zero at first.
template <template <class> class T, class S>
class OwnedJoints {
 public:
  OwnedJoints() = default;
  explicit OwnedJoints(int n) : values_(Joints<T, S>::size(n), S(0.0)) {}
  Joints<T, S> view() const { return Joints<T, S>(const_cast<S*>(values_.data())); }

 private:
  std::vector<S> values_;
};

}  // namespace thunder
