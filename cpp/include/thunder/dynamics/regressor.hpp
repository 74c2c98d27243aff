// Regressors: classical Y(q, dq, ddq) and Slotine-Li Y_r(q, dq, dq_r, ddq_r), all parameters of the chain.
//
// Screws of the joints before link i are pulled back into its frame; the row of joint j in the block of link i is
// the power of screw j on the wrench of a unit of each parameter. With the symmetric product of the two velocities,
// P = sym(w w_r'), the wrench is the one of the Christoffel form of C.
#pragma once

#include <algorithm>
#include <vector>

#include "../math/outline.hpp"
#include "../model/friction.hpp"
#include "dependent_columns.hpp"
#include "pieces.hpp"
#include "reference_motion.hpp"

namespace thunder {

/// The ten columns of a link: wrench of a unit of each parameter, as functions of a joint's screw.
template <class S>
struct LinkColumns {
  Vec3<S> a;
  Mat3<S> A;  // [e] + K
  S N[3][6];

  THUNDER_INLINE LinkColumns(const ReferenceMotion<S>& m, const ReferenceProducts<S>& products)
      : a(m.a), A(products.A) {
    const Sym3<S>& K = products.K;
    const Vec3<S>& e = m.e;
    // P_xx - P_yy and so on, from K = P - tr(P) 1
    const S rows[3][6] = {{e.x, e.y - K.xz, e.z + K.xy, -K.yz, K.yy - K.zz, K.yz},
                          {K.xz, e.x + K.yz, K.zz - K.xx, e.y, e.z - K.xy, -K.xz},
                          {-K.xy, K.xx - K.yy, e.x - K.yz, K.xy, e.y + K.xz, e.z}};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 6; ++k) N[i][k] = rows[i][k];
  }

  THUNDER_INLINE Row<S, kLinkParameters> row(const Screw<S>& s) const {
    const Vec3<S>&w = s.w, &u = s.u;
    const Vec3<S> h = transposed_times(A, u) + cross(a, w);  // K u + u x e + a x w
    Row<S, kLinkParameters> row{{dot(u, a), h.x, h.y, h.z}};
    for (int k = 0; k < 6; ++k) row.entry[4 + k] = w.x * N[0][k] + w.y * N[1][k] + w.z * N[2][k];
    return row;
  }
  THUNDER_INLINE void write(const Screw<S>& screw, S* row) const {
    const Row<S, kLinkParameters> values = this->row(screw);
    for (int k = 0; k < kLinkParameters; ++k) row[k] = values.entry[k];
  }
  /// For the joint of the link itself, whose screw is z.
  THUNDER_INLINE void write_own(bool revolute, S* row) const {
    const S zero(0.0);
    if (revolute) {
      row[0] = row[3] = zero;
      row[1] = a.y;
      row[2] = -a.x;
      for (int k = 0; k < 6; ++k) row[4 + k] = N[2][k];
    } else {
      row[0] = a.z;
      row[1] = A.zx;
      row[2] = A.zy;
      row[3] = A.zz;
      for (int k = 0; k < 6; ++k) row[4 + k] = zero;
    }
  }
};

/// The same columns as rows of packs, so that a row of Y is a few packs times the entries of a screw.
template <class S>
struct PackedColumns {
  using L = Lane<S>;
  static constexpr int W = kLanes<S>;
  static constexpr int kHead = 4 / W, kTail = W == 4 ? 2 : 3;
  static constexpr int tail_column(int block) { return W == 4 ? 4 + 2 * block : 4 + W * block; }  // overlapping at 4
  L head[6][kHead], tail[3][kTail];

  THUNDER_INLINE explicit PackedColumns(const LinkColumns<S>& c) {
    const Vec3<S>& a = c.a;
    const Mat3<S>& A = c.A;
    const S o(0.0), rows[6][4] = {{o, o, a.z, -a.y},       {o, -a.z, o, a.x},       {o, a.y, -a.x, o},
                               {a.x, A.xx, A.xy, A.xz}, {a.y, A.yx, A.yy, A.yz}, {a.z, A.zx, A.zy, A.zz}};
    for (int k = 0; k < 6; ++k)
      for (int b = 0; b < kHead; ++b) head[k][b] = in_registers<L>(&rows[k][W * b]);
    for (int k = 0; k < 3; ++k)
      for (int b = 0; b < kTail; ++b) tail[k][b] = in_registers<L>(&c.N[k][tail_column(b) - 4]);
  }

  THUNDER_INLINE void write(const Screw<S>& s, S* row) const {
    const L wx(s.w.x), wy(s.w.y), wz(s.w.z), ux(s.u.x), uy(s.u.y), uz(s.u.z);
    for (int b = 0; b < kHead; ++b)
      store_lanes(wx * head[0][b] + wy * head[1][b] + wz * head[2][b] +
                      (ux * head[3][b] + uy * head[4][b] + uz * head[5][b]),
                  row + W * b);
    for (int b = 0; b < kTail; ++b)
      store_lanes(wx * tail[0][b] + wy * tail[1][b] + wz * tail[2][b], row + tail_column(b));
  }
};

template <class S>
using RowWriter = std::conditional_t<(kLanes<S> > 1), PackedColumns<S>, LinkColumns<S>>;

template <class S, class P>
THUNDER_INLINE void write_rotor_column(const ChainView<P>& chain, int k, const ReferenceMotion<S>& m,
                                       const Joints<Screw, S>& screws, const S* v, const S* v_r, const S* a_r, int p, S* Y) {
  const Rotor<P>& rotor = chain.rotors[k];
  const int column = chain.rotor_column(k);
  const RotorColumn<S> own = rotor_column(rotor, m, v, v_r, a_r);
  for (int j = 0; j < chain.n; ++j) Y[j * p + column] = j < rotor.carrier ? dot(screws.get(j).w, own.moment) : S(0.0);
  Y[rotor.joint * p + column] += own.torque;
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

/// Screws of the joints before joint i, moved into its frame, and its own behind them.
template <class S, class P>
THUNDER_INLINE void move_screws(int i, bool revolute, const JointStep<S, P>& step, Joints<Screw, S>& screws) {
  using L = Lane<S>;
  constexpr int W = kLanes<S>;
  const JointStep<L, P> wide = widened<L>(step);
  const L zero(0.0);
  const Screw<L> none{{zero, zero, zero}, {zero, zero, zero}};
  for (int j = 0; j <= i; j += W) {
    Screw<L> s = none;
    if (j < i) {
      s = screws.load(j);
      s = {wide.down(s.w), wide.down(s.u + cross(s.w, wide.p))};
    }
    if (i - j < W) (revolute ? s.w.z : s.u.z) += one_hot<S>(i - j);
    screws.store(j, s);
  }
}

/// Columns of link i: rows of the joints that move it, zeros below.
template <class S, class P>
THUNDER_INLINE void write_link(const ChainView<P>& chain, int i, const ReferenceMotion<S>& m,
                               const ReferenceProducts<S>& products, const Joints<Screw, S>& screws, int p, S* Y) {
  using Columns = RowWriter<S>;
  const Link<P>& link = chain.links[i];
  S* row = Y + kLinkParameters * i;
  if (link.has_offset) {
    const ReferenceMotion<S> at_link = seen_from(m, link.offset);
    const Columns columns(LinkColumns<S>(at_link, ReferenceProducts<S>(at_link)));
    for (int j = 0; j <= i; ++j, row += p) columns.write(seen_from(screws.get(j), link.offset), row);
  } else {
    const LinkColumns<S> own(m, products);
    const Columns columns(own);
    for (int j = 0; j < i; ++j, row += p) columns.write(screws.get(j), row);
    own.write_own(link.type == JointType::revolute, row);
    row += p;
  }
  for (int j = i + 1; j < chain.n; ++j, row += p)
    for (int k = 0; k < kLinkParameters; ++k) row[k] = S(0.0);
}

/// Input of the next link: `lever` has a and A.
template <class S>
struct ReferenceState {
  Row<S, 12> lever;
  Vec3<S> w, w_r, e;

  THUNDER_INLINE ReferenceMotion<S> motion() const {
    return {w, w_r, e, {lever.entry[0], lever.entry[4], lever.entry[8]}};
  }
  THUNDER_INLINE Mat3<S> A() const {
    const S* l = lever.entry;
    return {l[1], l[2], l[3], l[5], l[6], l[7], l[9], l[10], l[11]};
  }
};
template <class S, class F>
THUNDER_INLINE void each(ReferenceState<S>& t, F&& f) {
  each(t.lever, f), each(t.w, f), each(t.w_r, f), each(t.e, f);
}

/// The columns of a link as rows of four and of six, to be multiplied by the entries of a screw: `head` and the state's lever by
/// angular and linear ones, `tail` by angular ones.
template <class S>
struct ColumnTable {
  Row<S, 12> head;
  ReferenceState<S> state;
  Row<S, 18> tail;
};
template <class S, class F>
THUNDER_INLINE void each(ColumnTable<S>& t, F&& f) {
  each(t.head, f), each(t.state, f), each(t.tail, f);
}

template <class S>
struct RegressorLink {
  Row<S, 24> way;  // of screws into this frame
  ColumnTable<S> columns;
};
template <class S, class F>
THUNDER_INLINE void each(RegressorLink<S>& t, F&& f) {
  each(t.way, f), each(t.columns, f);
}

template <class S>
THUNDER_INLINE ColumnTable<S> column_table(const ReferenceMotion<S>& m) {
  const LinkColumns<S> columns(m, ReferenceProducts<S>(m));
  const Vec3<S>& a = m.a;
  const Mat3<S>& A = columns.A;
  const S zero(0.0);
  ColumnTable<S> t{{{zero, zero, a.z, -a.y, zero, -a.z, zero, a.x, zero, a.y, -a.x, zero}},
                   {{{a.x, A.xx, A.xy, A.xz, a.y, A.yx, A.yy, A.yz, a.z, A.zx, A.zy, A.zz}}, m.w, m.w_r, m.e},
                   {}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 6; ++k) t.tail.entry[6 * i + k] = columns.N[i][k];
  return t;
}

/// Matrix that takes a screw, with a zero behind each of its vectors, into a frame at p whose axes `down` turns to.
template <class S, class F>
THUNDER_INLINE Row<S, 24> way_of_screws(const Vec3<S>& p, F&& down) {
  const S zero(0.0), one(1.0);
  const Vec3<S> unit[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
  Row<S, 24> way;
  for (int m = 0; m < 3; ++m) {
    const Vec3<S> w = down(unit[m]), u = down(cross(unit[m], p));
    const S row[8] = {w.x, w.y, w.z, zero, u.x, u.y, u.z, zero};
    for (int k = 0; k < 8; ++k) way.entry[8 * m + k] = row[k];
  }
  return way;
}

template <class S>
THUNDER_INLINE Row<S, 8> moved_screw(const Row<S, 24>& way, const Row<S, 8>& screw) {
  return uniform<S>(
      "move_screw",
      [](const Row<S, 24>& x, const Row<S, 8>& s) {
        Row<S, 8> r;
        const S *w = s.entry, *u = s.entry + 4;
        for (int k = 0; k < 4; ++k) {
          const S* to_w = x.entry + k;
          const S* to_u = to_w + 4;
          r.entry[k] = w[0] * to_w[0] + w[1] * to_w[8] + w[2] * to_w[16];
          r.entry[4 + k] = w[0] * to_u[0] + w[1] * to_u[8] + w[2] * to_u[16] + u[0] * to_w[0] + u[1] * to_w[8] + u[2] * to_w[16];
        }
        return r;
      },
      way, screw);
}

template <class S>
THUNDER_INLINE void write_row_piece(const ColumnTable<S>& table, const Row<S, 8>& screw, S* row) {
  const Row<S, kLinkParameters> values = uniform<S>(
      "regressor_row",
      [](const ColumnTable<S>& t, const Row<S, 8>& s) {
        Row<S, kLinkParameters> r;
        const S *w = s.entry, *u = s.entry + 4, *h = t.head.entry, *l = t.state.lever.entry, *N = t.tail.entry;
        for (int k = 0; k < 4; ++k)
          r.entry[k] = w[0] * h[k] + w[1] * h[4 + k] + w[2] * h[8 + k] + u[0] * l[k] + u[1] * l[4 + k] + u[2] * l[8 + k];
        for (int k = 0; k < 6; ++k) r.entry[4 + k] = w[0] * N[k] + w[1] * N[6 + k] + w[2] * N[12 + k];
        return r;
      },
      table, screw);
  for (int k = 0; k < kLinkParameters; ++k) row[k] = values.entry[k];
}

/// Entries of the table, unchanged, of a link and of its joint.
template <class S>
THUNDER_INLINE void write_own_piece(bool revolute, const ColumnTable<S>& table, S* row) {
  for (int k = 0; k < 4; ++k) row[k] = (revolute ? table.head : table.state.lever).entry[8 + k];
  for (int k = 0; k < 6; ++k) row[4 + k] = revolute ? table.tail.entry[12 + k] : S(0.0);
}

/// Where the link frame is not the joint frame.
template <class S, class P>
THUNDER_INLINE RegressorLink<S> link_at_offset(const ReferenceState<S>& state, const Pose<P>& offset) {
  return uniform<S>(
      "regressor_offset",
      [](const ReferenceState<S>& s, const Pose<P>& pose) {
        return RegressorLink<S>{way_of_screws(as<S>(pose.p), [&](const Vec3<S>& v) { return transposed_times(pose.R, v); }),
                                column_table(seen_from(s.motion(), pose))};
      },
      state, offset);
}

/// Columns and way of link i > 0, from the results of the link before.
template <bool classical, class S, class P>
THUNDER_INLINE RegressorLink<S> next_regressor_link(const Link<P>& link, const ReferenceState<S>& before, const Turn<S>& turn,
                                                    const S& q, const S& v, const S& v_r, const S& a_r) {
  const auto next_link = [](auto revolute, const JointStep<S, P>& step, const ReferenceState<S>& parent, const S& speed,
                            const S& reference, const S& acceleration) {
    return RegressorLink<S>{
        way_of_screws(step.p, [&](const Vec3<S>& x) { return step.down(x); }),
        column_table(next_motion<classical>(parent.motion(), parent.A(), step, bool(revolute), speed, reference, acceleration))};
  };
  if constexpr (classical)
    return joint_piece("classical_link", link, turn, q,
                       [next_link](auto revolute, const JointStep<S, P>& step, const ReferenceState<S>& parent, const S& speed,
                                   const S& acceleration) { return next_link(revolute, step, parent, speed, speed, acceleration); },
                       before, v, a_r);
  else
    return joint_piece("regressor_link", link, turn, q, next_link, before, v, v_r, a_r);
}

/// Columns of link i > 0; `screws`, of the joints up to it, are in its joint frame.
template <class S, class P>
THUNDER_INLINE void write_link_of_pieces(const ChainView<P>& chain, int i, const RegressorLink<S>& own, const Row<S, 8>* screws,
                                         int p, S* Y) {
  const Link<P>& link = chain.links[i];
  const RegressorLink<S> at_link = link.has_offset ? link_at_offset(own.columns.state, link.offset) : own;
  const ColumnTable<S>& table = at_link.columns;
  S* row = Y + kLinkParameters * i;
  for (int j = 0; j < i; ++j, row += p)
    write_row_piece(table, link.has_offset ? moved_screw(at_link.way, screws[j]) : screws[j], row);
  if (link.has_offset)
    write_row_piece(table, moved_screw(at_link.way, screws[i]), row);
  else
    write_own_piece(link.type == JointType::revolute, table, row);
  row += p;
  for (int j = i + 1; j < chain.n; ++j, row += p)
    for (int k = 0; k < kLinkParameters; ++k) row[k] = S(0.0);
}

/// Without a revolute joint nearly all terms fold: positions do not matter, which pieces would hide.
template <class P>
bool has_revolute_joint(const ChainView<P>& chain) {
  return std::any_of(chain.links, chain.links + chain.n, [](const Link<P>& link) { return link.type == JointType::revolute; });
}

/// Recorded as pieces, from the motion of the root on; the first link is so simple that it stays out of them. A link comes before
/// the rows of the last one: what these read as packs has long been stored.
template <bool classical, class S, class P>
void inertial_regressor_of_pieces(const ChainView<P>& chain, const Joints<Turn, S>& turns, const Joints<Screw, S>& screws,
                                  ReferenceMotion<S> m, const S* q, const S* v, const S* v_r, const S* a_r, S* Y) {
  const int n = chain.n, p = chain.parameters();
  const auto revolute = [&](int i) { return chain.links[i].type == JointType::revolute; };
  const JointStep<S, P> step(chain.links[0], turns.get(0), q[0]);
  m = next_motion<classical>(m, ReferenceProducts<S>(m).A, step, revolute(0), v[0], v_r[0], a_r[0]);
  std::vector<RegressorLink<S>> links{{{}, column_table(m)}};
  std::vector<Row<S, 8>> rows;
  for (int i = 0; i < n; ++i) {
    if (const int k = i + 1; k < n)
      links.push_back(next_regressor_link<classical>(chain.links[k], links[i].columns.state, turns.get(k), q[k], v[k], v_r[k], a_r[k]));
    for (int j = 0; j < i; ++j) {
      if (j == i - 1 && revolute(j))  // as it stands in the matrix
        std::copy_n(links[i].way.entry + 16, 8, rows[j].entry);
      else
        rows[j] = moved_screw(links[i].way, rows[j]);
    }
    rows.push_back({});
    rows[i].entry[revolute(i) ? 2 : 6] = S(1.0);
    for (int j = 0; j <= i; ++j) {
      const S* s = rows[j].entry;
      screws.set(j, {{s[0], s[1], s[2]}, {s[4], s[5], s[6]}});
    }
    if (i == 0)
      write_link(chain, 0, m, ReferenceProducts<S>(m), screws, p, Y);
    else
      write_link_of_pieces(chain, i, links[i], rows.data(), p, Y);
    for (int k = 0; k < chain.rotor_count; ++k)
      if (chain.rotors[k].carrier == i + 1) write_rotor_column(chain, k, links[i].columns.state.motion(), screws, v, v_r, a_r, p, Y);
  }
  write_armature_columns(chain, a_r, Y);
}

/// Y_r with Y_r pi = M(q) a_r + C(q, v) v_r + G(q), inertial, rotor and armature columns (friction apart).
template <bool classical = false, class S, class P>
void inertial_regressor(const ChainView<P>& chain, Workspace work, const S* q, const S* v, const S* v_r, const S* a_r,
                        const Vec3<P>& gravity, S* Y) {
  const int p = chain.parameters();
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  Joints<Turn, S> turns(work, chain.n);
  Joints<Screw, S> screws(work, chain.n);
  joint_turns(chain, q, chain.n, turns);
  ReferenceMotion<S> m{zero, zero, zero, root_acceleration<S>(chain.root, gravity)};
  ReferenceProducts<S> products(m);
  for (int k = 0; k < chain.rotor_count; ++k)
    if (chain.rotors[k].carrier == 0) write_rotor_column(chain, k, m, screws, v, v_r, a_r, p, Y);
  if constexpr (Outliner<S>::records)
    if (Outliner<S>::uniform(q[0]) && has_revolute_joint(chain))
      return inertial_regressor_of_pieces<classical>(chain, turns, screws, m, q, v, v_r, a_r, Y);
  for (int i = 0; i < chain.n; ++i) {
    const Link<P>& link = chain.links[i];
    const JointStep<S, P> step(link, turns.get(i), q[i]);
    m = next_motion<classical>(m, products.A, step, link.type == JointType::revolute, v[i], v_r[i], a_r[i]);
    products = ReferenceProducts<S>(m);
    move_screws(i, link.type == JointType::revolute, step, screws);
    write_link(chain, i, m, products, screws, p, Y);
    if constexpr (kPrefersLinkFrames<S>) take_dependent_columns(chain, i, p, Y);
    for (int k = 0; k < chain.rotor_count; ++k)
      if (chain.rotors[k].carrier == i + 1) write_rotor_column(chain, k, m, screws, v, v_r, a_r, p, Y);
  }
  write_armature_columns(chain, a_r, Y);
}

/// Y_r(q, dq, dq_r, ddq_r), n x p row by row.
template <class S, class P>
void slotine_li_regressor(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* dq_r,
                          const S* ddq_r, S* Y) {
  inertial_regressor(chain, work, q, dq, dq_r, ddq_r, chain.gravity, Y);
  write_friction_columns(chain, dq, Y);
}

/// Y(q, dq, ddq) with Y pi = inverse dynamics.
template <class S, class P>
void regressor(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* ddq, S* Y) {
  inertial_regressor<true>(chain, work, q, dq, dq, ddq, chain.gravity, Y);
  write_friction_columns(chain, dq, Y);
}

template <class S, class P>
void clear_friction_columns(const ChainView<P>& chain, S* Y) {
  const int p = chain.parameters();
  for (int j = 0; j < chain.n; ++j)
    for (int c = chain.friction_column(0, 0); c < chain.rotor_column(0); ++c) Y[j * p + c] = S(0.0);
}

/// Terms of Y_r apart: of M ddq_r, of C dq_r, of G and of friction; they add up to Y_r.
template <class S, class P>
void mass_regressor(const ChainView<P>& chain, Workspace work, const S* q, const S* ddq_r, S* Y) {
  const PerJoint<S> rest = zeros<S>(work, chain.n);
  inertial_regressor(chain, work, q, rest.data, rest.data, ddq_r, Vec3<P>{P(0.0), P(0.0), P(0.0)}, Y);
  clear_friction_columns(chain, Y);
}

template <class S, class P>
void coriolis_regressor(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, const S* dq_r, S* Y) {
  const PerJoint<S> rest = zeros<S>(work, chain.n);
  inertial_regressor(chain, work, q, dq, dq_r, rest.data, Vec3<P>{P(0.0), P(0.0), P(0.0)}, Y);
  clear_friction_columns(chain, Y);
}

template <class S, class P>
void gravity_regressor(const ChainView<P>& chain, Workspace work, const S* q, S* Y) {
  const PerJoint<S> rest = zeros<S>(work, chain.n);
  inertial_regressor(chain, work, q, rest.data, rest.data, rest.data, chain.gravity, Y);
  clear_friction_columns(chain, Y);
}

template <class S, class P>
void friction_regressor(const ChainView<P>& chain, const S* dq, S* Y) {
  for (int i = 0; i < chain.n * chain.parameters(); ++i) Y[i] = S(0.0);
  write_friction_columns(chain, dq, Y);
}

}  // namespace thunder
