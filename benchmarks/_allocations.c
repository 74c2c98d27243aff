// Counts the allocations of one thread; loaded before the C library (LD_PRELOAD) by realtime.py.
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* pointer, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static volatile int watched_thread;
static volatile long allocations;
static __thread int number;

void watch_thread(int thread) { watched_thread = thread; }
long watched_allocations(void) { return allocations; }

static void count(void) {
  if (watched_thread == 0) return;
  if (number == 0) number = (int)syscall(SYS_gettid);
  if (number == watched_thread) ++allocations;
}

void* malloc(size_t size) { count(); return __libc_malloc(size); }
void* calloc(size_t n, size_t size) { count(); return __libc_calloc(n, size); }
void* realloc(void* pointer, size_t size) { count(); return __libc_realloc(pointer, size); }
void* aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void* memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
int posix_memalign(void** pointer, size_t alignment, size_t size) {
  count();
  *pointer = __libc_memalign(alignment, size);
  return *pointer == NULL ? 12 : 0;
}
