// Rows of numbers from one thread to another, without locks: logs of a loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace thunder::realtime {

/// One thread pushes, one drains. All memory is allocated, and written once, by the constructor. A row that comes to a full
/// ring is dropped and counted: the older ones stay, so that rows which are read are consecutive up to a gap.
class Ring {
 public:
  Ring(std::size_t width, std::size_t rows) : width_(width), rows_(std::max<std::size_t>(rows, 1)), data_(width * rows_, 0.0) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::size_t width() const noexcept { return width_; }
  std::size_t rows() const noexcept { return rows_; }
  /// Rows that may be drained now.
  std::size_t size() const noexcept {
    return head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_relaxed);
  }
  long dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  /// Where the next row is to be written, before `push`; null where the ring is full, which counts.
  double* next() noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) < rows_) return data_.data() + head % rows_ * width_;
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  /// Hands over the row that `next` returned.
  void push() noexcept { head_.fetch_add(1, std::memory_order_release); }

  /// Copies the oldest `count` rows, at most `size()`.
  void drain(std::size_t count, double* to) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    for (std::size_t k = 0; k < count; ++k)
      std::copy_n(data_.data() + (tail + k) % rows_ * width_, width_, to + k * width_);
    tail_.store(tail + count, std::memory_order_release);
  }

 private:
  std::size_t width_, rows_;
  std::vector<double> data_;
  alignas(64) std::atomic<std::size_t> head_{0};
  std::atomic<long> dropped_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace thunder::realtime
