// Mass and Coriolis matrices from composite bodies in joint frames, with few operations where entries of the table are
// zero: for recordings. (For run-time numbers mass_coriolis.hpp is faster, where adding bodies is adding numbers.)
//
// C_jk = sum J_j . J_k_dot over the particles, J_k being a particle's velocity at unit speed of joint k: this is the C of
// Christoffel symbols. Column k of C is the wrench of all J_k_dot beyond joint k; row k that of J_k against velocities.
// Both are passed to the joints before. All beyond joint k is described relative to link k, and everything in
// axes that do not turn with its own joint: composites, wrenches and velocities are then turned once per joint.
#pragma once

#include "../math/outline.hpp"
#include "second_moments.hpp"

namespace thunder {

/// Angular velocity of a link and velocity of its joint frame's origin.
template <class S>
struct LinkVelocity {
  Vec3<S> w, v;
};
template <class S, class F>
THUNDER_INLINE void each(LinkVelocity<S>& t, F&& f) {
  each(t.w, f), each(t.v, f);
}

/// Moment and force of the particles' momenta J_k at unit speed of joint k, in the axes of some frame before it.
template <class S>
struct MassColumn {
  Vec3<S> n, f;
};
template <class S, class F>
THUNDER_INLINE void each(MassColumn<S>& t, F&& f) {
  each(t.n, f), each(t.f, f);
}
/// Moment and force of J_k_dot, and the couple sum r_dot x J_k.
template <class S>
struct CoriolisColumn {
  Vec3<S> n1, f1, n3;
};
template <class S, class F>
THUNDER_INLINE void each(CoriolisColumn<S>& t, F&& f) {
  each(t.n1, f), each(t.f1, f), each(t.n3, f);
}

/// `axial`: moment of inertia about z.
template <class S>
THUNDER_INLINE MassColumn<S> mass_column(bool revolute, const SecondMoments<S>& b, const S& axial) {
  const S zero(0.0);
  if (revolute) return {{-b.J.xz, -b.J.yz, axial}, {-b.h.y, b.h.x, zero}};
  return {{b.h.y, -b.h.x, zero}, {zero, zero, b.m}};
}

/// `trace` = E_xx + E_yy.
template <class S>
THUNDER_INLINE CoriolisColumn<S> coriolis_column(bool revolute, const SecondMoments<S>& b, const FlowMoments<S>& u,
                                                 const S& trace, const LinkVelocity<S>& link,
                                                 const MassColumn<S>& column) {
  const Vec3<S>&w = link.w, &h = b.h, &f = u.f;
  const Vec3<S> base = cross(link.v, column.f);
  if (!revolute) {
    const S fx = f.x + (w.y * h.z - w.z * h.y), fy = f.y + (w.z * h.x - w.x * h.z);
    return {{h.z * w.x, h.z * w.y, -(h.x * w.x + h.y * w.y)},
            {w.y * b.m, -(w.x * b.m), S(0.0)},
            {base.x + fy, base.y - fx, base.z}};
  }
  const Sym3<S>& J = b.J;
  const Mat3<S>& E = u.E;
  return {{J.xy * w.x + J.yy * w.y + J.yz * w.z - E.xz, -(J.xx * w.x + J.xy * w.y + J.xz * w.z + E.yz), trace},
          {-(w.z * h.x + f.y), f.x - w.z * h.y, w.x * h.x + w.y * h.y},
          {base.x + (J.xx * w.y - J.xy * w.x - E.zx), base.y + (J.xy * w.y - J.yy * w.x - E.zy),
           base.z + (J.xz * w.y - J.yz * w.x + trace)}};
}

/// Between a joint frame and the one before: a turn about z, and a tilt about x with a translation p.
template <class S, class P>
struct JointTransfer {
  bool revolute;
  Turn<S> turn;
  Tilt<P> tilt;
  Vec3<S> p;

  JointTransfer() = default;
  THUNDER_INLINE JointTransfer(const Link<P>& link, const Turn<S>& turn_, const S& q)
      : revolute(link.type == JointType::revolute), turn(turn_), tilt(link.cos_alpha, link.sin_alpha),
        p(JointStep<S, P>(link, turn_, q).p) {}

  THUNDER_INLINE void rotate_back(SecondMoments<S>& b) const { b.h = rotated_back(turn, b.h), b.J = rotated_back(turn, b.J); }
  THUNDER_INLINE void rotate_back(FlowMoments<S>& u) const { u.f = rotated_back(turn, u.f), u.E = rotated_back(turn, u.E); }
  THUNDER_INLINE void rotate_back(MassColumn<S>& c) const { c.n = rotated_back(turn, c.n), c.f = rotated_back(turn, c.f); }
  THUNDER_INLINE void rotate_back(CoriolisColumn<S>& c) const {
    c.n1 = rotated_back(turn, c.n1), c.f1 = rotated_back(turn, c.f1), c.n3 = rotated_back(turn, c.n3);
  }
  THUNDER_INLINE void leave(SecondMoments<S>& b) const {
    b = shifted(p, SecondMoments<S>{b.m, tilted(tilt, b.h), tilted(tilt, b.J)});
  }
  THUNDER_INLINE void leave(FlowMoments<S>& u) const {
    u = shifted(p, FlowMoments<S>{tilted(tilt, u.f), tilted(tilt, u.E)});
  }
  THUNDER_INLINE void leave(MassColumn<S>& c) const {
    c.f = tilted(tilt, c.f);
    c.n = tilted(tilt, c.n) + cross(p, c.f);
  }
  THUNDER_INLINE void leave(CoriolisColumn<S>& c) const {
    c.f1 = tilted(tilt, c.f1);
    c.n1 = tilted(tilt, c.n1) + cross(p, c.f1);
    c.n3 = tilted(tilt, c.n3);
  }
  /// The link's velocity from that of the link before, in axes before the turn.
  THUNDER_INLINE LinkVelocity<S> enter(const LinkVelocity<S>& before, const S& dq) const {
    LinkVelocity<S> link{rotated_back(tilt, before.w), rotated_back(tilt, before.v + cross(before.w, p))};
    (revolute ? link.w.z : link.v.z) += dq;
    return link;
  }
  THUNDER_INLINE LinkVelocity<S> turned(const LinkVelocity<S>& link) const {
    return {thunder::turned(turn, link.w), thunder::turned(turn, link.v)};
  }
};

/// M and, if `coriolis`, C: the joints' transfers, and where entries go.
template <bool coriolis, class S, class P>
struct LinkFramePass {
  const ChainView<P>& chain;
  const S* dq;
  S *M, *C;
  PerJoint<JointTransfer<S, P>> joints;
  PerJoint<LinkVelocity<S>> velocities;  // in the axes before the turn of the link's joint; of M alone: zero

  /// Composite carried by a joint. Moments about its own axis are kept from before the turn, which does not change them.
  struct Composite {
    SecondMoments<S> body;
    FlowMoments<S> flow;
    S axial, trace;
  };
  template <class F>
  friend void each(Composite& t, F&& f) {
    each(t.body, f), f(t.axial);
    if constexpr (coriolis) each(t.flow, f), f(t.trace);
  }
  struct Column {
    MassColumn<S> mass;
    CoriolisColumn<S> coriolis_part;
  };
  template <class F>
  friend void each(Column& t, F&& f) {
    each(t.mass, f);
    if constexpr (coriolis) each(t.coriolis_part, f);
  }
  /// A column in the axes before the turn of joint j, and what it adds to M_jk, C_jk and C_kj.
  struct ColumnEntries {
    Column column;
    S mass, upper, lower;
  };
  template <class F>
  friend void each(ColumnEntries& t, F&& f) {
    each(t.column, f), f(t.mass), f(t.upper), f(t.lower);
  }

  LinkFramePass(const ChainView<P>& chain_, Workspace work, const S* q, const S* dq_, S* M_, S* C_)
      : chain(chain_), dq(dq_), M(M_), C(C_), joints(work, chain.n), velocities(work, chain.n) {
    const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
    const int n = chain.n;
    Joints<Turn, S> turns(work, n);
    joint_turns(chain, q, n, turns);
    LinkVelocity<S> link{zero, zero};
    for (int i = 0; i < n; ++i) {
      joints[i] = JointTransfer<S, P>(chain.links[i], turns.get(i), q[i]);
      velocities[i] = link;
      if constexpr (coriolis) {
        velocities[i] = joints[i].enter(link, dq[i]);
        link = joints[i].turned(velocities[i]);
      }
    }
    for (int i = 0; i < n * n; ++i) {
      M[i] = S(0.0);
      if constexpr (coriolis) C[i] = S(0.0);
    }
  }

  /// Contribution of column k, in the axes before the turn of a joint, to its entries.
  static ColumnEntries entries_of(const Column& column, bool revolute, const LinkVelocity<S>& link) {
    const Vec3<S>&n2 = column.mass.n, &f2 = column.mass.f, &w = link.w, &v = link.v;
    ColumnEntries entries{column, revolute ? n2.z : f2.z, S(0.0), S(0.0)};
    if constexpr (coriolis) {
      const CoriolisColumn<S>& c = column.coriolis_part;
      entries.upper = revolute ? c.n1.z : c.f1.z;
      entries.lower = revolute ? c.n3.z + (w.y * n2.x - w.x * n2.y) + (v.y * f2.x - v.x * f2.y) : w.y * f2.x - w.x * f2.y;
    }
    return entries;
  }
  void add(const ColumnEntries& entries, int j, int k) {
    const int n = chain.n, upper = j * n + k, lower = k * n + j;
    M[upper] += entries.mass;
    M[lower] += entries.mass;
    if constexpr (coriolis) C[upper] += entries.upper, C[lower] += entries.lower;
  }

  static void rotate_back(Column& column, const JointTransfer<S, P>& joint) {
    joint.rotate_back(column.mass);
    if constexpr (coriolis) joint.rotate_back(column.coriolis_part);
  }
  /// From joint j, in the axes before its turn, to the joint before.
  ColumnEntries column_in_previous_frame(const Column& column, int j) const {
    const JointTransfer<S, P>&joint = joints[j], &before = joints[j - 1];
    const bool revolute = before.revolute;
    return outlined<S>(
        coriolis ? (revolute ? "coriolis_column_R" : "coriolis_column_P") : revolute ? "mass_column_R" : "mass_column_P",
        [revolute](const Column& c, const Tilt<P>& tilt, const Vec3<S>& p, const Turn<S>& turn, const LinkVelocity<S>& link) {
          JointTransfer<S, P> way;
          way.tilt = tilt, way.p = p, way.turn = turn;
          Column moved = c;
          way.leave(moved.mass);
          if constexpr (coriolis) way.leave(moved.coriolis_part);
          rotate_back(moved, way);
          return entries_of(moved, revolute, link);
        },
        column, joint.tilt, joint.p, before.turn, velocities[j - 1]);
  }
  /// Entries of all joints before joint i.
  void hand_down(const Column& column, int i, int k) {
    ColumnEntries entries{column, S(0.0), S(0.0), S(0.0)};
    for (int j = i; j > 0; --j) {
      entries = column_in_previous_frame(entries.column, j);
      add(entries, j - 1, k);
    }
  }

  /// Composite carried by a joint, in the axes before its turn.
  static Composite rotated_back_body(const Composite& carried, const Turn<S>& turn) {
    return outlined<S>(
        coriolis ? "coriolis_turn" : "mass_turn",
        [](const Composite& c, const Turn<S>& t) {
          JointTransfer<S, P> way;
          way.turn = t;
          Composite body = c;
          body.axial = c.body.J.xx + c.body.J.yy;
          way.rotate_back(body.body);
          if constexpr (coriolis) {
            body.trace = c.flow.E.xx + c.flow.E.yy;
            way.rotate_back(body.flow);
          }
          return body;
        },
        carried, turn);
  }
  /// Composite of joint k, in its axes before the turn, seen from the joint before.
  Composite composite_in_previous_frame(const Composite& carried, int k) const {
    const JointTransfer<S, P>& joint = joints[k];
    const bool revolute = joint.revolute;
    return outlined<S>(
        coriolis ? (revolute ? "coriolis_leave_R" : "coriolis_leave_P") : "mass_leave",
        [revolute](const Composite& c, const Tilt<P>& tilt, const Vec3<S>& p, const S& speed) {
          JointTransfer<S, P> way;
          way.tilt = tilt, way.p = p;
          Composite body = c;
          if constexpr (coriolis) {
            add_joint_motion(revolute, speed, c.body, body.flow);
            way.leave(body.flow);
          }
          way.leave(body.body);
          return body;
        },
        carried, joint.tilt, joint.p, coriolis ? dq[k] : S(0.0));
  }

  /// The joint's own column, from its composite, in axes before its turn.
  void add_joint(const Composite& carried, int k) {
    const bool revolute = joints[k].revolute;
    const int diagonal = k * (chain.n + 1);
    const Column column = outlined<S>(
        coriolis ? (revolute ? "coriolis_joint_R" : "coriolis_joint_P") : revolute ? "mass_joint_R" : "mass_joint_P",
        [revolute](const Composite& c, const LinkVelocity<S>& link) {
          Column own;
          own.mass = mass_column(revolute, c.body, c.axial);
          if constexpr (coriolis)
            own.coriolis_part = coriolis_column(revolute, c.body, c.flow, c.trace, link, own.mass);
          return own;
        },
        carried, velocities[k]);
    M[diagonal] += revolute ? column.mass.n.z : column.mass.f.z;
    if constexpr (coriolis) C[diagonal] += revolute ? column.coriolis_part.n1.z : column.coriolis_part.f1.z;
    hand_down(column, k, k);
  }

  /// A rotor: an axial inertia of the carrier, the couple of its spin, and a column of M and C for its joint.
  void add_rotor(const Rotor<P>& rotor, Composite& carrier) {
    const int r = rotor.joint, j = rotor.carrier - 1;
    const S inertia(rotor.inertia), k(rotor.ratio * rotor.inertia);
    M[r * (chain.n + 1)] += k * rotor.ratio;
    if (j < 0) return;
    const Vec3<S> zero{S(0.0), S(0.0), S(0.0)}, a = as<S>(rotor.axis), b = a * inertia;
    Sym3<S>& J = carrier.body.J;
    J = J + Sym3<S>{inertia * 0.5 - a.x * b.x, -(a.x * b.y), -(a.x * b.z),
                    inertia * 0.5 - a.y * b.y, -(a.y * b.z), inertia * 0.5 - a.z * b.z};
    Column column;
    column.mass = {a * k, zero};
    if constexpr (coriolis) {
      const Vec3<S> s = a * (k * 0.5 * dq[r]);
      Mat3<S>& E = carrier.flow.E;
      E.xy -= s.z, E.xz += s.y, E.yx += s.z, E.yz -= s.x, E.zx -= s.y, E.zy += s.x;
    }
    joints[j].rotate_back(column.mass);
    if constexpr (coriolis) {
      const Vec3<S> rate = cross(velocities[j].w, column.mass.n * S(0.5));
      column.coriolis_part = {rate, zero, rate};
    }
    add(entries_of(column, joints[j].revolute, velocities[j]), j, r);
    hand_down(column, j, r);
  }

  void run() {
    const S zero(0.0);
    const Vec3<S> none{zero, zero, zero};
    Composite c{{zero, none, {zero, zero, zero, zero, zero, zero}}, {none, {zero, zero, zero, zero, zero, zero, zero, zero, zero}}, zero, zero};
    for (int k = chain.n - 1; k >= 0; --k) {
      c.body += second_moments<S>(chain.bodies.get(k));
      for (int r = 0; r < chain.rotor_count; ++r)
        if (chain.rotors[r].carrier == k + 1) add_rotor(chain.rotors[r], c);
      if (chain.has_armature) M[k * (chain.n + 1)] += S(chain.links[k].armature);
      c = rotated_back_body(c, joints[k].turn);
      add_joint(c, k);
      if (k > 0) c = composite_in_previous_frame(c, k);
    }
    for (int r = 0; r < chain.rotor_count; ++r)
      if (chain.rotors[r].carrier == 0) add_rotor(chain.rotors[r], c);
  }
};

/// M, n x n row by row.
template <class S, class P>
void mass_matrix_link_frames(const ChainView<P>& chain, Workspace work, const S* q, S* M) {
  LinkFramePass<false, S, P>(chain, work, q, nullptr, M, nullptr).run();
}

/// M and C, each n x n row by row; M_dot = C + C'.
template <class S, class P>
void mass_coriolis_link_frames(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* M, S* C) {
  LinkFramePass<true, S, P>(chain, work, q, dq, M, C).run();
}

}  // namespace thunder
