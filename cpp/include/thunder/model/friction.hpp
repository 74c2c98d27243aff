// Joint friction, linear in its coefficients: basis functions of the joint velocity.
#pragma once

#include <cmath>

#include "chain.hpp"

namespace thunder {

/// Value of a basis function: dq; dq / (|dq| + delta) (D4.2, eq. 62); dq |dq|^(k-1).
template <class S, class P>
THUNDER_INLINE S friction_basis(FrictionTerm term, const S& dq, const P& delta) {
  using std::abs;
  switch (term) {
    case FrictionTerm::viscous:
      return dq;
    case FrictionTerm::coulomb:
      return dq / (abs(dq) + delta);
    default: {
      const S speed = abs(dq);
      S value = dq * speed;
      for (int k = static_cast<int>(FrictionTerm::quadratic); k < static_cast<int>(term); ++k) value = value * speed;
      return value;
    }
  }
}

/// Its derivative, which depends on the speed alone: 1; delta / (speed + delta)^2; k speed^(k-1).
template <class S, class P>
THUNDER_INLINE S friction_basis_slope(FrictionTerm term, const S& speed, const P& delta) {
  switch (term) {
    case FrictionTerm::viscous:
      return S(1.0);
    case FrictionTerm::coulomb: {
      const S inverse = S(1.0) / (speed + delta);
      return delta * inverse * inverse;
    }
    default: {
      const int power = static_cast<int>(term) - static_cast<int>(FrictionTerm::quadratic) + 2;
      S value = speed * static_cast<double>(power);
      for (int k = 2; k < power; ++k) value = value * speed;
      return value;
    }
  }
}

template <class S, class P>
THUNDER_INLINE S friction_of_joint(const ChainView<P>& chain, int joint, const S& dq) {
  S sum(0.0);
  for (int k = 0; k < chain.friction_count; ++k)
    sum += friction_basis(chain.friction_terms[k], dq, chain.delta) * chain.friction[joint * chain.friction_count + k];
  return sum;
}

/// tau_f, n values.
template <class S, class P>
void friction_torque(const ChainView<P>& chain, const S* dq, S* tau) {
  for (int i = 0; i < chain.n; ++i) tau[i] = friction_of_joint(chain, i, dq[i]);
}

}  // namespace thunder
