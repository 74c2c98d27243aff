// Series elastic joints: a motor with an inertia of its own drives the joint through a spring and a damper.
#pragma once

#include "../math/linear.hpp"

namespace thunder {

/// Data of the e elastic joints, in the order of the arm. Coefficients are stored joint after joint, row by row.
template <class P>
struct ElasticView {
  int count;          // e
  const int* joints;  // 0-based, ascending
  int K_order, D_order, Dm_order;
  const P* K;   // e x K_order, stiffness: K[k] (x - q)^(2k+1)
  const P* D;   // e x D_order, damping of dx - dq, on the basis of `damping_basis`
  const P* Dm;  // e x Dm_order, damping of dx, on the same
  const P* Mm;  // e, motor inertia
};

/// Measured positions and velocities of the e motors; null where nothing measures them.
struct Motors {
  const double* x = nullptr;
  const double* dx = nullptr;
};

/// v |v|^k, the basis of Thunder's polynomial friction: v, v|v|, v^3, v^3|v|, ...
template <class S>
THUNDER_INLINE S damping_basis(int k, const S& v) {
  using std::abs;
  const S square = v * v;
  S value = k % 2 == 0 ? v : v * abs(v);
  for (int i = 0; i < k / 2; ++i) value = value * square;
  return value;
}

/// d^(2k+1), the basis of the spring.
template <class S>
THUNDER_INLINE S spring_basis(int k, const S& d) {
  const S square = d * d;
  S value = d;
  for (int i = 0; i < k; ++i) value = value * square;
  return value;
}

}  // namespace thunder
