// Exchange of objects and values between one real-time thread and others, without locks.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>

namespace thunder::realtime {

/// Hands objects to the loop, only the newest one; those that it has replaced come back, to be freed by other threads.
/// `put` and `collect` may be called by any threads. `take` and `give_back` belong to the loop: a bounded number of
/// instructions each, without memory management.
template <class T>
class Mailbox {
 public:
  class Item;
  /// What the loop holds; it is never destroyed while it owns an object, other than with the mailbox's owner.
  using Held = std::unique_ptr<Item>;

  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() {
    delete newest_.load();
    free_chain(returned_.load());
  }

  void put(T value) {
    delete newest_.exchange(new Item(std::move(value)), std::memory_order_acq_rel);  // one that was not taken
    collect();
  }
  /// Frees what the loop has given back.
  void collect() { free_chain(returned_.exchange(nullptr, std::memory_order_acquire)); }

  /// The newest object if it has not been taken yet, else null.
  Held take() noexcept {
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return Held(newest_.exchange(nullptr, std::memory_order_acquire));
  }
  void give_back(Held used) noexcept {
    if (!used) return;
    Item* const item = used.release();
    // only the loop stores items here, so nothing comes between these two lines but a `collect`
    item->next_ = returned_.exchange(nullptr, std::memory_order_acquire);
    returned_.store(item, std::memory_order_release);
  }

 private:
  static void free_chain(Item* item) {
    while (item != nullptr) delete std::exchange(item, item->next_);
  }

  std::atomic<Item*> newest_{nullptr}, returned_{nullptr};
};

template <class T>
class Mailbox<T>::Item {
 public:
  explicit Item(T value) : value(std::move(value)) {}
  T value;

 private:
  friend class Mailbox;
  Item* next_ = nullptr;
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
