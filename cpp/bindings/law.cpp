#include "law.hpp"

namespace thunder::python {

LawArguments::LawArguments(const LawParameters& parameters, std::shared_ptr<Model> robot, const py::args& args,
                           const py::kwargs& kwargs)
    : model(std::move(robot)), values_(py::reinterpret_steal<py::dict>(PyDict_Copy(kwargs.ptr()))) {
  if (args.size() > parameters.size())
    throw py::type_error("takes " + std::to_string(parameters.size()) + " arguments after the robot, got " + std::to_string(args.size()));
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (values_.contains(parameters[k].first)) throw py::type_error(std::string("got multiple values for ") + parameters[k].first);
    values_[parameters[k].first] = args[k];
  }
  for (const auto& [name, takes] : parameters)
    if (!values_.contains(name)) throw py::type_error(std::string("misses the argument ") + name);
  if (values_.size() > parameters.size()) throw py::type_error("got unexpected arguments: " + std::string(py::str(kwargs)));
}

std::string law_signature(const char* name, const LawParameters& parameters) {
  static const char* const kTypes[] = {"numpy.typing.ArrayLike", "typing.SupportsFloat", "int", "bool", "str", "collections.abc.Sequence[bool]",
                                       "collections.abc.Sequence[int]", "thunder_py._core.AdaptationLaw | None",
                                       "tuple[str, float, float, typing.Any]",
                                       "tuple[typing.Any, collections.abc.Sequence[bool], typing.Any]", "typing.Any"};
  std::string text = std::string("__init__(self: thunder_py._core.") + name + ", model: thunder_py._core.Model";
  for (const auto& [parameter, takes] : parameters)
    text += std::string(", ") + parameter + ": " + kTypes[static_cast<std::size_t>(takes)];
  return text + ") -> None";
}

}  // namespace thunder::python
