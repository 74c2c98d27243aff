#include "thunder/recording/native.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

namespace thunder {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& path) {
  const char* reason = dlerror();
  throw std::invalid_argument(what + " " + path + ": " + (reason != nullptr ? reason : "no reason given"));
}

}  // namespace

void NativeFunction::Close::operator()(void* library) const { dlclose(library); }

NativeFunction::NativeFunction(const std::string& path, const std::string& symbol, const Function& function)
    : arguments_(function.arguments().size()) {
  if (std::max(arguments_, function.results().size()) > kMaxPorts)
    throw std::invalid_argument(function.name() + " has more than " + std::to_string(kMaxPorts) +
                                " arguments or results, too many for native code");
  library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library_) refuse("cannot load", path);
  dlerror();
  void* const entry = dlsym(library_.get(), symbol.c_str());
  if (entry == nullptr) refuse("no function " + symbol + " in", path);
  entry_ = reinterpret_cast<Entry>(entry);
  for (const Port& port : function.results()) result_sizes_.push_back(port.size);
}

void NativeFunction::run(const double* const* in, const std::ptrdiff_t* stride, double* const* out,
                         std::size_t count) const {
  if (count == 1) return entry_(in, out);
  const double* from[kMaxPorts];
  double* to[kMaxPorts];
  const std::size_t results = result_sizes_.size();
  std::copy(in, in + arguments_, from);
  std::copy(out, out + results, to);
  for (std::size_t b = 0; b < count; ++b) {
    entry_(from, to);
    for (std::size_t k = 0; k < arguments_; ++k) from[k] += stride[k];
    for (std::size_t k = 0; k < results; ++k) to[k] += result_sizes_[k];
  }
}

}  // namespace thunder
