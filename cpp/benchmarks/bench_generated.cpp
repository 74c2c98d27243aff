// Generated C, of this package or of CasADi: the same recorded functions through either generator. functions.h and
// calls.inc are written by benchmarks/_sources.py, beside the functions' own source, which is compiled by itself, so
// that every call is one.
#include "arm.hpp"
#include "functions.h"
#include "harness.hpp"

using Vector = std::vector<double>;
using State = bench::State<Vector>;

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  const bench::Arm arm = bench::read_arm(options.arm);
  const std::size_t n = arm.links.size();
  const auto states = bench::random_states<Vector>(n, [](std::size_t k) { return Vector(k); });
  Vector parameters;  // of all links, for functions that take them at run time
  for (const bench::Link& link : arm.links) parameters.insert(parameters.end(), link.inertia.begin(), link.inertia.end());

  bench::Bench measure(BENCH_LIBRARY, n, options);
#include "calls.inc"
}
