// Objects that one thread at a time may use.
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <typeindex>
#include <utility>

namespace thunder {

/// Thrown where a second thread comes to an object that is in use.
class ConcurrentUse final : public std::exception {
 public:
  explicit ConcurrentUse(std::type_index type) noexcept : type_(type) {}
  std::type_index type() const noexcept { return type_; }
  const char* what() const noexcept override { return "the object is in use by another thread"; }

 private:
  std::type_index type_;
};

/// Base of every class whose methods change the object: its state, or scratch that it keeps. Methods do not look at the
/// mark themselves, so steps stay free of it; code that passes objects to several threads, such as the Python bindings,
/// holds a `Use` around each call. Classes without this base are immutable and may be shared.
class Exclusive {
 public:
  class Use;
  virtual ~Exclusive() = default;

 protected:
  Exclusive() = default;
  Exclusive(const Exclusive&) noexcept {}  // a copy is not in use
  Exclusive& operator=(const Exclusive&) noexcept { return *this; }

 private:
  /// The object whose mark counts: another one where methods of this one change that one.
  virtual const Exclusive& marked() const noexcept { return *this; }

  mutable std::atomic<std::thread::id> owner_{std::thread::id()};
  mutable int uses_ = 0;  // by the owner, which may use the object within a use: a callback within a run
};

/// Marks an object as in use by this thread, for as long as the `Use` lives.
class Exclusive::Use {
 public:
  /// Throws `ConcurrentUse` while another thread uses the object.
  explicit Use(const Exclusive& object) : marked_(&object.marked()) {
    if (!mark(*marked_)) throw ConcurrentUse(typeid(object));
  }
  /// None while another thread uses the object: for threads that must not throw, which allocates.
  static std::optional<Use> attempt(const Exclusive& object) noexcept {
    const Exclusive& marked = object.marked();
    if (!mark(marked)) return std::nullopt;
    return Use(&marked);
  }
  Use(Use&& other) noexcept : marked_(std::exchange(other.marked_, nullptr)) {}
  Use& operator=(Use&&) = delete;
  ~Use() {
    if (marked_ != nullptr && --marked_->uses_ == 0)
      marked_->owner_.store(std::thread::id(), std::memory_order_release);
  }

 private:
  explicit Use(const Exclusive* marked) noexcept : marked_(marked) {}
  static bool mark(const Exclusive& marked) noexcept {
    const std::thread::id self = std::this_thread::get_id();
    if (marked.owner_.load(std::memory_order_relaxed) != self) {
      std::thread::id nobody;
      if (!marked.owner_.compare_exchange_strong(nobody, self, std::memory_order_acquire, std::memory_order_relaxed))
        return false;
    }
    ++marked.uses_;
    return true;
  }

  const Exclusive* marked_;
};

}  // namespace thunder
