// Names that are valid in generated C.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "thunder/recording/emit_c.hpp"

namespace thunder::emit {

/// Throws std::invalid_argument, with a sentence, for names that are invalid in C or C++, and for duplicates.
void check_names(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options);

/// Names that the functions bring to file scope.
std::vector<std::string> external_names(const Function& function, const COptions& options);

/// The text as an identifier: invalid characters become underscores.
std::string identifier_from(const std::string& text);

}  // namespace thunder::emit
