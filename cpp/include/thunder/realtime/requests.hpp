// Requests to a real-time thread, and values from it, without locks.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <utility>

namespace thunder::realtime {

/// What other threads ask of the loop. It does so in the order of their calls, without memory management; what is done comes
/// back, to be freed by them.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() {
    free_chain(waiting_.load());
    free_chain(done_.load());
  }

  /// By any thread. The action does not throw.
  void post(std::function<void()> action) {
    auto* const item = new Item{std::move(action), waiting_.load(std::memory_order_relaxed)};
    while (!waiting_.compare_exchange_weak(item->next, item, std::memory_order_acq_rel)) {
    }
    free_chain(done_.exchange(nullptr, std::memory_order_acquire));
  }
  /// By the loop.
  void run() noexcept {
    if (waiting_.load(std::memory_order_relaxed) == nullptr) return;
    Item *newest = waiting_.exchange(nullptr, std::memory_order_acquire), *oldest = nullptr;
    while (newest != nullptr) newest = std::exchange(newest->next, std::exchange(oldest, newest));
    Item* last = oldest;
    for (Item* item = oldest; item != nullptr; item = item->next) (last = item)->action();
    // only the loop stores items here, so nothing comes between these two lines but a `post`, which takes them
    last->next = done_.exchange(nullptr, std::memory_order_acquire);
    done_.store(oldest, std::memory_order_release);
  }

 private:
  struct Item {
    std::function<void()> action;
    Item* next;
  };
  static void free_chain(Item* item) {
    while (item != nullptr) delete std::exchange(item, item->next);
  }

  std::atomic<Item*> waiting_{nullptr}, done_{nullptr};
};

/// The latest of values that the loop publishes, by copy; readers exclude each other by a lock of their own. Neither side
/// waits: three places, of which the writer and the reader own one each.
template <class T>
class Latest {
 public:
  explicit Latest(const T& initial = T()) : places_{initial, initial, initial} {}
  void publish(const T& value) noexcept {
    places_[writing_] = value;
    writing_ = shared_.exchange(writing_ | kNew, std::memory_order_acq_rel) & ~kNew;
  }
  const T& read() noexcept {
    if ((shared_.load(std::memory_order_relaxed) & kNew) != 0)
      reading_ = shared_.exchange(reading_, std::memory_order_acq_rel) & ~kNew;
    return places_[reading_];
  }

 private:
  static constexpr unsigned kNew = 4;
  std::array<T, 3> places_;
  unsigned writing_ = 0, reading_ = 1;
  std::atomic<unsigned> shared_{2};
};

}  // namespace thunder::realtime
