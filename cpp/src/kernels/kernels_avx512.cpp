// The kernels for processors with AVX-512 (F, VL, DQ); the only source compiled with these instructions, and it must stay so.
#include "table.hpp"

namespace thunder {

namespace {
struct Avx512 {
  static constexpr int joint_lanes = 4, state_lanes = 8;
  static constexpr const Kernels* narrower = &kernels_avx2;
};
}  // namespace

const Kernels kernels_avx512 = make_kernels<Avx512>("avx512");

}  // namespace thunder
