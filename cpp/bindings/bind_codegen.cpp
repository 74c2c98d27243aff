// C source of recorded functions.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "recording.hpp"
#include "thunder/recording/emit_c.hpp"

namespace py = pybind11;

namespace thunder::python {

namespace {

bool is_single(const std::string& scalar) {
  if (scalar == "float") return true;
  if (scalar == "double") return false;
  throw py::value_error("scalar must be 'double' or 'float', got '" + scalar + "'");
}

std::pair<std::string, std::string> emit(const std::vector<FunctionObject>& functions, const std::string& header_name,
                                         const std::string& comment, const std::string& scalar, bool batch, bool packed) {
  std::vector<std::shared_ptr<const Function>> recorded;
  for (const FunctionObject& f : functions) recorded.push_back(f.function);
  const CSource c = emit_c(recorded, {header_name, comment, is_single(scalar), batch, packed});
  return {c.header, c.source};
}

}  // namespace

void bind_codegen(py::module_& module) {
  module.def("emit_c", &emit, py::arg("functions"), py::kw_only(), py::arg("header_name"), py::arg("comment") = "",
             py::arg("scalar") = "double", py::arg("batch") = false, py::arg("packed") = false,
             R"(Generate header and source of recorded functions in C99, ``void NAME(const double q[7], ..., double M[49])``.

Arguments come first, then results, every one an array stored row by row (a scalar: of one entry), and results must not
overlap arguments. `header_name` is the header's file name for the source to include; when empty, the source carries
its declarations itself. `scalar` is "double" or "float". `batch` adds ``NAME_batch(size_t count, ...)`` for samples one after
the other, `packed` adds ``NAME_packed(in, out)`` for loaders. ValueError for names that are invalid in C.)");
}

}  // namespace thunder::python
