// The kernels compiled like the rest of the package: any processor of the architecture runs them.
#include "table.hpp"

namespace thunder {

namespace {
struct Baseline {
  static constexpr int joint_lanes = 2, state_lanes = 2;
};
}  // namespace

const Kernels kernels_baseline = make_kernels<Baseline>("baseline");

}  // namespace thunder
