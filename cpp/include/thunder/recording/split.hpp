// Long functions in parts: compilers take more than linear time for one long stretch of straight code.
#pragma once

#include "function.hpp"

namespace thunder {

/// Operations, calls counted as several: what a compiler has to do.
std::size_t compile_weight(const Function& function);

/// The same function, calling outlined parts of about `part` operations each; results that later parts need go from one to the
/// next in arrays. Sines and cosines of arguments stay with the function itself.
std::shared_ptr<const Function> split(const std::shared_ptr<const Function>& function, std::size_t part);

}  // namespace thunder
