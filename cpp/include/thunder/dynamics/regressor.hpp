// Regressors: classical Y(q, dq, ddq) and Slotine-Li Y_r(q, dq, dq_r, ddq_r), all parameters of the chain.
//
// Screws of the joints before link i are pulled back into its frame; the row of joint j in the block of link i is
// the power of screw j on the wrench of a unit of each parameter. With the symmetric product of the two velocities,
// P = sym(w w_r'), the wrench is the one of the Christoffel form of C.
#pragma once

#include "../model/friction.hpp"
#include "composite.hpp"

namespace thunder {

/// Motion of a frame in its own axes: w, reference w_r, acceleration-like e (angular) and a (linear, gravity as -g).
template <class S>
struct ReferenceMotion {
  Vec3<S> w, w_r, e, a;
};

/// The same body motion seen from a frame at pose (R, p).
template <class S, class P>
THUNDER_INLINE ReferenceMotion<S> seen_from(const ReferenceMotion<S>& m, const Mat3<P>& R, const Vec3<P>& p) {
  const Vec3<S> pull = (cross(m.w, cross(m.w_r, p)) + cross(m.w_r, cross(m.w, p))) * 0.5;
  return {transposed_times(R, m.w), transposed_times(R, m.w_r), transposed_times(R, m.e),
          transposed_times(R, m.a + cross(m.e, p) + pull)};
}

template <class S, class P>
THUNDER_INLINE Screw<S> seen_from(const Screw<S>& s, const Mat3<P>& R, const Vec3<P>& p) {
  return {transposed_times(R, s.w), transposed_times(R, s.u + cross(s.w, p))};
}

template <class S>
THUNDER_INLINE void add_joint(ReferenceMotion<S>& m, bool revolute, const S& v, const S& v_r, const S& a_r) {
  if (revolute) {
    const S half = v * 0.5, half_r = v_r * 0.5;
    m.e += Vec3<S>{m.w.y * half_r + m.w_r.y * half, -(m.w.x * half_r + m.w_r.x * half), a_r};
    m.w.z += v;
    m.w_r.z += v_r;
  } else {
    m.a += Vec3<S>{m.w.y * v_r + m.w_r.y * v, -(m.w.x * v_r + m.w_r.x * v), a_r};
  }
}

/// What the ten columns of a link need of its motion.
template <class S>
struct LinkColumns {
  Vec3<S> a, w_e;  // linear acceleration; e
  Sym3<S> K;       // P - tr(P) 1
  S N[3][6];

  THUNDER_INLINE explicit LinkColumns(const ReferenceMotion<S>& m) : a(m.a), w_e(m.e) {
    const S xx = m.w.x * m.w_r.x, yy = m.w.y * m.w_r.y, zz = m.w.z * m.w_r.z;
    const S xy = (m.w.x * m.w_r.y + m.w.y * m.w_r.x) * 0.5;
    const S xz = (m.w.x * m.w_r.z + m.w.z * m.w_r.x) * 0.5;
    const S yz = (m.w.y * m.w_r.z + m.w.z * m.w_r.y) * 0.5;
    K = {-(yy + zz), xy, xz, -(xx + zz), yz, -(xx + yy)};
    const Vec3<S>& e = m.e;
    const S rows[3][6] = {{e.x, e.y - xz, e.z + xy, -yz, yy - zz, yz},
                          {xz, e.x + yz, zz - xx, e.y, e.z - xy, -xz},
                          {-xy, xx - yy, e.x - yz, xy, e.y + xz, e.z}};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 6; ++k) N[i][k] = rows[i][k];
  }

  THUNDER_INLINE void write(const Screw<S>& s, S* row) const {
    const Vec3<S>&w = s.w, &u = s.u;
    row[0] = dot(u, a);
    const Vec3<S> h = K * u + cross(u, w_e) + cross(a, w);
    row[1] = h.x;
    row[2] = h.y;
    row[3] = h.z;
    for (int k = 0; k < 6; ++k) row[4 + k] = w.x * N[0][k] + w.y * N[1][k] + w.z * N[2][k];
  }
};

template <class S, class P>
THUNDER_INLINE void write_rotor_column(const ChainView<P>& chain, int k, const ReferenceMotion<S>& m, const Screw<S>* s, const S* v,
                        const S* v_r, const S* a_r, int p, S* Y) {
  const Rotor<P>& rotor = chain.rotors[k];
  const int column = chain.rotor_column(k);
  const Vec3<S> a{S(rotor.axis.x), S(rotor.axis.y), S(rotor.axis.z)};
  const S spin = dot(m.w, a) + v[rotor.joint] * rotor.ratio, spin_r = dot(m.w_r, a) + v_r[rotor.joint] * rotor.ratio;
  const S spin_dot = dot(m.e, a) + a_r[rotor.joint] * rotor.ratio;
  const Vec3<S> moment = a * spin_dot + (cross(m.w, a) * spin_r + cross(m.w_r, a) * spin) * 0.5;
  for (int j = 0; j < chain.n; ++j) Y[j * p + column] = j < rotor.carrier ? dot(s[j].w, moment) : S(0.0);
  Y[rotor.joint * p + column] += spin_dot * rotor.ratio;
}

/// Friction columns: friction acts on the actual velocity, also in Y_r (errata D-10).
template <class S, class P>
THUNDER_INLINE void write_friction_columns(const ChainView<P>& chain, const S* dq, S* Y) {
  const int p = chain.parameters(), first = chain.friction_column(0, 0), last = chain.rotor_column(0);
  for (int j = 0; j < chain.n; ++j) {
    for (int c = first; c < last; ++c) Y[j * p + c] = S(0.0);
    for (int k = 0; k < chain.friction_count; ++k)
      Y[j * p + chain.friction_column(j, k)] = friction_basis(chain.friction_terms[k], dq[j], chain.delta);
  }
}

template <class S, class P>
THUNDER_INLINE void write_armature_columns(const ChainView<P>& chain, const S* a_r, S* Y) {
  if (!chain.has_armature) return;
  const int p = chain.parameters();
  for (int j = 0; j < chain.n; ++j)
    for (int i = 0; i < chain.n; ++i) Y[j * p + chain.armature_column(i)] = i == j ? a_r[j] : S(0.0);
}

/// Y_r with Y_r pi = M(q) a_r + C(q, v) v_r + G(q), inertial, rotor and armature columns (friction apart).
template <class S, class P>
void inertial_regressor(const ChainView<P>& chain, const S* q, const S* v, const S* v_r, const S* a_r,
                        const Vec3<P>& gravity, S* Y) {
  const int n = chain.n, p = chain.parameters();
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  PerJoint<Screw<S>> s;
  const ReferenceMotion<S> base{zero, zero, zero, {S(-gravity.x), S(-gravity.y), S(-gravity.z)}};
  ReferenceMotion<S> m = base;
  for (int k = 0; k < chain.rotor_count; ++k)
    if (chain.rotors[k].carrier == 0) write_rotor_column(chain, k, base, s.data, v, v_r, a_r, p, Y);
  for (int i = 0; i < n; ++i) {
    const Link<P>& link = chain.links[i];
    const Pose<S> T = joint_pose(link, q[i]);
    const bool revolute = link.type == JointType::revolute;
    m = seen_from(m, T.R, T.p);
    add_joint(m, revolute, v[i], v_r[i], a_r[i]);
    const S one(1.0);
    for (int j = 0; j < i; ++j) s[j] = seen_from(s[j], T.R, T.p);
    s[i] = revolute ? Screw<S>{{zero.x, zero.y, one}, zero} : Screw<S>{zero, {zero.x, zero.y, one}};
    S* block = Y + kLinkParameters * i;
    if (link.has_offset) {
      const LinkColumns<S> columns(seen_from(m, link.offset.R, link.offset.p));
      for (int j = 0; j <= i; ++j) columns.write(seen_from(s[j], link.offset.R, link.offset.p), block + j * p);
    } else {
      const LinkColumns<S> columns(m);
      for (int j = 0; j <= i; ++j) columns.write(s[j], block + j * p);
    }
    for (int j = i + 1; j < n; ++j)
      for (int k = 0; k < kLinkParameters; ++k) block[j * p + k] = zero.x;
    for (int k = 0; k < chain.rotor_count; ++k)
      if (chain.rotors[k].carrier == i + 1) write_rotor_column(chain, k, m, s.data, v, v_r, a_r, p, Y);
  }
  write_armature_columns(chain, a_r, Y);
}

/// Y_r(q, dq, dq_r, ddq_r), n x p row by row.
template <class S, class P>
void slotine_li_regressor(const ChainView<P>& chain, const S* q, const S* dq, const S* dq_r, const S* ddq_r, S* Y) {
  inertial_regressor(chain, q, dq, dq_r, ddq_r, chain.gravity, Y);
  write_friction_columns(chain, dq, Y);
}

/// Y(q, dq, ddq) with Y pi = inverse dynamics.
template <class S, class P>
void regressor(const ChainView<P>& chain, const S* q, const S* dq, const S* ddq, S* Y) {
  slotine_li_regressor(chain, q, dq, dq, ddq, Y);
}

template <class S, class P>
void clear_friction_columns(const ChainView<P>& chain, S* Y) {
  const int p = chain.parameters();
  for (int j = 0; j < chain.n; ++j)
    for (int c = chain.friction_column(0, 0); c < chain.rotor_column(0); ++c) Y[j * p + c] = S(0.0);
}

/// Terms of Y_r apart: of M ddq_r, of C dq_r, of G and of friction; they add up to Y_r.
template <class S, class P>
void mass_regressor(const ChainView<P>& chain, const S* q, const S* ddq_r, S* Y) {
  PerJoint<S> rest;
  for (int i = 0; i < chain.n; ++i) rest[i] = S(0.0);
  inertial_regressor(chain, q, rest.data, rest.data, ddq_r, Vec3<P>{P(0.0), P(0.0), P(0.0)}, Y);
  clear_friction_columns(chain, Y);
}

template <class S, class P>
void coriolis_regressor(const ChainView<P>& chain, const S* q, const S* dq, const S* dq_r, S* Y) {
  PerJoint<S> rest;
  for (int i = 0; i < chain.n; ++i) rest[i] = S(0.0);
  inertial_regressor(chain, q, dq, dq_r, rest.data, Vec3<P>{P(0.0), P(0.0), P(0.0)}, Y);
  clear_friction_columns(chain, Y);
}

template <class S, class P>
void gravity_regressor(const ChainView<P>& chain, const S* q, S* Y) {
  PerJoint<S> rest;
  for (int i = 0; i < chain.n; ++i) rest[i] = S(0.0);
  inertial_regressor(chain, q, rest.data, rest.data, rest.data, chain.gravity, Y);
  clear_friction_columns(chain, Y);
}

template <class S, class P>
void friction_regressor(const ChainView<P>& chain, const S* dq, S* Y) {
  for (int i = 0; i < chain.n * chain.parameters(); ++i) Y[i] = S(0.0);
  write_friction_columns(chain, dq, Y);
}

}  // namespace thunder
