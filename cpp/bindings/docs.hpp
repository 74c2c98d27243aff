// Docstrings of the quantities: summary, result and source of each; the arguments are described once.
#pragma once

#include <string>

namespace thunder {
struct QuantityInfo;
}

namespace thunder::python {

/// Full numpydoc text of a quantity's method.
std::string numpydoc(const QuantityInfo& quantity);

}  // namespace thunder::python
