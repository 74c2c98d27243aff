// Loops over independent indices on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace thunder {

/// Called on the thread that started a long computation, every 100 ms at most; throws to end it. May be empty.
using Interruption = std::function<void()>;

struct ParallelOptions {
  int threads = 1;               // at most, the calling one among them; 0: `default_threads`
  std::size_t chunk = 1;         // consecutive indices that a thread takes at a time
  Interruption interrupted = {};  // looked at between chunks of the calling thread, and while it waits for the others
  std::size_t* failed = nullptr;  // where to write the first index of the chunk that an error came from
};

/// Indices [first, last) on thread `worker`, 0 to `parallel_threads - 1`; 0 is the calling thread.
using ParallelBody = std::function<void(std::size_t first, std::size_t last, int worker)>;

/// Environment variable THUNDER_THREADS, which worker processes set to 1, or one per core.
int default_threads() noexcept;

/// Largest number of threads of `parallel_for`, for scratch memory per thread.
int parallel_threads(std::size_t count, const ParallelOptions& options) noexcept;

/// Calls `body` for chunks that together are [0, count), in order of the indices on every thread. Threads that cannot be
/// started are done without. An error ends the loop: it returns when every thread has, and rethrows what `interrupted`
/// threw, else the error of the lowest index, which does not depend on the number of threads.
void parallel_for(std::size_t count, const ParallelOptions& options, const ParallelBody& body);

}  // namespace thunder
