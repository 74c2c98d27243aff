// Polynomials in Bernstein form on [0, 1]: values, parts, products.
#pragma once

namespace thunder {

/// Binomial coefficient; exact for the degrees used.
constexpr double choose(int n, int k) noexcept {
  double value = 1.0;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

/// Value at s by de Casteljau's scheme, which overwrites the degree + 1 coefficients.
template <class S>
S bernstein_value(S* c, int degree, double s) noexcept {
  for (int level = degree; level > 0; --level)
    for (int j = 0; j < level; ++j) c[j] = c[j] + s * (c[j + 1] - c[j]);
  return c[0];
}

/// Halves: `c` becomes the polynomial on [0, s], `right` the one on [s, 1], both on a unit interval of their own.
template <class S>
void bernstein_split(S* c, S* right, int degree, double s) noexcept {
  right[degree] = c[degree];
  for (int level = 1; level <= degree; ++level) {  // in place from the end: c[j] keeps the value of level j
    for (int j = degree; j >= level; --j) c[j] = c[j - 1] + s * (c[j] - c[j - 1]);
    right[degree - level] = c[degree];
  }
}

/// The polynomial on [a, b], 0 < b, on a unit interval of its own, in place; `scratch` has room for it.
template <class S>
void bernstein_restrict(S* c, S* scratch, int degree, double a, double b) noexcept {
  if (b != 1.0) bernstein_split(c, scratch, degree, b);
  if (a == 0.0) return;
  bernstein_split(c, scratch, degree, a / b);
  for (int j = 0; j <= degree; ++j) c[j] = scratch[j];
}

/// The same polynomial with coefficients of a higher degree, in place.
template <class S>
void bernstein_elevate(S* c, int degree, int higher) noexcept {
  for (; degree < higher; ++degree) {
    c[degree + 1] = c[degree];
    for (int j = degree; j > 0; --j) c[j] = c[j] + (static_cast<double>(j) / (degree + 1)) * (c[j - 1] - c[j]);
  }
}

/// c_j of the derivative with respect to s: degree coefficients, in place.
template <class S>
void bernstein_derivative(S* c, int degree) noexcept {
  for (int j = 0; j < degree; ++j) c[j] = static_cast<double>(degree) * (c[j + 1] - c[j]);
}

}  // namespace thunder
