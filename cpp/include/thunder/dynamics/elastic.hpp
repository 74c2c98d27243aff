// Series elastic joints. Motor positions x and link positions q of the e elastic joints are coupled by
//   tau_el = sum_k K[k] (x - q)^(2k+1) + damping(dx - dq),
//   M ddq + C dq + G + friction = tau_el (elastic joints) or tau (rigid ones),   Mm ddx + damping_m(dx) + tau_el = tau.
// A motor's kinetic energy is that of its own spin alone (Spong 1987); what turns with the carrying link is part of
// the link's parameters.
//
// Vectors of motors have e entries, joint after joint; q, dq and tau have n.
#pragma once

#include "../model/elastic.hpp"
#include "forward_dynamics.hpp"

namespace thunder {

template <class S, class P>
THUNDER_INLINE S spring_torque(const ElasticView<P>& elastic, int motor, const S& deflection) {
  S sum(0.0);
  for (int k = 0; k < elastic.K_order; ++k)
    sum += spring_basis(k, deflection) * elastic.K[motor * elastic.K_order + k];
  return sum;
}

/// Damping of a motor (of its spring if `row` is of D) that moves with v.
template <class S, class P>
THUNDER_INLINE S damping_torque(const P* row, int order, const S& v) {
  S sum(0.0);
  for (int k = 0; k < order; ++k) sum += damping_basis(k, v) * row[k];
  return sum;
}
template <class S, class P>
THUNDER_INLINE S damper_torque(const ElasticView<P>& elastic, int motor, const S& v) {
  return damping_torque(elastic.D + motor * elastic.D_order, elastic.D_order, v);
}
template <class S, class P>
THUNDER_INLINE S motor_damping(const ElasticView<P>& elastic, int motor, const S& dx) {
  return damping_torque(elastic.Dm + motor * elastic.Dm_order, elastic.Dm_order, dx);
}

/// Torques of the springs on the links, e values; the opposite acts on the motors.
template <class S, class P>
void elastic_torque(const ChainView<P>& chain, const S* q, const S* x, S* tau) {
  const ElasticView<P>& elastic = chain.elastic;
  for (int k = 0; k < elastic.count; ++k) tau[k] = spring_torque(elastic, k, x[k] - q[elastic.joints[k]]);
}

/// Torques of the dampers, parallel to the springs, on the links, e values.
template <class S, class P>
void elastic_damping_torque(const ChainView<P>& chain, const S* dq, const S* dx, S* tau) {
  const ElasticView<P>& elastic = chain.elastic;
  for (int k = 0; k < elastic.count; ++k) tau[k] = damper_torque(elastic, k, dx[k] - dq[elastic.joints[k]]);
}

/// Damping of the motors, on the left of their equation, e values.
template <class S, class P>
void motor_damping_torque(const ChainView<P>& chain, const S* dx, S* tau) {
  for (int k = 0; k < chain.elastic.count; ++k) tau[k] = motor_damping(chain.elastic, k, dx[k]);
}

/// Largest slopes of the friction of joints and of the damping of motors over velocities from `slow` to `fast`.
template <class S, class P>
void friction_slope(const ChainView<P>& chain, const S* slow, const S* fast, S* slope) {
  using std::abs;
  for (int i = 0; i < chain.n; ++i) {
    const S low = abs(slow[i]), high = abs(fast[i]);
    S sum(0.0);
    for (int k = 0; k < chain.friction_count; ++k) {
      const FrictionTerm term = chain.friction_terms[k];
      sum += friction_basis_slope(term, term == FrictionTerm::coulomb ? low : high, chain.delta) *
             chain.friction[i * chain.friction_count + k];
    }
    slope[i] = sum;
  }
  const ElasticView<P>& elastic = chain.elastic;
  for (int m = 0; m < elastic.count; ++m) {
    const S speed = abs(fast[chain.n + m]);
    S sum(0.0), power(1.0);
    for (int k = 0; k < elastic.Dm_order; ++k, power = power * speed)
      sum += power * (elastic.Dm[m * elastic.Dm_order + k] * (k + 1.0));
    slope[chain.n + m] = sum;
  }
}

/// Friction of joints and damping of motors at velocities w, and its slopes, n + e values each.
template <class S, class P>
void friction_and_slope(const ChainView<P>& chain, const S* w, S* tau, S* slope) {
  friction_torque(chain, w, tau);
  motor_damping_torque(chain, w + chain.n, tau + chain.n);
  friction_slope(chain, w, w, slope);
}

/// Mm ddx, e values.
template <class S, class P>
void motor_inertia_torque(const ChainView<P>& chain, const S* ddx, S* tau) {
  for (int k = 0; k < chain.elastic.count; ++k) tau[k] = ddx[k] * chain.elastic.Mm[k];
}

/// Row `motor` of a regressor of `order` columns for each of e motors, zero but for the motor's own.
template <class S, class Basis>
THUNDER_INLINE void write_motor_row(int e, int motor, int order, const Basis& basis, S* Y) {
  S* row = Y + motor * e * order;
  for (int i = 0; i < e * order; ++i) row[i] = S(0.0);
  for (int k = 0; k < order; ++k) row[motor * order + k] = basis(k);
}

/// e x (e K_order): times all K, joint after joint, it is the elastic torque.
template <class S, class P>
void elastic_regressor(const ChainView<P>& chain, const S* q, const S* x, S* Y) {
  const ElasticView<P>& elastic = chain.elastic;
  for (int m = 0; m < elastic.count; ++m) {
    const S d = x[m] - q[elastic.joints[m]];
    write_motor_row(elastic.count, m, elastic.K_order, [&](int k) { return spring_basis(k, d); }, Y);
  }
}

/// e x (e D_order)
template <class S, class P>
void elastic_damping_regressor(const ChainView<P>& chain, const S* dq, const S* dx, S* Y) {
  const ElasticView<P>& elastic = chain.elastic;
  for (int m = 0; m < elastic.count; ++m) {
    const S v = dx[m] - dq[elastic.joints[m]];
    write_motor_row(elastic.count, m, elastic.D_order, [&](int k) { return damping_basis(k, v); }, Y);
  }
}

/// e x (e Dm_order)
template <class S, class P>
void motor_damping_regressor(const ChainView<P>& chain, const S* dx, S* Y) {
  const ElasticView<P>& elastic = chain.elastic;
  for (int m = 0; m < elastic.count; ++m)
    write_motor_row(elastic.count, m, elastic.Dm_order, [&](int k) { return damping_basis(k, dx[m]); }, Y);
}

/// e x e
template <class S, class P>
void motor_inertia_regressor(const ChainView<P>& chain, const S* ddx, S* Y) {
  for (int m = 0; m < chain.elastic.count; ++m)
    write_motor_row(chain.elastic.count, m, 1, [&](int) { return ddx[m]; }, Y);
}

/// ddq, then ddx. `tau` acts on the link at rigid joints and on the motor at elastic ones; Mm must not be zero.
/// `external` may hold external loads on the links, as joint torques.
template <class S, class P>
void elastic_forward_dynamics(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* x, const S* dx,
                              const S* tau, S* out, const S* external = nullptr) {
  const ElasticView<P>& elastic = chain.elastic;
  const PerJoint<S> link_torque(work, chain.n);
  for (int i = 0; i < chain.n; ++i) link_torque[i] = tau[i];
  for (int k = 0; k < elastic.count; ++k) {
    const int j = elastic.joints[k];
    const S coupling = spring_torque(elastic, k, x[k] - q[j]) + damper_torque(elastic, k, dx[k] - dq[j]);
    link_torque[j] = coupling;
    out[chain.n + k] = (tau[j] - coupling - motor_damping(elastic, k, dx[k])) / elastic.Mm[k];
  }
  if (external != nullptr)
    for (int i = 0; i < chain.n; ++i) link_torque[i] += external[i];
  forward_dynamics(chain, work, q, dq, link_torque.data, out);
}

}  // namespace thunder
