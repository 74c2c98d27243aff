// Which names may stand in generated C.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "thunder/recording/emit_c.hpp"

namespace thunder::emit {

/// Throws std::invalid_argument, with a sentence, for names that C or C++ would not take, and for two that are the same.
void check_names(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options);

/// Names that the functions bring to file scope.
std::vector<std::string> external_names(const Function& function, const COptions& options);

/// The text as an identifier: what cannot be in one becomes an underscore.
std::string identifier_from(const std::string& text);

}  // namespace thunder::emit
