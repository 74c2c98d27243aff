#include "thunder/threads/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace thunder {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{100};
constexpr std::size_t kMostThreads = 1024;

class Loop {
 public:
  Loop(std::size_t count, const ParallelOptions& options, const ParallelBody& body)
      : count_(count), chunk_(std::max<std::size_t>(1, options.chunk)), options_(options), body_(body) {}

  void run(int threads) {
    if (threads > 1) start(threads);
    while (take(0)) poll();
    wait();
    for (std::thread& worker : workers_) worker.join();
    if (interruption_) std::rethrow_exception(interruption_);
    if (!error_) return;
    if (options_.failed != nullptr) *options_.failed = failed_;
    std::rethrow_exception(error_);
  }

 private:
  /// If memory or threads run out, the started threads do the work.
  void start(int threads) noexcept {
    try {
      workers_.reserve(static_cast<std::size_t>(threads - 1));
      for (int k = 1; k < threads; ++k) start_worker(k);
    } catch (const std::exception&) {
    }
  }

  void start_worker(int k) {
    add(1);
    try {
      workers_.emplace_back([this, k] {
        while (take(k)) {
        }
        add(-1);
      });
    } catch (...) {
      add(-1);
      throw;
    }
  }

  /// The next chunk; false once there is none. Chunks below one that failed were all taken before it, and are finished.
  bool take(int worker) noexcept {
    if (stopped_.load(std::memory_order_relaxed)) return false;
    const std::size_t first = next_.fetch_add(1, std::memory_order_relaxed) * chunk_;
    if (first >= count_) return false;
    try {
      body_(first, std::min(count_, first + chunk_), worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_ || first < failed_) {
        error_ = std::current_exception();
        failed_ = first;
      }
      stopped_.store(true, std::memory_order_relaxed);
    }
    return true;
  }

  void poll() noexcept {
    if (!options_.interrupted || interruption_ || Clock::now() < next_poll_) return;
    try {
      options_.interrupted();
    } catch (...) {
      interruption_ = std::current_exception();
      stopped_.store(true, std::memory_order_relaxed);
    }
    next_poll_ = Clock::now() + kPollInterval;
  }

  void wait() {
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      if (options_.interrupted && !interruption_)
        finished_.wait_until(lock, next_poll_);
      else
        finished_.wait(lock);
      lock.unlock();
      poll();
      lock.lock();
    }
  }

  void add(int threads) noexcept {
    const std::lock_guard lock(mutex_);
    running_ += threads;
    if (running_ == 0) finished_.notify_one();
  }

  std::size_t count_, chunk_;
  const ParallelOptions& options_;
  const ParallelBody& body_;
  std::vector<std::thread> workers_;
  std::atomic<std::size_t> next_{0};  // chunk
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // of what follows
  std::condition_variable finished_;
  int running_ = 0;  // threads but the calling one
  std::exception_ptr error_;
  std::size_t failed_ = 0;
  // of the calling thread
  std::exception_ptr interruption_;
  Clock::time_point next_poll_ = Clock::now() + kPollInterval;
};

}  // namespace

int default_threads() noexcept {
  const char* text = std::getenv("THUNDER_THREADS");
  const long wanted = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  if (wanted > 0) return static_cast<int>(std::min<long>(wanted, kMostThreads));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int parallel_threads(std::size_t count, const ParallelOptions& options) noexcept {
  const std::size_t chunk = std::max<std::size_t>(1, options.chunk), chunks = count / chunk + (count % chunk != 0);
  const auto wanted = static_cast<std::size_t>(options.threads > 0 ? options.threads : default_threads());
  return static_cast<int>(std::max<std::size_t>(1, std::min({wanted, chunks, kMostThreads})));
}

void parallel_for(std::size_t count, const ParallelOptions& options, const ParallelBody& body) {
  if (count == 0) return;
  Loop(count, options, body).run(parallel_threads(count, options));
}

}  // namespace thunder
