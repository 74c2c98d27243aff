// The kernels compiled like the rest of the package: any processor of the architecture runs them.
#include "table.hpp"

namespace thunder {

namespace {
struct Baseline {
  static constexpr int joint_lanes = 2;
#ifdef __x86_64__
  static constexpr int state_lanes = 1;  // for processors of before 2013: no code of its own for batches
#else
  static constexpr int state_lanes = 2;
#endif
};
}  // namespace

const Kernels kernels_baseline = make_kernels<Baseline>("baseline");

}  // namespace thunder
