// W doubles side by side, one state in each lane. `Isa` keeps the same width compiled for different instruction
// sets apart: without it the linker would merge the two and an old machine would meet an unknown instruction.
#pragma once

#include "sincos.hpp"

namespace thunder {

template <int W>
struct LaneTypes;  // compilers want the width of a vector type to be a plain number
template <>
struct LaneTypes<2> {
  typedef double Lanes __attribute__((vector_size(16)));
  typedef std::int64_t Bits __attribute__((vector_size(16)));
};
template <>
struct LaneTypes<4> {
  typedef double Lanes __attribute__((vector_size(32)));
  typedef std::int64_t Bits __attribute__((vector_size(32)));
};

template <int W, class Isa>
struct Pack {
  using Lanes = typename LaneTypes<W>::Lanes;
  using Bits = typename LaneTypes<W>::Bits;
  static constexpr int width = W;
  Lanes v;

  Pack() = default;
  THUNDER_INLINE explicit Pack(Lanes lanes) : v(lanes) {}
  THUNDER_INLINE explicit Pack(double k) : v(k - Lanes{}) {}  // k - 0 broadcasts in g++ and clang alike
};

#define THUNDER_PACK_OPERATOR(op)                                                   \
  template <int W, class Isa>                                                       \
  THUNDER_INLINE Pack<W, Isa> operator op(const Pack<W, Isa>& a, const Pack<W, Isa>& b) { \
    return Pack<W, Isa>(a.v op b.v);                                                \
  }                                                                                 \
  template <int W, class Isa>                                                       \
  THUNDER_INLINE Pack<W, Isa> operator op(const Pack<W, Isa>& a, double k) {        \
    return Pack<W, Isa>(a.v op k);                                                  \
  }                                                                                 \
  template <int W, class Isa>                                                       \
  THUNDER_INLINE Pack<W, Isa> operator op(double k, const Pack<W, Isa>& a) {        \
    return Pack<W, Isa>(k op a.v);                                                  \
  }
THUNDER_PACK_OPERATOR(+)
THUNDER_PACK_OPERATOR(-)
THUNDER_PACK_OPERATOR(*)
THUNDER_PACK_OPERATOR(/)
#undef THUNDER_PACK_OPERATOR

template <int W, class Isa>
THUNDER_INLINE Pack<W, Isa> operator-(const Pack<W, Isa>& a) {
  return Pack<W, Isa>(-a.v);
}
template <int W, class Isa, class T>
THUNDER_INLINE Pack<W, Isa>& operator+=(Pack<W, Isa>& a, const T& b) {
  return a = a + b;
}
template <int W, class Isa, class T>
THUNDER_INLINE Pack<W, Isa>& operator-=(Pack<W, Isa>& a, const T& b) {
  return a = a - b;
}

template <int W, class Isa>
THUNDER_INLINE Pack<W, Isa> abs(const Pack<W, Isa>& a) {
  using Bits = typename Pack<W, Isa>::Bits;
  return Pack<W, Isa>((typename Pack<W, Isa>::Lanes)((Bits)a.v & INT64_MAX));
}
template <int W, class Isa>
THUNDER_INLINE Pack<W, Isa> copysign(const Pack<W, Isa>& a, const Pack<W, Isa>& sign) {
  using Bits = typename Pack<W, Isa>::Bits;
  return Pack<W, Isa>((typename Pack<W, Isa>::Lanes)(((Bits)a.v & INT64_MAX) | ((Bits)sign.v & INT64_MIN)));
}
template <int W, class Isa>
THUNDER_INLINE Pack<W, Isa> sqrt(const Pack<W, Isa>& a) {
  Pack<W, Isa> r;
  for (int i = 0; i < W; ++i) r.v[i] = __builtin_sqrt(a.v[i]);
  return r;
}

/// Is every lane within `bound` of zero? False for NaN.
template <int W, class Isa>
THUNDER_INLINE bool all_below(const Pack<W, Isa>& x, double bound) {
  const auto below = abs(x).v < Pack<W, Isa>(bound).v;
#ifdef __AVX__
  if constexpr (W == 4) return __builtin_ia32_movmskpd256((typename Pack<W, Isa>::Lanes)below) == 15;
#endif
#ifdef __SSE2__
  if constexpr (W == 2) return __builtin_ia32_movmskpd((typename Pack<W, Isa>::Lanes)below) == 3;
#endif
  bool all = true;
  for (int i = 0; i < W; ++i) all &= below[i] != 0;
  return all;
}

template <int W, class Isa>
THUNDER_INLINE void sincos(const Pack<W, Isa>& x, Pack<W, Isa>& s, Pack<W, Isa>& c) {
  using namespace sincos_detail;
  using Pk = Pack<W, Isa>;
  using Bits = typename Pk::Bits;
  using Lanes = typename Pk::Lanes;
  if (__builtin_expect(!all_below(x, kSincosRange), 0)) {
    s = c = x;
    for (int i = 0; i < W; ++i) {
      s.v[i] = __builtin_sin(x.v[i]);
      c.v[i] = __builtin_cos(x.v[i]);
    }
    return;
  }
  const Pk shifted = x * kTwoOverPi + kRound;
  const Pk k = shifted - kRound;
  const Bits quadrant = (Bits)shifted.v;
  const Pk r = ((x - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3;
  const Pk r2 = r * r;
  Bits s_bits = (Bits)sine(r, r2).v, c_bits = (Bits)cosine(r2).v;
  const Bits swap = (s_bits ^ c_bits) & -(quadrant & 1);
  s_bits ^= swap ^ ((quadrant & 2) << 62);
  c_bits ^= swap ^ (((quadrant + 1) & 2) << 62);
  s.v = (Lanes)s_bits;
  c.v = (Lanes)c_bits;
}

#ifdef __clang__
#define THUNDER_SHUFFLE4(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#define THUNDER_SHUFFLE2(a, b, i, j) __builtin_shufflevector(a, b, i, j)
#else
#define THUNDER_SHUFFLE2(a, b, i, j) __builtin_shuffle(a, b, Bits{i, j})
#define THUNDER_SHUFFLE4(a, b, i, j, k, l) __builtin_shuffle(a, b, Bits{i, j, k, l})
#endif

/// A pack of scalars that were just computed: loading them would wait for their stores.
template <class Pk>
THUNDER_INLINE Pk in_registers(const double* x) {
  if constexpr (Pk::width == 4)
    return Pk(typename Pk::Lanes{x[0], x[1], x[2], x[3]});
  else
    return Pk(typename Pk::Lanes{x[0], x[1]});
}
/// Entry i of each row.
template <class Pk>
THUNDER_INLINE Pk across_rows(const double* const* rows, int i) {
  if constexpr (Pk::width == 4)
    return Pk(typename Pk::Lanes{rows[0][i], rows[1][i], rows[2][i], rows[3][i]});
  else
    return Pk(typename Pk::Lanes{rows[0][i], rows[1][i]});
}

/// W x W entries at x[i..i+W) to columns i..i+W of the first `lanes` rows.
template <class Pk>
THUNDER_INLINE void transpose_block(const Pk* x, int i, double* const* rows, int lanes) {
  using Lanes = typename Pk::Lanes;
  [[maybe_unused]] typedef typename Pk::Bits Bits;
  if constexpr (Pk::width == 4) {
    const Lanes a = x[i].v, b = x[i + 1].v, c = x[i + 2].v, d = x[i + 3].v;
    const Lanes ab0 = THUNDER_SHUFFLE4(a, b, 0, 4, 2, 6), ab1 = THUNDER_SHUFFLE4(a, b, 1, 5, 3, 7);
    const Lanes cd0 = THUNDER_SHUFFLE4(c, d, 0, 4, 2, 6), cd1 = THUNDER_SHUFFLE4(c, d, 1, 5, 3, 7);
    const Lanes r0 = THUNDER_SHUFFLE4(ab0, cd0, 0, 1, 4, 5), r1 = THUNDER_SHUFFLE4(ab1, cd1, 0, 1, 4, 5);
    const Lanes r2 = THUNDER_SHUFFLE4(ab0, cd0, 2, 3, 6, 7), r3 = THUNDER_SHUFFLE4(ab1, cd1, 2, 3, 6, 7);
    __builtin_memcpy(rows[0] + i, &r0, sizeof(Lanes));
    if (lanes > 1) __builtin_memcpy(rows[1] + i, &r1, sizeof(Lanes));
    if (lanes > 2) __builtin_memcpy(rows[2] + i, &r2, sizeof(Lanes));
    if (lanes > 3) __builtin_memcpy(rows[3] + i, &r3, sizeof(Lanes));
  } else {
    const Lanes a = x[i].v, b = x[i + 1].v;
    const Lanes r0 = THUNDER_SHUFFLE2(a, b, 0, 2), r1 = THUNDER_SHUFFLE2(a, b, 1, 3);
    __builtin_memcpy(rows[0] + i, &r0, sizeof(Lanes));
    if (lanes > 1) __builtin_memcpy(rows[1] + i, &r1, sizeof(Lanes));
  }
}

/// Lane l of x[0..size) goes to rows[l], for the first `lanes` lanes.
template <class Pk>
THUNDER_INLINE void transpose_to_rows(const Pk* x, int size, double* const* rows, int lanes) {
  constexpr int W = Pk::width;
  int i = 0;
  for (; i + W <= size; i += W) transpose_block(x, i, rows, lanes);
  if (i == size) return;
  if (size >= W) return transpose_block(x, size - W, rows, lanes);  // some columns twice
  for (; i < size; ++i)
    for (int l = 0; l < W && l < lanes; ++l) rows[l][i] = x[i].v[l];
}

#undef THUNDER_SHUFFLE2
#undef THUNDER_SHUFFLE4

}  // namespace thunder
