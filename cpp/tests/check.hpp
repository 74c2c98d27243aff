// The least that a test needs: count what fails, say where, return it from main.
#pragma once

#include <cstdio>

namespace check {

inline int failures = 0;

inline bool report(bool passed, const char* text, const char* file, int line) {
  if (!passed) {
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    ++failures;
  }
  return passed;
}

inline int result() {
  if (failures == 0) std::puts("passed");
  return failures == 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) check::report(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
