// Dual number a + b eps, eps^2 = 0: run a kernel on it and the eps part is the exact derivative along the seed.
#pragma once

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
template <class S>
THUNDER_INLINE Dual<S> operator/(const Dual<S>& x, const Dual<S>& y) {
  const S q = x.a / y.a;
  return {q, (x.b - q * y.b) / y.a};
}
// with a constant parameter
template <class S>
THUNDER_INLINE Dual<S> operator*(const Dual<S>& x, double k) {
  return {x.a * k, x.b * k};
}
template <class S>
THUNDER_INLINE Dual<S> operator*(double k, const Dual<S>& x) {
  return {x.a * k, x.b * k};
}
template <class S>
THUNDER_INLINE Dual<S> operator+(const Dual<S>& x, double k) {
  return {x.a + k, x.b};
}
template <class S>
THUNDER_INLINE Dual<S> operator+(double k, const Dual<S>& x) {
  return {x.a + k, x.b};
}
template <class S>
THUNDER_INLINE Dual<S> operator-(const Dual<S>& x, double k) {
  return {x.a - k, x.b};
}
template <class S>
THUNDER_INLINE Dual<S> operator-(double k, const Dual<S>& x) {
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
THUNDER_INLINE Dual<S> abs(const Dual<S>& x) {
  using std::abs;
  const S value = abs(x.a);
  return {value, x.b * copysign(S(1.0), x.a)};
}

}  // namespace thunder
