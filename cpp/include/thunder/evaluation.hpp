// Evaluating a quantity of the list by its index: one state, or a batch in packs of the width this machine has.
#pragma once

#include <cstddef>

#include "quantities.hpp"
#include "threads/parallel_for.hpp"

namespace thunder {

inline constexpr int kMaxInputs = 5;
inline constexpr std::size_t kQuantityCount = std::tuple_size_v<quantities::All>;

using EvaluateFunction = void (*)(const ChainView<double>&, const double* const* in, const Selection<double>&,
                                  double* out);

/// Samples [first, last): sample b of input k starts at in[k] + b * stride[k], of the output at out + b * size.
struct BatchCall {
  ChainView<double> chain;
  Selection<double> selection;
  const double* in[kMaxInputs];
  std::ptrdiff_t stride[kMaxInputs];
  double* out;
  std::size_t first, last;
};
using BatchFunction = void (*)(const BatchCall&);

// Each is one table, compiled in a source file of its own with the flags its name says.
EvaluateFunction evaluate_one(std::size_t quantity);
BatchFunction batch_baseline(std::size_t quantity);
#ifdef THUNDER_HAVE_AVX2
BatchFunction batch_avx2(std::size_t quantity);
#endif

enum class InstructionSet { baseline, avx2 };

/// The widest set that this build has and this machine runs.
InstructionSet best_instruction_set();

/// The whole batch, on `threads` threads (0: one per core), unless `interrupted` ends it.
void evaluate_batch(std::size_t quantity, InstructionSet isa, const BatchCall& call, std::size_t count, int threads,
                    const Interruption& interrupted = {});

}  // namespace thunder
