// Counts heap allocations of the whole process, so that a test can show that a stretch of code makes none.
#pragma once

#include <Eigen/Core>

namespace allocations {

/// False under sanitizers, which bring their own allocator.
bool counted();
long count();

/// Allocations made since it was constructed. In debug builds Eigen checks its own as well, and stops at one.
class Scope {
 public:
  Scope() : start_(count()) { allow_eigen(false); }
  ~Scope() { allow_eigen(true); }
  long made() const { return count() - start_; }

 private:
  static void allow_eigen([[maybe_unused]] bool allowed) {
#ifdef EIGEN_RUNTIME_NO_MALLOC
    Eigen::internal::set_is_malloc_allowed(allowed);
#endif
  }
  long start_;
};

}  // namespace allocations
