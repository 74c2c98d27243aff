#include "thunder/kernels/kernels.hpp"

#ifdef THUNDER_HAVE_X86_KERNELS
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace thunder {

namespace {

const Kernels* find(const std::string& name) {
  const std::vector<const Kernels*> all = available_kernels();
  if (name == "best") return all.back();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Kernels* k) { return name == k->name; });
  return found == all.end() ? nullptr : *found;
}

std::string environment() {
  const char* name = std::getenv("THUNDER_ISA");
  return name == nullptr || *name == '\0' ? "best" : name;
}

const Kernels* initial() {
  const Kernels* wanted = find(environment());
  return wanted != nullptr ? wanted : available_kernels().back();
}

[[noreturn]] void refuse(const std::string& name, const char* source = "") {
  std::string known;
  for (const Kernels* k : available_kernels()) known += (known.empty() ? "" : ", ") + std::string(k->name);
  throw std::invalid_argument("instruction set '" + name + "'" + source + " is not available: this build on this processor has " + known);
}

#ifdef THUNDER_HAVE_X86_KERNELS
struct Processor {
  bool avx2 = false;    ///< AVX2 and FMA
  bool avx512 = false;  ///< F, DQ and VL
};

/// Read from the processor itself: __builtin_cpu_supports is false for everything in the runtime library of zig.
Processor this_processor() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned saved = 1u << 27, fma = 1u << 12;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & saved) || !(c & fma)) return {};
  unsigned low = 0, high = 0;  // registers that the operating system saves
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return {};
  constexpr unsigned avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 31;
  return {(low & 0x06) == 0x06 && (b & avx2) != 0, (low & 0xe6) == 0xe6 && (b & avx512) == avx512};
}
#endif

}  // namespace

std::vector<const Kernels*> available_kernels() {
  std::vector<const Kernels*> result{&kernels_baseline};
#ifdef THUNDER_HAVE_X86_KERNELS
  const Processor processor = this_processor();
  if (processor.avx2) result.push_back(&kernels_avx2);
  if (processor.avx2 && processor.avx512) result.push_back(&kernels_avx512);
#endif
  return result;
}

std::atomic<const Kernels*> kernels_in_use{initial()};

void use_kernels(const std::string& name) {
  const Kernels* wanted = find(name);
  if (wanted == nullptr) refuse(name);
  kernels_in_use.store(wanted, std::memory_order_relaxed);
}

void check_environment() {
  if (find(environment()) == nullptr) refuse(environment(), " (from THUNDER_ISA)");
}

std::size_t batch_workspace_bytes(const Chain& chain, int size, int state_lanes) {
  const std::size_t pack = sizeof(double) * static_cast<std::size_t>(state_lanes);
  const auto values = static_cast<std::size_t>(size + kMaxInputs * chain.parameters());
  const auto padded = static_cast<std::size_t>(padded_joints(chain.n));
  // less per lane than a single state has in `workspace_bytes`, whose lanes are directions of derivatives
  const std::size_t scratch = 4096 + pack * (20 * padded * padded + 400 * padded);
  return scratch + pack * values + 64 * (kMaxInputs + 1);
}

void evaluate_batch(std::size_t quantity, const BatchCall& call, int size, std::size_t count, int threads,
                    const Interruption& interrupted) {
  const Kernels& table = kernels();
  // whole packs, and so few that a chunk of the slowest quantity of a long arm takes milliseconds
  constexpr std::size_t chunk = 128;
  // starting a thread costs about as much as this many samples
  constexpr std::size_t worthwhile = 1024;
  const auto useful = std::clamp<std::size_t>(count / worthwhile, 1, std::numeric_limits<int>::max());
  ParallelOptions options{threads, chunk, interrupted};
  options.threads = std::min(static_cast<int>(useful), parallel_threads(count, options));
  const std::size_t bytes = batch_workspace_bytes(call.chain, size, table.state_lanes);
  const std::vector<WorkspaceMemory> scratch(static_cast<std::size_t>(options.threads), WorkspaceMemory(bytes));
  parallel_for(count, options, [&](std::size_t first, std::size_t last, int worker) {
    BatchCall part = call;
    part.first = first;
    part.last = last;
    table.evaluate_batch[quantity](part, scratch[static_cast<std::size_t>(worker)].view());
  });
}

Workspace thread_workspace(int n) {
  static thread_local WorkspaceMemory memory;
  memory.reserve(workspace_bytes(n, sizeof(double)));
  return memory.view();
}

}  // namespace thunder
