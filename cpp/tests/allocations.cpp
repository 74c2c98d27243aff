#include "allocations.hpp"

#include <atomic>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they replace these themselves
#define THUNDER_COUNT_ALLOCATIONS
#endif

namespace {
std::atomic<long> allocation_count{0};
}

#ifdef THUNDER_COUNT_ALLOCATIONS
// take the place of the C library's functions; operator new and Eigen go through them
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* pointer, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocation_count;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocation_count;
  return __libc_calloc(count, size);
}
void* realloc(void* pointer, std::size_t size) {
  ++allocation_count;
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocation_count;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** pointer, std::size_t alignment, std::size_t size) {
  ++allocation_count;
  *pointer = __libc_memalign(alignment, size);
  return *pointer == nullptr ? 12 : 0;  // ENOMEM
}
}
#endif

namespace allocations {

bool counted() {
#ifdef THUNDER_COUNT_ALLOCATIONS
  return true;
#else
  return false;
#endif
}

long count() { return allocation_count; }

}  // namespace allocations
