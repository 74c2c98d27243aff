// A recorded function in native code: a library that was compiled from its C source, loaded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "function.hpp"

namespace thunder {

class NativeFunction {
 public:
  static constexpr std::size_t kMaxPorts = 64;  // arguments, and results: `run` keeps their places on the stack

  /// `symbol` of the library at `path` is void(const double *const *in, double *const *out), as `emit_c` writes for loaders, and
  /// evaluates `function`. The library stays loaded as long as an object uses it. Throws std::invalid_argument, with what the
  /// loader says.
  NativeFunction(const std::string& path, const std::string& symbol, const Function& function);

  /// As `Interpreter::run`: sample b of argument k is at in[k] + b * stride[k], of result k at out[k] + b * (its size).
  void run(const double* const* in, const std::ptrdiff_t* stride, double* const* out, std::size_t count) const;

 private:
  struct Close {
    void operator()(void* library) const;
  };
  using Entry = void (*)(const double* const* in, double* const* out);

  std::unique_ptr<void, Close> library_;
  Entry entry_;
  std::size_t arguments_;
  std::vector<std::ptrdiff_t> result_sizes_;
};

}  // namespace thunder
