// Loops on several threads: every index once, joined, the error of the lowest index, threads that do not start, interruption;
// and objects that one thread at a time may use. For the thread sanitizer above all.
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "thunder/realtime/requests.hpp"
#include "thunder/realtime/ring.hpp"
#include "thunder/threads/exclusive.hpp"
#include "thunder/threads/parallel_for.hpp"

using namespace thunder;

namespace {

void check_every_index() {
  for (const int threads : {0, 1, 2, 7, 40})
    for (const std::size_t count : {0u, 1u, 5u, 1000u})
      for (const std::size_t chunk : {0u, 1u, 3u, 2000u}) {
        std::vector<int> times(count, 0);  // no atomics: an index belongs to one thread
        std::atomic<int> worst{-1};
        const ParallelOptions options{threads, chunk};
        const int used = parallel_threads(count, options);
        parallel_for(count, options, [&](std::size_t first, std::size_t last, int worker) {
          for (std::size_t k = first; k < last; ++k) ++times[k];
          if (worker >= used || last - first > std::max<std::size_t>(1, chunk)) worst = worker;
        });
        bool once = true;
        for (const int n : times) once = once && n == 1;
        CHECK(once);
        CHECK(worst == -1);
      }
}

/// 0 threads are those of the environment variable; what is no number above 0 counts as unset.
void check_default_threads() {
  const int cores = default_threads();
  setenv("THUNDER_THREADS", "3", 1);
  CHECK(default_threads() == 3);
  CHECK(parallel_threads(100, {0, 1}) == 3);
  CHECK(parallel_threads(2, {0, 1}) == 2);
  CHECK(parallel_threads(100, {5, 1}) == 5);
  for (const char* text : {"", "0", "-2", "many"}) {
    setenv("THUNDER_THREADS", text, 1);
    CHECK(default_threads() == cores);
  }
  unsetenv("THUNDER_THREADS");
  CHECK(default_threads() == cores);
}

void check_first_error() {
  constexpr int kMany = 1000000;  // far more than the other threads can do between an error and its notice
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::size_t failed = 999;
    std::atomic<int> calls{0};
    std::string message;
    try {
      parallel_for(kMany, {8, 1, {}, &failed}, [&](std::size_t k, std::size_t, int) {
        ++calls;
        if (k == 37 || k == 38 || k == 60) throw std::runtime_error("index " + std::to_string(k));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(failed == 37);
    CHECK(message == "index 37");
    CHECK(calls < kMany);  // the rest is left undone
  }
}

void check_no_memory() {
  std::size_t failed = 999;
  bool caught = false;
  try {
    parallel_for(20, {4, 1, {}, &failed}, [](std::size_t k, std::size_t, int) {
      if (k == 3) throw std::bad_alloc();
    });
  } catch (const std::bad_alloc&) {
    caught = true;
  }
  CHECK(caught && failed == 3);
}

/// Where no thread can be started the calling one does all. Before any other check: stacks of threads that ended are kept
/// and used again.
void check_without_threads() {
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  rlimit before;
  getrlimit(RLIMIT_AS, &before);
  rlimit none = before;
  none.rlim_cur = 1 << 20;  // less than there is already: no stack for a thread
  setrlimit(RLIMIT_AS, &none);
  int sum = 0, workers = 0;
  parallel_for(100, {16, 1}, [&](std::size_t k, std::size_t, int worker) {
    sum += static_cast<int>(k);
    workers = std::max(workers, worker);
  });
  setrlimit(RLIMIT_AS, &before);
  CHECK(sum == 4950);
  CHECK(workers == 0);
#endif
}

void check_interruption(int threads) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto caller = std::this_thread::get_id();
  int polls = 0;
  bool stopped = false, elsewhere = false;
  const Interruption interrupted = [&] {
    elsewhere = elsewhere || std::this_thread::get_id() != caller;
    if (++polls == 2) throw std::runtime_error("stop");
  };
  try {
    parallel_for(100000, {threads, 1, interrupted}, [&](std::size_t, std::size_t, int worker) {
      // the calling thread waits for the others most of the time
      std::this_thread::sleep_for(std::chrono::milliseconds(worker == 0 ? 1 : 20));
    });
  } catch (const std::runtime_error&) {
    stopped = true;
  }
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  CHECK(stopped && polls == 2 && !elsewhere);
  CHECK(elapsed > 0.19 && elapsed < 20.0);  // all of it takes 80 s and more
}

/// The calling thread looks at `interrupted` while it has nothing left to do.
void check_interruption_while_waiting() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  int polls = 0;
  parallel_for(2, {2, 1, [&] { ++polls; }}, [](std::size_t, std::size_t, int worker) {
    if (worker == 1) std::this_thread::sleep_for(std::chrono::milliseconds(350));
    else std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  CHECK(polls >= 1 && polls <= elapsed / 0.1 + 1.0);
}

struct Counter final : Exclusive {
  long value = 0;  // not atomic: the mark is what keeps threads apart
};

struct Part final : Exclusive {
  explicit Part(Counter& whole) : whole_(whole) {}
  Counter& whole_;

 private:
  const Exclusive& marked() const noexcept override { return whole_; }
};

void check_exclusive() {
  Counter counter;
  Part part(counter);
  std::atomic<long> accepted{0}, refused{0};
  parallel_for(8, {8, 1}, [&](std::size_t k, std::size_t, int) {
    for (int i = 0; i < 20000; ++i) {
      try {
        const Exclusive::Use use(k % 2 ? static_cast<const Exclusive&>(part) : counter);
        const Exclusive::Use again(counter);  // within a use of its own
        ++counter.value;
        ++accepted;
      } catch (const ConcurrentUse&) {
        ++refused;
      }
    }
  });
  CHECK(counter.value == accepted);
  CHECK(accepted + refused == 8 * 20000);
  const Exclusive::Use use(counter);
  const Counter copy = counter;
  bool type = false, of_copy = false;
  std::thread other([&] {
    try {
      const Exclusive::Use second(part);
    } catch (const ConcurrentUse& error) {
      type = error.type() == typeid(Part);
    }
    const Exclusive::Use mine(copy);
    of_copy = true;
  });
  other.join();
  CHECK(type);
  CHECK(of_copy);
}

/// Two threads ask; the loop does all of each thread's requests in order, and frees none of them itself.
void check_requests() {
  constexpr int kCount = 20000;
  const auto counted = std::make_shared<int>(0);
  {
    realtime::Requests requests;
    std::atomic<int> asking{2};
    int last[2] = {-1, -1};
    bool ordered = true;
    const auto ask = [&](int who) {
      for (int k = 0; k < kCount; ++k)
        requests.post([&ordered, &last, who, k, counted] {
          ordered = ordered && last[who] == k - 1;
          last[who] = k;
        });
      --asking;
    };
    std::thread first(ask, 0), second(ask, 1);
    while (asking > 0) requests.run();
    first.join();
    second.join();
    requests.run();
    CHECK(ordered && last[0] == kCount - 1 && last[1] == kCount - 1);
    requests.post([counted] {});
  }
  CHECK(counted.use_count() == 1);
}

/// A reader never sees half of a value, nor an older one after a newer one.
void check_latest() {
  struct Value {
    long a = 0, padding[40] = {}, b = 0;
  };
  realtime::Latest<Value> latest;
  std::atomic<bool> ended{false};
  std::thread writer([&] {
    for (long k = 1; k <= 100000; ++k) {
      Value value;
      value.a = value.b = k;
      latest.publish(value);
    }
    ended = true;
  });
  bool whole = true, forward = true;
  long last = 0;
  while (!ended) {
    const Value& value = latest.read();
    whole = whole && value.a == value.b;
    forward = forward && value.a >= last;
    last = value.a;
  }
  writer.join();
  CHECK(whole && forward);
  CHECK(latest.read().a == 100000);
}

/// Rows come out in order; those that found no place are counted, none is lost otherwise.
void check_ring() {
  constexpr long kRows = 100000;
  realtime::Ring ring(3, 64);
  std::atomic<bool> ended{false};
  std::thread writer([&] {
    for (long k = 0; k < kRows; ++k) {
      if (double* row = ring.next()) {
        row[0] = row[1] = row[2] = static_cast<double>(k);
        ring.push();
      }
    }
    ended = true;
  });
  std::vector<double> rows(3 * 64);
  long read = 0;
  double last = -1.0;
  bool ordered = true;
  for (bool more = true; more;) {
    more = !ended;
    const std::size_t count = ring.size();
    ring.drain(count, rows.data());
    read += static_cast<long>(count);
    for (std::size_t k = 0; k < count; ++k) {
      ordered = ordered && rows[3 * k] > last && rows[3 * k] == rows[3 * k + 2];
      last = rows[3 * k];
    }
  }
  writer.join();
  CHECK(ordered);
  CHECK(read + ring.dropped() == kRows);
}

}  // namespace

int main() {
  check_without_threads();
  check_default_threads();
  check_every_index();
  check_first_error();
  check_no_memory();
  check_interruption(1);
  check_interruption(4);
  check_interruption_while_waiting();
  check_exclusive();
  check_requests();
  check_latest();
  check_ring();
  return check::result();
}
