// Small static functions at the top of generated C.
#pragma once

#include <string>

#include "emit_c_body.hpp"

namespace thunder::emit {

/// Includes and static functions that `needs` asks for.
std::string helpers(const Precision& precision, const Needs& needs);

}  // namespace thunder::emit
