// Numeric scalars of the kernels: `One` double, and a `Pack` of W doubles side by side in a register.
//
// `Isa` keeps the same code compiled for different instruction sets apart: without it the linker would merge the two and an
// old machine would meet an unknown instruction. It is a tag with two numbers, `joint_lanes` (joints of one state in a
// register) and `state_lanes` (states of a batch).
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
template <>
struct LaneTypes<8> {
  typedef double Lanes __attribute__((vector_size(64)));
  typedef std::int64_t Bits __attribute__((vector_size(64)));
};

/// One double whose type carries the instruction set.
template <class Isa>
struct One {
  double v;

  One() = default;
  THUNDER_INLINE explicit One(double k) : v(k) {}
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
  THUNDER_INLINE explicit Pack(const One<Isa>& k) : Pack(k.v) {}
};

#define THUNDER_PACK_OPERATOR(op)                                                   \
  template <class Isa>                                                              \
  THUNDER_INLINE One<Isa> operator op(const One<Isa>& a, const One<Isa>& b) {       \
    return One<Isa>(a.v op b.v);                                                    \
  }                                                                                 \
  template <class Isa>                                                              \
  THUNDER_INLINE One<Isa> operator op(const One<Isa>& a, double k) {                \
    return One<Isa>(a.v op k);                                                      \
  }                                                                                 \
  template <class Isa>                                                              \
  THUNDER_INLINE One<Isa> operator op(double k, const One<Isa>& a) {                \
    return One<Isa>(k op a.v);                                                      \
  }                                                                                 \
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

template <class Isa>
THUNDER_INLINE One<Isa> operator-(const One<Isa>& a) {
  return One<Isa>(-a.v);
}
template <class Isa, class T>
THUNDER_INLINE One<Isa>& operator+=(One<Isa>& a, const T& b) {
  return a = a + b;
}
template <class Isa, class T>
THUNDER_INLINE One<Isa>& operator-=(One<Isa>& a, const T& b) {
  return a = a - b;
}
template <class Isa>
THUNDER_INLINE One<Isa> abs(const One<Isa>& a) {
  return One<Isa>(__builtin_fabs(a.v));
}
template <class Isa>
THUNDER_INLINE One<Isa> copysign(const One<Isa>& a, const One<Isa>& sign) {
  return One<Isa>(__builtin_copysign(a.v, sign.v));
}
template <class Isa>
THUNDER_INLINE One<Isa> sqrt(const One<Isa>& a) {
  return One<Isa>(__builtin_sqrt(a.v));
}
template <class Isa>
THUNDER_INLINE void sincos(const One<Isa>& x, One<Isa>& s, One<Isa>& c) {
  sincos(x.v, s.v, c.v);
}

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
#ifdef __AVX512F__
  if constexpr (W == 8)
    return __builtin_ia32_cmppd512_mask(abs(x).v, Pack<W, Isa>(bound).v, 1, static_cast<std::uint8_t>(-1), 4) == 0xff;
#endif
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
    Lanes sines{}, cosines{};
    for (int i = 0; i < W; ++i) {
      sines[i] = __builtin_sin(x.v[i]);
      cosines[i] = __builtin_cos(x.v[i]);
    }
    s.v = sines;
    c.v = cosines;
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
#define THUNDER_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define THUNDER_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, Bits{__VA_ARGS__})
#endif

/// A pack of scalars that were just computed: loading them would wait for their stores.
template <class Pk, class S>
THUNDER_INLINE Pk in_registers(const S* x) {
  static_assert(Pk::width <= 4);
  if constexpr (Pk::width == 4)
    return Pk(typename Pk::Lanes{x[0].v, x[1].v, x[2].v, x[3].v});
  else
    return Pk(typename Pk::Lanes{x[0].v, x[1].v});
}
/// Entry i of each row.
template <class Pk>
THUNDER_INLINE Pk across_rows(const double* const* rows, int i) {
  if constexpr (Pk::width == 8)
    return Pk(typename Pk::Lanes{rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i], rows[5][i], rows[6][i],
                                 rows[7][i]});
  else if constexpr (Pk::width == 4)
    return Pk(typename Pk::Lanes{rows[0][i], rows[1][i], rows[2][i], rows[3][i]});
  else
    return Pk(typename Pk::Lanes{rows[0][i], rows[1][i]});
}

/// The W x W entries x[0..W) turned over: lane l of entry i becomes lane i of row l.
template <class Pk>
THUNDER_INLINE void transpose(const Pk* x, typename Pk::Lanes* row) {
  typedef typename Pk::Lanes Lanes;
  typedef typename Pk::Bits Bits;
  if constexpr (Pk::width == 8) {
    Lanes pair[8], quad[8];  // pairs of lanes, then quadruples
    for (int i = 0; i < 8; i += 2) {
      pair[i] = THUNDER_SHUFFLE(x[i].v, x[i + 1].v, 0, 8, 2, 10, 4, 12, 6, 14);
      pair[i + 1] = THUNDER_SHUFFLE(x[i].v, x[i + 1].v, 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
      for (int k = 0; k < 2; ++k) {
        quad[i + k] = THUNDER_SHUFFLE(pair[i + k], pair[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        quad[i + k + 2] = THUNDER_SHUFFLE(pair[i + k], pair[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
      }
    for (int k = 0; k < 4; ++k) {
      row[k] = THUNDER_SHUFFLE(quad[k], quad[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
      row[k + 4] = THUNDER_SHUFFLE(quad[k], quad[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  } else if constexpr (Pk::width == 4) {
    const Lanes ab0 = THUNDER_SHUFFLE(x[0].v, x[1].v, 0, 4, 2, 6), ab1 = THUNDER_SHUFFLE(x[0].v, x[1].v, 1, 5, 3, 7);
    const Lanes cd0 = THUNDER_SHUFFLE(x[2].v, x[3].v, 0, 4, 2, 6), cd1 = THUNDER_SHUFFLE(x[2].v, x[3].v, 1, 5, 3, 7);
    row[0] = THUNDER_SHUFFLE(ab0, cd0, 0, 1, 4, 5), row[1] = THUNDER_SHUFFLE(ab1, cd1, 0, 1, 4, 5);
    row[2] = THUNDER_SHUFFLE(ab0, cd0, 2, 3, 6, 7), row[3] = THUNDER_SHUFFLE(ab1, cd1, 2, 3, 6, 7);
  } else {
    row[0] = THUNDER_SHUFFLE(x[0].v, x[1].v, 0, 2), row[1] = THUNDER_SHUFFLE(x[0].v, x[1].v, 1, 3);
  }
}

/// W x W entries at x[i..i+W) to columns i..i+W of the first `lanes` rows.
template <class Pk>
THUNDER_INLINE void transpose_block(const Pk* x, int i, double* const* rows, int lanes) {
  typename Pk::Lanes row[Pk::width];
  transpose(x + i, row);
  for (int l = 0; l < Pk::width; ++l)
    if (l < lanes) __builtin_memcpy(rows[l] + i, &row[l], sizeof row[l]);
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

#undef THUNDER_SHUFFLE

}  // namespace thunder
