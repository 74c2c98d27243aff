// Scratch memory of the kernels, for the joints that a robot has: owned by the caller or the thread, as Pinocchio's Data.
//
// A `Workspace` is a view passed by value: what a kernel takes is free again when it returns, because the caller's copy has
// not moved. Kernels therefore neither allocate nor use more than a few kilobytes of stack, for any number of joints.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "linear.hpp"

namespace thunder {

/// Joints are stored in blocks of this many where a register holds several (see `Joints`).
inline constexpr int kJointBlock = 4;
THUNDER_INLINE constexpr int padded_joints(int n) { return (n + kJointBlock - 1) / kJointBlock * kJointBlock; }

/// Does not know its end: a layout that depends on NDEBUG would be another one in a program than in its library.
class Workspace {
 public:
  THUNDER_INLINE explicit Workspace(std::byte* begin) : top_(begin) {}

  /// Uninitialized memory for `count` values of a trivial type, aligned to a cache line.
  template <class T>
  THUNDER_INLINE T* take(int count) {
    T* const result = reinterpret_cast<T*>(top_);
    top_ += (sizeof(T) * static_cast<std::size_t>(count) + 63) & ~std::size_t{63};
    return result;
  }

 private:
  std::byte* top_;
};

/// Bytes that any kernel needs for n joints with scalars of this size; cpp/tests/test_kernel_allocations.cpp fills it to see.
inline constexpr std::size_t workspace_bytes(int n, std::size_t scalar) {
  const auto padded = static_cast<std::size_t>(padded_joints(n));
  // the largest user: second derivatives of the forward dynamics, on dual numbers of four directions (eight scalars each) with
  // eleven n x n matrices and about 100 fields of joints
  return 4096 + scalar * (96 * padded * padded + 800 * padded);
}

/// Owns the memory of a workspace.
class WorkspaceMemory {
 public:
  WorkspaceMemory() = default;
  explicit WorkspaceMemory(std::size_t bytes) { reserve(bytes); }
  WorkspaceMemory(const WorkspaceMemory& other) : WorkspaceMemory(other.size_) {}  // contents are scratch
  WorkspaceMemory& operator=(const WorkspaceMemory& other) {
    reserve(other.size_);
    return *this;
  }
  WorkspaceMemory(WorkspaceMemory&&) = default;
  WorkspaceMemory& operator=(WorkspaceMemory&&) = default;

  void reserve(std::size_t bytes) {
    if (bytes <= size_) return;
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})));
    size_ = bytes;
  }
  Workspace view() const { return Workspace(memory_.get()); }

 private:
  struct Delete {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Delete> memory_;
  std::size_t size_ = 0;
};

}  // namespace thunder
