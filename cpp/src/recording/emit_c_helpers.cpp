#include "emit_c_helpers.hpp"

namespace thunder::emit {

namespace {

constexpr const char* kArray = R"(#ifdef __cplusplus
#define THUNDER_ARRAY(type, name, size) type *__restrict name
#define THUNDER_RESTRICT __restrict
#else
#define THUNDER_ARRAY(type, name, size) type name[restrict size]
#define THUNDER_RESTRICT restrict
#endif
)";

constexpr const char* kSincosDouble = R"(
/* Sines and cosines of two angles below 1e5: reduction by multiples of pi/2, polynomials, quadrants by masks. No branch, so
   that compilers use both lanes of a vector register. */
static void thunder_sincos_pair(THUNDER_ARRAY(const double, x, 2), THUNDER_ARRAY(double, s, 2), THUNDER_ARRAY(double, c, 2)) {
  for (int i = 0; i < 2; ++i) {
    const double t = x[i]*6.36619772367581382433e-01 + 6755399441055744.0, k = t - 6755399441055744.0,
      r = (x[i] - k*1.57079632673412561417e+00) - k*6.07710050650619224932e-11, r2 = r*r, r4 = r2*r2,
      u = r + (r*r2)*((r2*8.33333333332248946124e-03 - 1.66666666666666324348e-01) +
        r4*((r2*2.75573137070700676789e-06 - 1.98412698298579493134e-04) +
        r4*(r2*1.58969099521155010221e-10 - 2.50507602534068634195e-08))),
      v = (1.0 - r2*0.5) + r4*((4.16666666666666019037e-02 - r2*1.38888888888741095749e-03) +
        r4*((2.48015872894767294178e-05 - r2*2.75573143513906633035e-07) +
        r4*(2.08757232129817482790e-09 - r2*1.13596475577881948265e-11)));
    uint64_t quadrant, a, b, swap;
    memcpy(&quadrant, &t, sizeof t);
    memcpy(&a, &u, sizeof u);
    memcpy(&b, &v, sizeof v);
    swap = (a ^ b) & (0 - (quadrant & 1));
    a ^= swap ^ (quadrant & 2) << 62;
    b ^= swap ^ ((quadrant + 1) & 2) << 62;
    memcpy(&s[i], &a, sizeof a);
    memcpy(&c[i], &b, sizeof b);
  }
}
)";

constexpr const char* kSincosFloat = R"(
/* Sines and cosines of two angles below 5e3: reduction by multiples of pi/2, polynomials, quadrants by masks. No branch, so
   that compilers use vector registers. */
static void thunder_sincos_pair(THUNDER_ARRAY(const float, x, 2), THUNDER_ARRAY(float, s, 2), THUNDER_ARRAY(float, c, 2)) {
  for (int i = 0; i < 2; ++i) {
    const float t = x[i]*0.636619772f + 12582912.0f, k = t - 12582912.0f,
      r = ((x[i] - k*1.5703125f) - k*4.837512969970703125e-4f) - k*7.549789954891885e-8f, r2 = r*r,
      u = r + (r*r2)*((r2*-1.9515295891e-4f + 8.3321608736e-3f)*r2 - 1.6666654611e-1f),
      v = (1.0f - r2*0.5f) + r2*r2*((r2*2.443315711809948e-5f - 1.388731625493765e-3f)*r2 + 4.166664568298827e-2f);
    uint32_t quadrant, a, b, swap;
    memcpy(&quadrant, &t, sizeof t);
    memcpy(&a, &u, sizeof u);
    memcpy(&b, &v, sizeof v);
    swap = (a ^ b) & (0 - (quadrant & 1));
    a ^= swap ^ (quadrant & 2) << 30;
    b ^= swap ^ ((quadrant + 1) & 2) << 30;
    memcpy(&s[i], &a, sizeof a);
    memcpy(&c[i], &b, sizeof b);
  }
}
)";

constexpr const char* kAvx = R"(
/* Longer functions hardly fit where processors keep decoded instructions. With AVX2 and fused products they are a third shorter,
   and the processor is asked. Last bits may differ between the two; -DTHUNDER_NO_AVX does without. */
#if defined(__GNUC__) && defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__AVX__) && !defined(THUNDER_NO_AVX)
#if defined(__clang__)
#define THUNDER_AVX __attribute__((target("avx2,fma")))
#else
#define THUNDER_AVX __attribute__((target("avx2,fma"), optimize("fp-contract=fast")))
#endif
#define THUNDER_STRAIGHT static inline __attribute__((always_inline))
#else
#define THUNDER_STRAIGHT static
#endif
)";

constexpr const char* kPiece = R"(
/* Pieces that are called for every joint stay functions of their own: less code is fetched from memory. */
#if defined(__GNUC__)
#define THUNDER_PIECE static __attribute__((noinline))
#else
#define THUNDER_PIECE static
#endif
#ifdef THUNDER_AVX
#define THUNDER_FORM(name) (thunder_form ? name##_avx : name)
#else
#define THUNDER_FORM(name) name
#endif
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

/// n is at least two; a pair may repeat the angle before. Large angles, and other arithmetic, use the library.
std::string sincos_loop(const Precision& precision) {
  const char* text = R"C(
/* Unrolled it would take thrice the code, and no less time. */
#if defined(__clang__)
#define THUNDER_AS_LOOP _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__) && __GNUC__ >= 8
#define THUNDER_AS_LOOP _Pragma("GCC unroll 1")
#else
#define THUNDER_AS_LOOP
#endif

/* Sines and cosines of n >= 2 values. */
static void thunder_sincos(int n, const REAL *THUNDER_RESTRICT x, REAL *THUNDER_RESTRICT s, REAL *THUNDER_RESTRICT c) {
  REAL size = ZERO;
  THUNDER_AS_LOOP
  for (int i = 0; i < n; ++i) size += x[i]*x[i];
  if (THUNDER_EXACT && size < LIMIT) {
    THUNDER_AS_LOOP
    for (int i = 0; i < n; i += 2) {
      const int k = i + 2 > n ? n - 2 : i;
      thunder_sincos_pair(x + k, s + k, c + k);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      s[i] = SIN(x[i]);
      c[i] = COS(x[i]);
    }
  }
}
)C";
  std::string own = replaced(text, "REAL", precision.type());
  own = replaced(own, "ZERO", precision.number(0.0));
  own = replaced(own, "LIMIT", precision.single ? "2.5e7f" : "1e10");
  own = replaced(own, "SIN", precision.function("sin"));
  return replaced(own, "COS", precision.function("cos"));
}

constexpr const char* kPasses = R"(
/* Equal values are one already, and stores are needed: what looks for such takes long in straight code and finds nothing. g++ 12
   pairs stores at the price of more shuffles than it saves, and makes string instructions of short loops, which start slowly. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(__INTEL_COMPILER)
#pragma GCC optimize("no-tree-slp-vectorize", "no-tree-fre", "no-tree-pre", "no-tree-dse", "no-dse", \
                     "no-tree-loop-distribute-patterns")
#endif
)";

constexpr const char* kPartHelpers = R"(
/* Parts of long functions: compilers would put them back where they are called, and then take minutes for the whole. */
#if defined(__clang__)
#define THUNDER_LONG
#define THUNDER_PART static __attribute__((noinline))
#elif defined(__GNUC__)
#define THUNDER_LONG __attribute__((optimize("O1", "no-tree-fre", "no-tree-pre", "no-tree-dse", "no-dse")))
#define THUNDER_PART static __attribute__((noinline, optimize("O1", "no-tree-fre", "no-tree-pre", "no-tree-dse", "no-dse")))
#else
#define THUNDER_LONG
#define THUNDER_PART static
#endif
)";

}  // namespace

std::string helpers(const Precision& precision, const Needs& needs) {
  std::string text;
  if (needs.math || needs.sincos) text += "#include <math.h>\n";
  if (needs.sincos) text += "#include <stdint.h>\n#include <string.h>\n";
  text += std::string("\n") + kArray;
  if (needs.sincos) {
    text += R"(
/* Excess precision or reordered sums would break the rounding that the reduction of angles is built on. */
#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#define THUNDER_EXACT 0
#else
#define THUNDER_EXACT 1
#endif
)";
    text += precision.single ? kSincosFloat : kSincosDouble;
    text += sincos_loop(precision);
  }
  if (needs.copy)
    text += std::string("\nstatic void thunder_copy(") + precision.type() + " *to, const " + precision.type() +
            " *from, int n) {\n  for (int i = 0; i < n; ++i) to[i] = from[i];\n}\n";
  if (needs.zeros)
    text += std::string("\nstatic void thunder_zeros(") + precision.type() + " *x, int n) {\n  for (int i = 0; i < n; ++i) x[i] = " +
            precision.number(0.0) + ";\n}\n";
  if (needs.sign) {
    const std::string type = precision.type(), zero = precision.number(0.0), one = precision.number(1.0);
    text += "\nstatic " + type + " thunder_sign(" + type + " x) {\n  return x > " + zero + " ? " + one + " : x < " + zero + " ? -" +
            one + " : x;\n}\n";
  }
  if (needs.avx) text += kAvx;
  if (needs.pieces) text += kPiece;
  text += kPasses;
  if (needs.parts) text += kPartHelpers;
  return text;
}

}  // namespace thunder::emit
