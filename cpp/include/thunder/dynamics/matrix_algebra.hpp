// The papers' own constructions, for study and comparison: Coriolis by matrix algebra (Thunder article, eq. 11), by
// Christoffel sums, and the blocks of the 2009 regressor paper. The kernels elsewhere are faster; all agree.
#pragma once

#include <vector>

#include "partial_derivatives.hpp"

namespace thunder {

/// C = 1/2 ([B_q dq] + Q B_q - B_q' Q'), with B_q (n n x n) from dB at [i][j][k] and Q = [I dq_1 | ... | I dq_n].
template <class S>
void coriolis_from_derivative(int n, const S* dB, const S* dq, S* C) {
  std::vector<S> second(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      S sum(0.0);  // (Q B_q)_ij = sum_k dq_k db_ik/dq_j
      for (int k = 0; k < n; ++k) sum += dB[(i * n + k) * n + j] * dq[k];
      second[i * n + j] = sum;
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      S first(0.0);  // [B_q dq]_ij
      for (int k = 0; k < n; ++k) first += dB[(i * n + j) * n + k] * dq[k];
      C[i * n + j] = (first + second[i * n + j] - second[j * n + i]) * 0.5;
    }
}

template <class S, class P>
void coriolis_matrix_algebra(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* C) {
  std::vector<S> dM(chain.n * chain.n * chain.n);
  mass_matrix_derivative(chain, work, q, dM.data());
  coriolis_from_derivative(chain.n, dM.data(), dq, C);
}

/// C_ij = sum_k 1/2 (db_ij/dq_k + db_ik/dq_j - db_jk/dq_i) dq_k, entry by entry.
template <class S, class P>
void coriolis_matrix_christoffel(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* C) {
  const int n = chain.n;
  std::vector<S> d(n * n * n);
  mass_matrix_derivative(chain, work, q, d.data());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      S sum(0.0);
      for (int k = 0; k < n; ++k)
        sum += (d[(i * n + j) * n + k] + d[(i * n + k) * n + j] - d[(j * n + k) * n + i]) * dq[k];
      C[i * n + j] = sum * 0.5;
    }
}

/// Jacobian of the origin of link frame i (columns as linear, angular pairs) and its orientation.
template <class S, class P>
Mat3<S> link_jacobian(const ChainView<P>& chain, Workspace work, const S* q, int i, Vec3<S>* J_v, Vec3<S>* J_w) {
  Joints<Pose, S> poses(work, i + 1);
  joint_frames(chain, work, q, i + 1, poses);
  const Pose<S> frame = frame_pose(poses, Frame<P>{i + 1, chain.links[i].offset});
  const Vec3<S> zero{S(0.0), S(0.0), S(0.0)};
  for (int j = 0; j < chain.n; ++j) {
    J_v[j] = J_w[j] = zero;
    if (j > i) continue;
    const Pose<S> pose = poses.get(j);
    const Vec3<S> z = z_axis(pose.R);
    if (chain.links[j].type == JointType::revolute) {
      J_v[j] = cross(z, frame.p - pose.p);
      J_w[j] = z;
    } else {
      J_v[j] = z;
    }
  }
  return frame.R;
}

/// Column h of R.
template <class S>
Vec3<S> column(const Mat3<S>& R, int h) {
  if (h == 0) return {R.xx, R.yx, R.zx};
  if (h == 1) return {R.xy, R.yy, R.zy};
  return {R.xz, R.yz, R.zz};
}

/// B_0, B_1(Q_1..Q_3), B_2(E_1..E_6) of link i: B^(i) = sum_k block_k pi_k (eqs. 14-16). 10 x n x n.
template <class S, class P>
void link_mass_blocks(const ChainView<P>& chain, Workspace work, const S* q, int i, S* blocks) {
  const int n = chain.n;
  std::vector<Vec3<S>> J_v(n), J_w(n);
  const Mat3<S> R = link_jacobian(chain, work, q, i, J_v.data(), J_w.data());
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) {
      S* out = blocks + r * n + c;
      out[0] = dot(J_v[r], J_v[c]);
      // R Q_h R' = [R e_h]x, so J_w' [a] J_v - J_v' [a] J_w
      for (int h = 0; h < 3; ++h) {
        const Vec3<S> a = column(R, h);
        out[(1 + h) * n * n] = dot(J_w[r], cross(a, J_v[c])) - dot(J_v[r], cross(a, J_w[c]));
      }
      const Vec3<S> w = transposed_times(R, J_w[r]), x = transposed_times(R, J_w[c]);
      const S entries[6] = {w.x * x.x, w.x * x.y + w.y * x.x, w.x * x.z + w.z * x.x,
                            w.y * x.y, w.y * x.z + w.z * x.y, w.z * x.z};
      for (int k = 0; k < 6; ++k) out[(4 + k) * n * n] = entries[k];
    }
}

/// Blocks of all links, n x 10 x n x n.
template <class S, class P>
void mass_blocks(const ChainView<P>& chain, Workspace work, const S* q, S* blocks) {
  for (int i = 0; i < chain.n; ++i)
    link_mass_blocks(chain, work, q, i, blocks + i * kLinkParameters * chain.n * chain.n);
}

/// C_0, C_1(Q_h), C_2(E_k): eq. 11 applied to every block of every link, n x 10 x n x n.
template <class S, class P>
void coriolis_blocks(const ChainView<P>& chain, Workspace work, const S* q, const S* dq, S* blocks) {
  const int n = chain.n, size = kLinkParameters * n * n;
  std::vector<Dual<S>> x(n), B(size);
  std::vector<S> dB(size * n);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < n; ++j) x[j] = Dual<S>(q[j], S(j == k ? 1.0 : 0.0));
      link_mass_blocks(chain, work, x.data(), i, B.data());
      for (int e = 0; e < size; ++e) dB[e * n + k] = B[e].b;
    }
    for (int b = 0; b < kLinkParameters; ++b)
      coriolis_from_derivative(n, dB.data() + b * n * n * n, dq, blocks + i * size + b * n * n);
  }
}

/// Z_0 and the three columns of Z_1 of every link, n x 4 x n: dU/dq = sum Z_0 m + Z_1 m c (eq. 21).
template <class S, class P>
void gravity_blocks(const ChainView<P>& chain, Workspace work, const S* q, S* blocks) {
  const int n = chain.n;
  std::vector<Vec3<S>> J_v(n), J_w(n);
  for (int i = 0; i < n; ++i) {
    const Mat3<S> R = link_jacobian(chain, work, q, i, J_v.data(), J_w.data());
    S* out = blocks + i * 4 * n;
    for (int j = 0; j < n; ++j) {
      out[j] = -dot(J_v[j], chain.gravity);
      for (int h = 0; h < 3; ++h) out[(1 + h) * n + j] = -dot(cross(J_w[j], column(R, h)), chain.gravity);
    }
  }
}

}  // namespace thunder
