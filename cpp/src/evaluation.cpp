#include "thunder/evaluation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace thunder {

namespace {

template <std::size_t Index>
void evaluate(const ChainView<double>& chain, const double* const* in, const Selection<double>& selection, double* out) {
  std::tuple_element_t<Index, quantities::All>::evaluate(chain, in, selection, out);
}

template <std::size_t... I>
constexpr EvaluateFunction table_entry(std::index_sequence<I...>, std::size_t quantity) {
  constexpr EvaluateFunction entries[] = {evaluate<I>...};
  return entries[quantity];
}

}  // namespace

EvaluateFunction evaluate_one(std::size_t quantity) {
  return table_entry(std::make_index_sequence<kQuantityCount>(), quantity);
}

InstructionSet best_instruction_set() {
#ifdef THUNDER_HAVE_AVX2
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

void evaluate_batch(std::size_t quantity, InstructionSet isa, const BatchCall& call, std::size_t count, int threads,
                    const Interruption& interrupted) {
  BatchFunction run = batch_baseline(quantity);
#ifdef THUNDER_HAVE_AVX2
  if (isa == InstructionSet::avx2) run = batch_avx2(quantity);
#else
  (void)isa;
#endif
  // whole packs, and so few that a chunk of the slowest quantity of a long arm takes milliseconds
  constexpr std::size_t chunk = 128;
  // starting a thread costs about as much as this many samples
  constexpr std::size_t worthwhile = 1024;
  const int useful = static_cast<int>(std::min<std::size_t>(std::numeric_limits<int>::max(), std::max<std::size_t>(1, count / worthwhile)));
  ParallelOptions options{threads, chunk, interrupted};
  options.threads = std::min(useful, parallel_threads(count, options));
  parallel_for(count, options, [run, &call](std::size_t first, std::size_t last, int) {
    BatchCall part = call;
    part.first = first;
    part.last = last;
    run(part);
  });
}

}  // namespace thunder
