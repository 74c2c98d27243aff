#include "thunder/realtime/thread_settings.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

namespace thunder::realtime {

namespace {

constexpr std::size_t kStack = 128 * 1024;  // that a cycle may use [bytes]

/// Memory is locked for the whole process: as long as any thread asks for it.
class MemoryLock {
 public:
  /// Only what is there already: with MCL_FUTURE every later allocation of the process fails beyond RLIMIT_MEMLOCK.
  int acquire() noexcept {
    const std::lock_guard lock(mutex_);
    if (mlockall(MCL_CURRENT) != 0) return errno;
    ++users_;
    return 0;
  }
  void release() noexcept {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) munlockall();
  }

 private:
  std::mutex mutex_;
  int users_ = 0;
};

MemoryLock& memory_lock() noexcept {
  static MemoryLock lock;
  return lock;
}

/// The pages of the stack below this function are there before the first cycle needs them.
[[gnu::noinline]] void touch_stack() noexcept {
  unsigned char stack[kStack];
  std::memset(stack, 0, kStack);
  asm volatile("" : : "r"(stack) : "memory");  // so that it is not optimized away
}

int set_priority(int priority) noexcept {
  sched_param parameters{};
  parameters.sched_priority = priority;
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
}

int set_core(int core) noexcept {
  if (core >= CPU_SETSIZE) return EINVAL;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  return pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
}

}  // namespace

AppliedSettings::AppliedSettings(const ThreadSettings& settings) noexcept {
  touch_stack();
  prctl(PR_SET_TIMERSLACK, 1UL);  // [ns]; 50 us by default, for threads without a real-time priority
  if (settings.core >= 0) outcome_.core = set_core(settings.core);
  if (settings.priority > 0) outcome_.priority = set_priority(settings.priority);
  if (settings.lock_memory) {
    outcome_.memory = memory_lock().acquire();
    locked_ = outcome_.memory == 0;
  }
}

AppliedSettings::~AppliedSettings() {
  if (locked_) memory_lock().release();
}

ThreadUsage thread_usage() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw, seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

int thread_number() noexcept { return static_cast<int>(syscall(SYS_gettid)); }

}  // namespace thunder::realtime
