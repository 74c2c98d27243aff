// The kernels for processors with AVX2 and FMA; the only source compiled with these instructions, and it must stay so.
#include "table.hpp"

namespace thunder {

namespace {
struct Avx2 {
  static constexpr int joint_lanes = 4, state_lanes = 4;
};
}  // namespace

const Kernels kernels_avx2 = make_kernels<Avx2>("avx2");

}  // namespace thunder
