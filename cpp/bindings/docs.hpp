// Docstrings of the quantities: what each is, what comes out and where it is from; the arguments are described once.
#pragma once

#include <string>

namespace thunder::python {

struct QuantityDoc {
  const char* name;
  const char* summary;
  const char* returns;  // shape and unit
  const char* notes;    // source, or ""
};

const QuantityDoc& quantity_doc(const std::string& name);

/// Full numpydoc text for a method that takes these inputs.
std::string numpydoc(const QuantityDoc& doc, const char* const* inputs, int count, bool frame, bool rows);

}  // namespace thunder::python
