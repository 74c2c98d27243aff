#include "thunder/recording/emit_c.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "emit_c_body.hpp"
#include "emit_c_helpers.hpp"
#include "emit_c_names.hpp"
#include "thunder/recording/split.hpp"

namespace thunder {

namespace emit {
namespace {

enum class Where { header, source, part };

std::string parameter(const Port& port, bool result, const Precision& precision, Where where) {
  const std::string type = std::string(result ? "" : "const ") + precision.type(), size = std::to_string(port.size);
  if (port.size == 0) return type + " *" + port.name;
  if (where == Where::header) return type + " " + port.name + "[" + size + "]";
  // gcc takes twice the time over the same parameters declared as arrays
  if (where == Where::part) return type + " *THUNDER_RESTRICT " + port.name;
  return "THUNDER_ARRAY(" + type + ", " + port.name + ", " + size + ")";
}

/// Joined with commas, new lines where one would grow too long.
std::string listed(const std::vector<std::string>& items, std::size_t column, const std::string& indent) {
  std::string text;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const bool last = k + 1 == items.size();
    const std::string item = items[k] + (last ? "" : ",");
    if (k > 0 && column + item.size() + 1 > 118) {
      text += "\n" + indent;
      column = indent.size();
    } else if (k > 0) {
      text += ' ';
      ++column;
    }
    text += item;
    column += item.size();
  }
  return text;
}

std::string signature(const Function& f, const std::string& name, const Precision& precision, Where where) {
  std::vector<std::string> parameters;
  for (const Port& port : f.arguments()) parameters.push_back(parameter(port, false, precision, where));
  for (const Port& port : f.results()) parameters.push_back(parameter(port, true, precision, where));
  const std::string start = "void " + name + "(";
  return start + (parameters.empty() ? "void" : listed(parameters, start.size(), "    ")) + ")";
}

/// A name for the count of samples that no port has.
std::string count_name(const Function& f) {
  std::string name = "count";
  const auto taken = [&] {
    for (const auto* ports : {&f.arguments(), &f.results()})
      for (const Port& port : *ports)
        if (port.name == name || port.name == "sample_" + name) return true;
    return false;
  };
  while (taken()) name += "_";
  return name;
}

std::string batch_signature(const Function& f, const Precision& precision) {
  std::vector<std::string> parameters{"size_t " + count_name(f)};
  for (const Port& port : f.arguments()) parameters.push_back(std::string("const ") + precision.type() + " *" + port.name);
  for (const Port& port : f.results()) parameters.push_back(std::string(precision.type()) + " *" + port.name);
  const std::string start = "void " + f.name() + "_batch(";
  return start + listed(parameters, start.size(), "    ") + ")";
}

std::string packed_signature(const Function& f, const Precision& precision) {
  return "void " + f.name() + "_packed(const " + precision.type() + " *const *in, " + precision.type() + " *const *out)";
}

std::string batch_definition(const Function& f, const Precision& precision) {
  const std::string count = count_name(f), k = "sample_" + count;
  std::vector<std::string> values;
  std::string unused;
  for (const auto* ports : {&f.arguments(), &f.results()})
    for (const Port& port : *ports)
      values.push_back(port.size == 0 ? port.name : port.name + " + " + std::to_string(port.size) + "*" + k);
  const std::string call = f.name() + "(";
  return batch_signature(f, precision) + " {\n  for (size_t " + k + " = 0; " + k + " < " + count + "; ++" + k + ")\n    " + call +
         listed(values, 4 + call.size(), "        ") + ");\n}\n";
}

std::string packed_definition(const Function& f, const Precision& precision) {
  std::vector<std::string> values;
  for (std::size_t k = 0; k < f.arguments().size(); ++k) values.push_back("in[" + std::to_string(k) + "]");
  for (std::size_t k = 0; k < f.results().size(); ++k) values.push_back("out[" + std::to_string(k) + "]");
  std::string unused;
  if (f.arguments().empty()) unused += "  (void)in;\n";
  if (f.results().empty()) unused += "  (void)out;\n";
  return packed_signature(f, precision) + " {\n" + unused + "  " + f.name() + "(" + listed(values, f.name().size() + 3, "      ") +
         ");\n}\n";
}

/// Names used in a body: an unused parameter gives a warning.
std::string unused_ports(const Function& f, const std::string& body) {
  const auto mentioned = [&](const std::string& name) {
    for (std::size_t at = 0; (at = body.find(name, at)) != std::string::npos; ++at) {
      const auto inside = [&](std::size_t k) {
        return k < body.size() && (std::isalnum(static_cast<unsigned char>(body[k])) || body[k] == '_' || body[k] == '.');
      };
      if ((at == 0 || !inside(at - 1)) && !inside(at + name.size())) return true;
    }
    return false;
  };
  std::string text;
  for (const auto* ports : {&f.arguments(), &f.results()})
    for (const Port& port : *ports)
      if (!mentioned(port.name)) text += "  (void)" + port.name + ";\n";
  return text;
}

// Longer functions are written in parts: register allocation and alias analysis take more than linear time.
constexpr std::size_t kWhole = 2500, kPart = 400;

// Operations of functions that are worth a form with AVX2: shorter ones are hardly shorter with it, longer ones fit in no form.
constexpr std::size_t kTwoForms = 400, kOneForm = 1800, kPieces = 8;

constexpr const char* kHasAvx = "__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\")";

/// Writes functions, and before each one the bodies it calls; equal bodies once.
class FileWriter {
 public:
  FileWriter(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options)
      : options_(options), precision_{options.single_precision} {
    for (const auto& f : functions)
      for (const std::string& name : external_names(*f, options)) taken_.insert(name);
  }

  void add(const Function& f) {
    if (wants_two_forms(f))
      add_two_forms(f);
    else
      definitions_ += (f.calls().empty() ? "\n" : "\nTHUNDER_LONG ") + definition(f, f.name(), body(f, false));
    if (options_.batch) definitions_ += "\n" + batch_definition(f, precision_);
    if (options_.packed) definitions_ += "\n" + packed_definition(f, precision_);
  }

  const std::string& definitions() const { return definitions_; }
  const Needs& needs() const { return needs_; }

 private:
  std::string definition(const Function& f, const std::string& name, const std::string& text) const {
    return signature(f, name, precision_, Where::source) + " {\n" + text + "}\n";
  }

  /// The statements once, inlined into a function with AVX and one without; parts likewise.
  void add_two_forms(const Function& f) {
    needs_.avx = true;
    const std::string text = body(f, true);
    const bool calls = !f.calls().empty();
    const std::string straight = free_name("thunder_straight_" + f.name()), avx = free_name("thunder_avx_" + f.name());
    const std::string values = listed(port_names(f), straight.size() + 6, "      ") + ");\n";
    const auto call = [&](const char* form) { return straight + "(" + (calls ? std::string(form) + ", " : "") + values; };
    std::string own = definition(f, straight, (calls ? "  (void)thunder_form;\n" : "") + text);
    if (calls) own.insert(own.find('(') + 1, "const int thunder_form, ");
    definitions_ += "\nTHUNDER_STRAIGHT " + own + "\n#ifdef THUNDER_AVX\nTHUNDER_AVX static " +
                    definition(f, avx, "  " + call("1")) + "#endif\n\n" +
                    definition(f, f.name(), "#ifdef THUNDER_AVX\n  if (" + std::string(kHasAvx) + ") {\n    " + avx + "(" + values +
                                                "    return;\n  }\n#endif\n  " + call("0"));
  }

  static std::vector<std::string> port_names(const Function& f) {
    std::vector<std::string> names;
    for (const auto* list : {&f.arguments(), &f.results()})
      for (const Port& port : *list) names.push_back(port.name);
    return names;
  }

  /// Few pieces that are called often have packs to gain. Pieces that call pieces would need their form as a parameter.
  static bool wants_two_forms(const Function& f) {
    const auto calls = [](const std::shared_ptr<const Function>& body) { return !body->calls().empty(); };
    if (std::any_of(f.bodies().begin(), f.bodies().end(), calls)) return false;
    const std::size_t size = f.instructions().size();
    return size < kOneForm && f.bodies().size() <= kPieces && (size > kTwoForms || !f.calls().empty());
  }

  std::string body(const Function& f, bool two_forms, bool part = false) {
    const auto name_of = [&](const Function& outlined) {
      const std::string name = outline(outlined, two_forms);
      return two_forms ? "THUNDER_FORM(" + name + ")" : name;
    };
    BodyWriter writer(f, precision_, needs_, name_of);
    if (part) writer.find_loops();
    const std::string text = writer.write();
    return unused_ports(f, text) + text;
  }

  std::string outline(const Function& f, bool two_forms) {
    const auto known = names_of_.find({&f, two_forms});
    if (known != names_of_.end()) return known->second;
    const std::string text = signature(f, "", precision_, Where::part) + " {\n" + body(f, two_forms, true) + "}\n";
    const auto [entry, is_new] = outlines_.try_emplace({text, two_forms}, "");
    if (is_new) {
      const std::string name = entry->second = free_name("thunder_part_" + identifier_from(f.name()));
      if (two_forms) {
        needs_.pieces = true;
        const std::string straight = free_name(name + "_straight"), avx = free_name(name + "_avx");
        const std::string parameters = signature(f, "", precision_, Where::part).substr(5);
        const std::string call = parameters + " {\n  " + straight + "(" + listed(port_names(f), straight.size() + 3, "      ") + ");\n}\n";
        definitions_ += "\nTHUNDER_STRAIGHT void " + straight + text.substr(5) + "THUNDER_PIECE void " + name + call +
                        "#ifdef THUNDER_AVX\nTHUNDER_AVX THUNDER_PIECE void " + avx + call + "#endif\n";
      } else {
        needs_.parts = true;
        definitions_ += "\nTHUNDER_PART void " + name + text.substr(5);
      }
    }
    return names_of_[{&f, two_forms}] = entry->second;
  }

  std::string free_name(const std::string& start) {
    std::string name = start;
    for (int k = 2; !taken_.insert(name).second; ++k) name = start + "_" + std::to_string(k);
    return name;
  }

  const COptions& options_;
  Precision precision_;
  Needs needs_;
  std::set<std::string> taken_;
  std::map<std::pair<std::string, bool>, std::string> outlines_;  // by text, and whether there are two forms
  std::map<std::pair<const Function*, bool>, std::string> names_of_;
  std::string definitions_;
};

/// Line comments, with nothing that could end or continue them.
std::string comment_lines(const std::string& comment) {
  std::istringstream stream(comment);
  std::string text;
  for (std::string line; std::getline(stream, line);) {
    std::string clean;
    for (const char c : line)
      clean += c == '\\' || c == '?' ? '/' : static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
    text += clean.empty() ? "//\n" : "// " + clean + "\n";
  }
  return text;
}

std::string guard(const std::string& header_name) {
  std::string name;
  for (const char c : identifier_from(header_name)) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return "THUNDER_" + name + "_INCLUDED";
}

std::string declarations(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options) {
  const Precision precision{options.single_precision};
  std::string text = options.batch ? "#include <stddef.h>\n\n" : "";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const auto& f : functions) {
    text += signature(*f, f->name(), precision, Where::header) + ";\n";
    if (options.batch) text += batch_signature(*f, precision) + ";\n";
    if (options.packed) text += packed_signature(*f, precision) + ";\n";
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n";
}

std::string header(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options) {
  const std::string name = guard(options.header_name);
  return comment_lines(options.comment) + "#ifndef " + name + "\n#define " + name + "\n\n" +
         declarations(functions, options) + "\n#endif\n";
}

}  // namespace
}  // namespace emit

CSource emit_c(const std::vector<std::shared_ptr<const Function>>& functions, const COptions& options) {
  using namespace emit;
  check_names(functions, options);
  FileWriter writer(functions, options);
  std::vector<std::shared_ptr<const Function>> written;  // kept: the writer identifies bodies by address
  for (const auto& f : functions) {
    written.push_back(compile_weight(*f) > kWhole ? split(f, kPart) : f);
    writer.add(*written.back());
  }
  const std::string own = options.header_name.empty() ? declarations(functions, options)
                                                      : "#include \"" + options.header_name + "\"\n";
  return {header(functions, options), comment_lines(options.comment) + own + "\n" +
                                          helpers(Precision{options.single_precision}, writer.needs()) +
                                          writer.definitions()};
}

}  // namespace thunder
