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

namespace thunder::realtime {

namespace {

constexpr std::size_t kStack = 128 * 1024;  // that a cycle may use [bytes]

/// Has the program asked that memory of the future is locked? Pages are there without a touch then.
bool locks_future() noexcept {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  unsigned char there = 0;
  const bool locked = mincore(page, size, &there) == 0 && (there & 1) != 0;
  munmap(page, size);
  return locked;
}

/// Memory is locked for the whole process. With MCL_FUTURE every later allocation fails beyond RLIMIT_MEMLOCK, and a call
/// without it ends that of the program. It is never unlocked: what other parts have locked would be, too.
int lock_memory() noexcept { return mlockall(locks_future() ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) == 0 ? 0 : errno; }

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

ThreadOutcome apply(const ThreadSettings& settings) noexcept {
  touch_stack();
  prctl(PR_SET_TIMERSLACK, 1UL);  // [ns]; 50 us by default, for threads without a real-time priority
  ThreadOutcome outcome;
  if (settings.core >= 0) outcome.core = set_core(settings.core);
  if (settings.priority > 0) outcome.priority = set_priority(settings.priority);
  if (settings.lock_memory) outcome.memory = lock_memory();
  return outcome;
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
