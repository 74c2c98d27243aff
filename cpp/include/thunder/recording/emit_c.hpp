// Recorded functions as C source.
//
// Strictly C99, also valid C++; needs math.h where an operation does (sine and cosine too: beyond 1e5 rad they are the library's)
// and nothing else. A function allocates nothing, keeps no state and returns nothing:
//
//   void NAME(const double q[7], const double dq[7], double M[49]);
//
// arguments, then results, each an array stored row by row; a scalar is an array of one, and of an array without entries the
// pointer is not used. Results must not overlap arguments or each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "function.hpp"

namespace thunder {

struct COptions {
  std::string header_name;        // file name of the header; when empty, the source carries the declarations itself
  std::string comment;            // at the top of both files
  bool single_precision = false;  // float instead of double
  bool batch = false;   // also NAME_batch(size_t count, ...): `count` samples, one after the other in every array
  bool packed = false;  // also NAME_packed(const double *const *in, double *const *out), for whoever loads the code
};

struct CSource {
  std::string header, source;
};

/// Throws std::invalid_argument where a name is no C identifier, reserved or taken, or a constant is too large for float.
CSource emit_c(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options);

}  // namespace thunder
