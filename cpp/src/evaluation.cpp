#include "thunder/evaluation.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

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

void evaluate_batch(std::size_t quantity, InstructionSet isa, BatchCall call, std::size_t count, int threads) {
  BatchFunction run = batch_baseline(quantity);
#ifdef THUNDER_HAVE_AVX2
  if (isa == InstructionSet::avx2) run = batch_avx2(quantity);
#else
  (void)isa;
#endif
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  // starting a thread costs about as much as this many samples
  constexpr std::size_t worthwhile = 1024;
  threads = static_cast<int>(std::min<std::size_t>(threads, std::max<std::size_t>(1, count / worthwhile)));
  const std::size_t chunk = (count / threads + 7) / 8 * 8;  // whole packs
  call.first = 0;
  call.last = threads > 1 && chunk > 0 ? std::min(chunk, count) : count;
  std::vector<std::thread> workers;
  for (std::size_t first = call.last; first < count; first += chunk) {
    BatchCall part = call;
    part.first = first;
    part.last = std::min(first + chunk, count);
    workers.emplace_back([run, part] { run(part); });
  }
  run(call);
  for (std::thread& worker : workers) worker.join();
}

}  // namespace thunder
