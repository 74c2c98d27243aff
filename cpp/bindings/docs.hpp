// Docstrings of the quantities: summary, result and source of each; the arguments are described once.
#pragma once

#include <string>

namespace thunder {
struct QuantityInfo;
}

namespace thunder::python {

struct QuantityDoc {
  const char* name;
  const char* kernel;  // header in cpp/include/thunder
  const char* summary;
  const char* returns;  // shape and unit
  const char* notes;    // source, or ""
};

const QuantityDoc& quantity_doc(const std::string& name);

/// Full numpydoc text of a quantity's method.
std::string numpydoc(const QuantityDoc& doc, const QuantityInfo& quantity);

}  // namespace thunder::python
