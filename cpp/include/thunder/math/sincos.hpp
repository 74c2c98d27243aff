// Sine and cosine together, without a branch, for double and for packs.
//
// Cody-Waite reduction by multiples of pi/2 in three parts, then the minimax polynomials of fdlibm on
// [-pi/4, pi/4]. Absolute error below 2.5e-16 for |x| up to kSincosRange, beyond which the caller's library
// function takes over: joint angles are not there, but a diverging simulation is.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "linear.hpp"

namespace thunder {

inline constexpr double kSincosRange = 1e5;

namespace sincos_detail {

inline constexpr double kTwoOverPi = 6.36619772367581382433e-01;
// pi/2 in three parts; the first two have 33 bits, so that their products with small integers are exact
inline constexpr double kHalfPi1 = 1.57079632673412561417e+00;
inline constexpr double kHalfPi2 = 6.07710050630396597660e-11;
inline constexpr double kHalfPi3 = 2.02226624879595063154e-21;
inline constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer

template <class S>
THUNDER_INLINE S sine(const S& r, const S& r2) {
  const S poly = ((((r2 * 1.58969099521155010221e-10 + -2.50507602534068634195e-08) * r2 + 2.75573137070700676789e-06) * r2 +
                   -1.98412698298579493134e-04) * r2 + 8.33333333332248946124e-03) * r2 + -1.66666666666666324348e-01;
  return r + r * (r2 * poly);
}

template <class S>
THUNDER_INLINE S cosine(const S& r2) {
  const S poly = ((((r2 * -1.13596475577881948265e-11 + 2.08757232129817482790e-09) * r2 + -2.75573143513906633035e-07) * r2 +
                   2.48015872894767294178e-05) * r2 + -1.38888888888741095749e-03) * r2 + 4.16666666666666019037e-02;
  return (r2 * r2) * poly + (r2 * -0.5 + 1.0);
}

}  // namespace sincos_detail

THUNDER_INLINE void sincos(const double& x, double& s, double& c) {
  using namespace sincos_detail;
  if (__builtin_expect(!(std::fabs(x) < kSincosRange), 0)) {
    s = std::sin(x);
    c = std::cos(x);
    return;
  }
  const double shifted = x * kTwoOverPi + kRound;
  const double k = shifted - kRound;
  std::uint64_t quadrant;
  std::memcpy(&quadrant, &shifted, sizeof quadrant);
  const double r = ((x - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3;
  const double r2 = r * r;
  const double sr = sine(r, r2), cr = cosine(r2);
  std::uint64_t s_bits, c_bits;
  std::memcpy(&s_bits, &sr, sizeof s_bits);
  std::memcpy(&c_bits, &cr, sizeof c_bits);
  // swap in odd quadrants and flip signs with bit masks: joint angles are random to a branch predictor
  const std::uint64_t swap = (s_bits ^ c_bits) & (0 - (quadrant & 1));
  s_bits ^= swap ^ ((quadrant & 2) << 62);
  c_bits ^= swap ^ (((quadrant + 1) & 2) << 62);
  std::memcpy(&s, &s_bits, sizeof s);
  std::memcpy(&c, &c_bits, sizeof c);
}

}  // namespace thunder
