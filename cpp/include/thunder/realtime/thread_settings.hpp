// Settings of a thread that must not be late: priority, core, memory that stays; and what of them was allowed.
#pragma once

namespace thunder::realtime {

struct ThreadSettings {
  int priority = 0;          // of SCHED_FIFO, 1 to 99; 0 leaves the scheduler as it is
  int core = -1;             // the only one that it runs on; -1 for any
  bool lock_memory = false;  // keeps all memory that the process has at the start, until its end
};

/// Errors (errno) of each setting, 0 where it holds or was not asked for.
struct ThreadOutcome {
  int priority = 0, core = 0, memory = 0;
};

/// What the system counts of a thread.
struct ThreadUsage {
  long minor_faults = 0, major_faults = 0;        // pages
  long waits = 0, preemptions = 0;                // switches by itself, and by the system
  double processor = 0.0;                         // [s]
};

/// Applies settings to the calling thread, touches its stack, and lets its timers be exact.
ThreadOutcome apply(const ThreadSettings& settings) noexcept;

/// Of the calling thread, since its start.
ThreadUsage thread_usage() noexcept;
/// The number that the system gives the calling thread.
int thread_number() noexcept;

}  // namespace thunder::realtime
