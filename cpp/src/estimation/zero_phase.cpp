#include "thunder/estimation/zero_phase.hpp"

#include <cmath>

namespace thunder {

namespace {

/// One pass over the rows in the order of `step`, 1 or -1; `state` has two rows for each section.
void pass(SignalRows& rows, const FilterSections& sections, int step, SignalRows& state) {
  const Eigen::Index count = rows.rows(), width = rows.cols();
  const Eigen::Index first = step > 0 ? 0 : count - 1;
  for (Eigen::Index s = 0; s < sections.rows(); ++s) {  // at rest with the first value, for gains of one
    const auto c = sections.row(s);
    const double steady_2 = c(2) - c(5), steady_1 = c(1) - c(4) + steady_2;
    state.row(2 * s) = steady_1 * rows.row(first);
    state.row(2 * s + 1) = steady_2 * rows.row(first);
  }
  for (Eigen::Index k = 0, row = first; k < count; ++k, row += step) {
    double* x = rows.data() + row * width;
    for (Eigen::Index s = 0; s < sections.rows(); ++s) {
      const double* c = sections.data() + 6 * s;
      double *z1 = state.data() + 2 * s * width, *z2 = z1 + width;
      for (Eigen::Index i = 0; i < width; ++i) {
        const double in = x[i], out = c[0] * in + z1[i];
        z1[i] = c[1] * in - c[4] * out + z2[i];
        z2[i] = c[2] * in - c[5] * out;
        x[i] = out;
      }
    }
  }
}

}  // namespace

FilterSections butterworth(int order, double cutoff) {
  const double w = std::tan(M_PI * cutoff);
  FilterSections sections((order + 1) / 2, 6);
  for (int k = 0; k < order / 2; ++k) {  // a pair of poles at the angle pi/2 + pi (2 k + 1) / (2 order)
    const double damping = 2.0 * std::sin(M_PI * (2 * k + 1) / (2.0 * order)) * w;
    const double a0 = 1.0 + damping + w * w, gain = w * w / a0;
    sections.row(k) << gain, 2.0 * gain, gain, 1.0, 2.0 * (w * w - 1.0) / a0, (1.0 - damping + w * w) / a0;
  }
  if (order % 2 == 1) {
    const double gain = w / (1.0 + w);
    sections.row(order / 2) << gain, gain, 0.0, 1.0, (w - 1.0) / (1.0 + w), 0.0;
  }
  return sections;
}

SignalRows zero_phase(const Eigen::Ref<const SignalRows>& signals, const FilterSections& sections, int padding) {
  const Eigen::Index count = signals.rows();
  SignalRows rows(count + 2 * padding, signals.cols());
  const Eigen::RowVectorXd origin = signals.row(0);  // signals at rest stay exactly so
  rows.middleRows(padding, count) = signals.rowwise() - origin;
  for (Eigen::Index k = 1; k <= padding; ++k) {
    rows.row(padding - k) = -rows.row(padding + k);
    rows.row(padding + count - 1 + k) = 2.0 * rows.row(padding + count - 1) - rows.row(padding + count - 1 - k);
  }
  SignalRows state(2 * sections.rows(), signals.cols());
  pass(rows, sections, 1, state);
  pass(rows, sections, -1, state);
  return rows.middleRows(padding, count).rowwise() + origin;
}

}  // namespace thunder
