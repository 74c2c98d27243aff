// Manipulability of chosen rows of the Jacobian.
#pragma once

#include <cmath>

#include "jacobian.hpp"

namespace thunder {

template <class S, class P>
int task_jacobian(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, TaskRows rows, S* J) {
  const PerJoint<S> full(work, 6 * chain.n);
  jacobian(chain, work, q, frame, full.data);
  int m = 0;
  for (int r = 0; r < 6; ++r) {
    if (!rows.has(r)) continue;
    for (int j = 0; j < chain.n; ++j) J[m * chain.n + j] = full[r * chain.n + j];
    ++m;
  }
  return m;
}

/// sqrt(det(J J')), Yoshikawa's measure: the product of the rows' lengths once each is cleared of those before.
template <class S, class P>
void manipulability(const ChainView<P>& chain, Workspace work, const S* q, const Frame<P>& frame, TaskRows rows, S* w) {
  using std::sqrt;
  const int n = chain.n;
  const PerJoint<S> J(work, 6 * n);
  S squares[6];
  const int m = task_jacobian(chain, work, q, frame, rows, J.data);
  S product(1.0);
  for (int r = 0; r < m; ++r) {
    S* row = J.data + r * n;
    for (int k = 0; k < r; ++k) {
      S overlap(0.0);
      for (int j = 0; j < n; ++j) overlap += row[j] * J[k * n + j];
      overlap = overlap / squares[k];
      for (int j = 0; j < n; ++j) row[j] -= J[k * n + j] * overlap;
    }
    S square(0.0);
    for (int j = 0; j < n; ++j) square += row[j] * row[j];
    product = product * sqrt(square);
    squares[r] = square + 1e-300;  // a row of zeros has no overlap with any other
  }
  *w = product;
}

}  // namespace thunder
