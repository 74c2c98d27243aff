// Dual number a + b eps, eps^2 = 0: run a kernel on it and the eps part is the exact derivative along the seed. A dual
// number of dual numbers gives second derivatives.
#pragma once

#include <cmath>
#include <type_traits>

#include "linear.hpp"
#include "sincos.hpp"

namespace thunder {

template <class S>
struct Dual {
  S a, b;  // value, derivative

  Dual() = default;
  template <class T>
  THUNDER_INLINE explicit Dual(const T& value) : a(value), b(0.0) {}
  THUNDER_INLINE Dual(const S& value, const S& derivative) : a(value), b(derivative) {}
};

template <class S>
THUNDER_INLINE Dual<S> operator+(const Dual<S>& x, const Dual<S>& y) {
  return {x.a + y.a, x.b + y.b};
}
template <class S>
THUNDER_INLINE Dual<S> operator-(const Dual<S>& x, const Dual<S>& y) {
  return {x.a - y.a, x.b - y.b};
}
template <class S>
THUNDER_INLINE Dual<S> operator-(const Dual<S>& x) {
  return {-x.a, -x.b};
}
template <class S>
THUNDER_INLINE Dual<S> operator*(const Dual<S>& x, const Dual<S>& y) {
  return {x.a * y.a, x.a * y.b + x.b * y.a};
}
// of nested ones: not forced into their callers, which compilers without optimization would choke on
template <class S>
inline Dual<Dual<S>> operator*(const Dual<Dual<S>>& x, const Dual<Dual<S>>& y) {
  return {x.a * y.a, x.a * y.b + x.b * y.a};
}
template <class S>
THUNDER_INLINE Dual<S> operator/(const Dual<S>& x, const Dual<S>& y) {
  const S q = x.a / y.a;
  return {q, (x.b - q * y.b) / y.a};
}

/// True if K is a constant with respect to dual numbers over S: a plain number, S or a constant for S. Parameters are.
template <class S, class K>
struct IsConstant : std::bool_constant<std::is_same_v<S, K> || std::is_arithmetic_v<K>> {};
template <class S, class K>
struct IsConstant<Dual<S>, K> : std::bool_constant<std::is_same_v<Dual<S>, K> || IsConstant<S, K>::value> {};
template <class S, class K>
using WithConstant = std::enable_if_t<IsConstant<S, K>::value, Dual<S>>;

template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator*(const Dual<S>& x, const K& k) {
  return {x.a * k, x.b * k};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator*(const K& k, const Dual<S>& x) {
  return {x.a * k, x.b * k};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator/(const Dual<S>& x, const K& k) {
  return {x.a / k, x.b / k};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator/(const K& k, const Dual<S>& x) {
  const S q = S(k) / x.a;
  return {q, -(q * x.b) / x.a};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator+(const Dual<S>& x, const K& k) {
  return {x.a + k, x.b};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator+(const K& k, const Dual<S>& x) {
  return {x.a + k, x.b};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator-(const Dual<S>& x, const K& k) {
  return {x.a - k, x.b};
}
template <class S, class K>
THUNDER_INLINE WithConstant<S, K> operator-(const K& k, const Dual<S>& x) {
  return {S(k) - x.a, -x.b};
}
template <class S, class T>
THUNDER_INLINE Dual<S>& operator+=(Dual<S>& x, const T& y) {
  return x = x + y;
}
template <class S, class T>
THUNDER_INLINE Dual<S>& operator-=(Dual<S>& x, const T& y) {
  return x = x - y;
}

template <class S>
THUNDER_INLINE void sincos(const Dual<S>& x, Dual<S>& s, Dual<S>& c) {
  sincos(x.a, s.a, c.a);
  s.b = c.a * x.b;
  c.b = -(s.a * x.b);
}
template <class S>
THUNDER_INLINE Dual<S> sqrt(const Dual<S>& x) {
  using std::sqrt;
  const S root = sqrt(x.a);
  return {root, x.b / (root * 2.0)};
}
template <class S>
THUNDER_INLINE Dual<S> exp(const Dual<S>& x) {
  using std::exp;
  const S value = exp(x.a);
  return {value, value * x.b};
}
/// A power with a constant exponent above 1, at 0 too.
template <class S>
THUNDER_INLINE Dual<S> pow(const Dual<S>& x, double exponent) {
  using std::pow;
  return {pow(x.a, exponent), pow(x.a, exponent - 1.0) * exponent * x.b};
}
template <class S>
THUNDER_INLINE Dual<S> copysign(const Dual<S>& magnitude, const Dual<S>& x) {
  using std::copysign;
  const S one(1.0);
  return {copysign(magnitude.a, x.a), magnitude.b * (copysign(one, magnitude.a) * copysign(one, x.a))};
}
template <class S>
THUNDER_INLINE Dual<S> abs(const Dual<S>& x) {
  using std::abs, std::copysign;
  const S value = abs(x.a);
  return {value, x.b * copysign(S(1.0), x.a)};
}

/// The greater of a number and a bound; its derivative is zero where the bound is taken.
inline double at_least(double x, double bound) { return x > bound ? x : bound; }
template <class S>
Dual<S> at_least(const Dual<S>& x, double bound) {
  return x.a > bound ? x : Dual<S>(bound);
}

}  // namespace thunder
