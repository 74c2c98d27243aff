#include "emit_c_body.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>

namespace thunder::emit {

namespace {

constexpr std::size_t kLength = 90;  // of an expression, before its parts get names
constexpr int kDepth = 12;
constexpr std::size_t kChain = 8;  // entries of results in one assignment
constexpr int kZeroRun = 4;        // zeros, or copies, side by side that are worth a loop
constexpr int kLoop = 4;           // other results

std::string element(const std::string& array, int k) { return array + "[" + std::to_string(k) + "]"; }

/// Names of all entries of some ports.
std::vector<std::string> entries_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports)
    for (int k = 0; k < port.size; ++k) names.push_back(element(port.name, k));
  return names;
}

/// Array and index of an entry such as out[3].
std::pair<std::string, int> place_of(const std::string& entry) {
  const std::size_t bracket = entry.find('[');
  return {entry.substr(0, bracket), std::atoi(entry.c_str() + bracket + 1)};
}

std::string at(const std::pair<std::string, int>& place) {
  return place.second == 0 ? place.first : place.first + " + " + std::to_string(place.second);
}

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789.e+-f") == std::string::npos;
}

bool is_identifier(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

Term constant_term(const Precision& precision, double x) {
  return {precision.number(std::fabs(x)), Binding::primary, std::signbit(x), 0};
}

}  // namespace

BodyWriter::BodyWriter(const Function& function, const Precision& precision, Needs& needs,
                       const std::function<std::string(const Function&)>& name_of)
    : f_(function), precision_(precision), needs_(needs), name_of_(name_of), plan_(function) {
  terms_.resize(plan_.uses.size());
  waiting_.assign(plan_.uses.size(), 0);
  targets_.resize(plan_.uses.size());
  looped_.assign(plan_.uses.size(), 0);
  call_results_.resize(f_.calls().size());
  in_place_.assign(f_.calls().size(), 0);
  for (const FunctionCall& c : f_.calls()) call_values_.emplace_back(f_.bodies()[c.body]->result_size(), -1);
  for (int v = f_.first_instruction(); v < static_cast<int>(terms_.size()); ++v)
    if (const Instruction& i = f_.instruction(v); i.op == Op::result) call_values_[i.a][i.b] = v;
}

std::string BodyWriter::write() {
  choose_prefix();
  name_leaves();
  const std::vector<std::string> entries = entries_of(f_.results());
  for (int k = 0; k < f_.result_size(); ++k) targets_[f_.result_values()[k]].push_back(entries[k]);
  write_angles();
  for (const int v : plan_.order)
    if (!looped_[v]) write_value(v);
  write_loops();
  for (int v = 0; v < static_cast<int>(terms_.size()); ++v)
    if (v < f_.first_instruction() ? f_.is_argument(v) : plan_.angle_of[v] >= 0)
      if (!targets_[v].empty()) assign(targets_[v], operand(v).at_least(Binding::ternary));
  write_constant_results();
  write_copies();
  close();
  return std::move(out_);
}

/// True if the expression of `other` is that of `first` with some arguments replaced by those `distance` further on;
/// `moving` collects them, leaf by leaf.
bool BodyWriter::alike(int first, int other, int distance, std::vector<char>& moving) const {
  if (first < f_.first_instruction() || other < f_.first_instruction()) {
    if (first != other && (!f_.is_argument(first) || other != first + distance || !f_.is_argument(other))) return false;
    moving.push_back(first != other);
    return true;
  }
  const Instruction &a = f_.instruction(first), &b = f_.instruction(other);
  if (a.op != b.op || a.op == Op::result || plan_.angle_of[first] >= 0) return false;
  const std::vector<int> x = operands(f_, first), y = operands(f_, other);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] >= f_.first_instruction() && (plan_.uses[x[k]] != 1 || !targets_[x[k]].empty())) return false;
    if (y[k] >= f_.first_instruction() && (plan_.uses[y[k]] != 1 || !targets_[y[k]].empty())) return false;
    if (!alike(x[k], y[k], distance, moving)) return false;
  }
  return true;
}

/// True if `length` entries of the results from `entry` on have the same form.
bool BodyWriter::loop_at(int entry, int length, std::vector<char>& moving) const {
  const int first = f_.result_values()[entry];
  for (int k = 0; k < length; ++k) {
    const int v = f_.result_values()[entry + k];
    std::vector<char> own;
    if (v < f_.first_instruction() || plan_.uses[v] > 0 || targets_[v].size() != 1 || !alike(first, v, k, own)) return false;
    if (k == 1) moving = own;
    if (k > 1 && own != moving) return false;
  }
  return std::count(moving.begin(), moving.end(), 1) > 0;
}

void BodyWriter::find_loops() {
  for (int k = 0; k < f_.result_size(); ++k) targets_[f_.result_values()[k]].push_back("");
  for (const Port& port : f_.results())
    for (int first = port.first, end = port.first + port.size; first + kLoop <= end;) {
      int length = kLoop;
      std::vector<char> moving;
      if (!loop_at(first, length, moving)) {
        ++first;
        continue;
      }
      while (first + length < end && loop_at(first, length + 1, moving)) ++length;
      loop_at(first, length, moving);
      loops_.push_back({first, length, moving});
      std::vector<int> inside(f_.result_values().begin() + first, f_.result_values().begin() + first + length);
      while (!inside.empty()) {
        const int v = inside.back();
        inside.pop_back();
        if (v < f_.first_instruction()) continue;
        looped_[v] = 1;
        for (const int o : operands(f_, v)) inside.push_back(o);
      }
      first += length;
    }
  for (auto& targets : targets_) targets.clear();
}

Term BodyWriter::looped(int value, const std::vector<char>& moving, std::size_t& leaf) const {
  if (value < f_.first_instruction()) {
    if (!moving[leaf++]) return terms_[value];
    Term term = terms_[value];
    const std::size_t bracket = term.text.find('[') + 1;
    const std::string index = term.text.substr(bracket, term.text.size() - bracket - 1);
    term.text = term.text.substr(0, bracket) + prefix_ + "k" + (index == "0" ? "" : " + " + index) + "]";
    return term;
  }
  Term terms[3];
  const std::vector<int> read = operands(f_, value);
  for (std::size_t k = 0; k < read.size(); ++k) terms[k] = looped(read[k], moving, leaf);
  return combine(precision_, f_.instruction(value).op, terms[0], terms[1], terms[2]);
}

void BodyWriter::write_loops() {
  const std::vector<std::string> entries = entries_of(f_.results());
  for (const Loop& loop : loops_) {
    std::size_t leaf = 0;
    const std::string k = prefix_ + "k";
    const auto [port, index] = place_of(entries[loop.first]);
    const Term term = looped(f_.result_values()[loop.first], loop.moving, leaf);
    statement("for (int " + k + " = 0; " + k + " < " + std::to_string(loop.length) + "; ++" + k + ") " + port + "[" + k +
              (index == 0 ? "" : " + " + std::to_string(index)) + "] = " + term.at_least(Binding::ternary));
  }
}

/// Local names are a letter and a number, or two letters and a number; no port has such a name.
void BodyWriter::choose_prefix() {
  const auto taken = [this](const std::string& prefix) {
    for (const std::vector<Port>* ports : {&f_.arguments(), &f_.results()})
      for (const Port& port : *ports)
        if (port.name.compare(0, prefix.size(), prefix) == 0) return true;
    return false;
  };
  for (std::string tail;; tail += '_')
    for (const char letter : std::string("vwtuxyzabcdefghijklmnopqrs")) {
      prefix_ = letter + tail;
      if (!taken(prefix_)) return;
    }
}

/// Arguments, and constants: those that are long and frequent get a name.
void BodyWriter::name_leaves() {
  const std::vector<std::string> entries = entries_of(f_.arguments());
  for (int v = 0; v < f_.argument_size(); ++v) terms_[v].text = entries[v];
  for (int v = f_.argument_size(); v < f_.first_instruction(); ++v) {
    terms_[v] = constant_term(precision_, f_.constant(v));
    if (!std::isfinite(f_.constant(v))) needs_.math = true;
    const std::size_t length = terms_[v].text.size(), name = prefix_.size() + 2, uses = plan_.uses[v];
    if (uses * length <= uses * name + length + name + 8) continue;
    const std::string text = terms_[v].text;
    terms_[v].text = new_name();
    declare(terms_[v].text, text);
  }
}

void BodyWriter::write_constant_results() {
  const std::vector<std::string> entries = entries_of(f_.results());
  std::vector<int> zeros;
  std::map<double, std::vector<std::string>> constants;
  for (int k = 0; k < f_.result_size(); ++k) {
    const int v = f_.result_values()[k];
    if (f_.is_constant(v) && f_.constant(v) == 0.0) zeros.push_back(k);
  }
  write_zeros(zeros);
  for (const int k : zeros) constants[0.0].push_back(entries[k]);
  for (const auto& [x, targets] : constants) assign(targets, precision_.number(x));
  for (int v = f_.argument_size(); v < f_.first_instruction(); ++v)
    if (f_.constant(v) != 0.0 && !targets_[v].empty())
      assign(targets_[v], constant_term(precision_, f_.constant(v)).at_least(Binding::ternary));
}

/// Copies results of calls to the results at the end, runs of adjacent entries together: compilers look back from
/// every single load past all calls and stores.
void BodyWriter::write_copies() {
  std::map<std::pair<std::string, int>, std::pair<std::string, int>> from;  // by place in the results
  for (const auto& [target, source] : copies_) from[place_of(target)] = place_of(source);
  for (auto first = from.begin(); first != from.end();) {
    auto end = std::next(first);
    int length = 1;
    const auto follows = [&] {
      return end->first == std::make_pair(first->first.first, first->first.second + length) &&
             end->second == std::make_pair(first->second.first, first->second.second + length);
    };
    while (end != from.end() && follows()) ++end, ++length;
    if (length >= kZeroRun) {
      needs_.copy = true;
      statement("thunder_copy(" + at(first->first) + ", " + at(first->second) + ", " + std::to_string(length) + ")");
    } else {
      for (; first != end; ++first)
        statement(element(first->first.first, first->first.second) + " = " + element(first->second.first, first->second.second));
    }
    first = end;
  }
}

/// Writes the long runs of zeros and leaves the others in `entries`.
void BodyWriter::write_zeros(std::vector<int>& entries) {
  std::vector<int> left;
  for (const Port& port : f_.results()) {
    auto first = std::lower_bound(entries.begin(), entries.end(), port.first);
    const auto end = std::lower_bound(entries.begin(), entries.end(), port.first + port.size);
    while (first != end) {
      auto last = first;
      while (last + 1 != end && last[1] == *last + 1) ++last;
      const int start = *first - port.first, length = *last - *first + 1;
      if (length >= kZeroRun) {
        const std::string at = start == 0 ? port.name : port.name + " + " + std::to_string(start);
        statement("thunder_zeros(" + at + ", " + std::to_string(length) + ")");
        needs_.zeros = true;
      } else {
        left.insert(left.end(), first, last + 1);
      }
      first = last + 1;
    }
  }
  entries = left;
}

/// The argument in which all angles are adjacent, or nothing.
std::string BodyWriter::angles_in_place() const {
  const int first = plan_.angles.front(), count = static_cast<int>(plan_.angles.size());
  if (count < 2 || plan_.angles.back() != first + count - 1) return "";
  for (const Port& port : f_.arguments())
    if (first >= port.first && first + count <= port.first + port.size)
      return first == port.first ? port.name : port.name + " + " + std::to_string(first - port.first);
  return "";
}

void BodyWriter::write_angles() {
  if (plan_.angles.empty()) return;
  needs_.sincos = true;
  const int count = static_cast<int>(plan_.angles.size()), size = std::max(count, 2);  // the helper works in pairs
  std::string x = angles_in_place();
  if (x.empty()) {
    std::string list;
    for (const int v : plan_.angles) list += (list.empty() ? "" : ", ") + angle_expression(v).at_least(Binding::ternary);
    if (count == 1) list += ", " + precision_.number(0.0);
    x = prefix_ + "x";
    statement(std::string("const ") + precision_.type() + " " + element(x, size) + " = {" + list + "}");
  }
  const std::string s = prefix_ + "s", c = prefix_ + "c";
  statement(std::string(precision_.type()) + " " + element(s, size) + ", " + element(c, size));
  statement("thunder_sincos(" + std::to_string(size) + ", " + x + ", " + s + ", " + c + ")");
  for (std::size_t v = 0; v < terms_.size(); ++v)
    if (const int k = plan_.angle_of[v]; k >= 0)
      terms_[v].text = element(f_.instruction(static_cast<int>(v)).op == Op::sin ? s : c, k);
}

/// An angle from arguments and literals: at the start nothing has a name yet.
Term BodyWriter::angle_expression(int value) const {
  if (f_.is_argument(value)) return terms_[value];
  if (f_.is_constant(value)) return constant_term(precision_, f_.constant(value));
  const Instruction& i = f_.instruction(value);
  const Term a = angle_expression(i.a), b = arity(i.op) > 1 ? angle_expression(i.b) : Term{};
  return combine(precision_, i.op, a, b, {});
}

void BodyWriter::write_value(int value) {
  const Instruction& i = f_.instruction(value);
  const std::vector<std::string>& targets = targets_[value];
  if (i.op == Op::result) {
    write_call(i.a);
    if (in_place_[i.a]) return;
    terms_[value].text = element(call_results_[i.a], i.b);
    for (const std::string& target : targets) copies_.emplace_back(target, terms_[value].text);
    return;
  }
  note_library(i.op);
  Term term = expression(value);
  const bool trivial = i.op == Op::neg && term.depth == 0;
  if ((plan_.uses[value] == 1 && targets.empty()) || trivial) {
    terms_[value] = std::move(term);
    waiting_[value] = !trivial;
    if (trivial && !targets.empty()) assign(targets, operand(value).at_least(Binding::ternary));
  } else if (plan_.uses[value] == 0) {
    if (term.binding == Binding::comparison) term = number_of(precision_, term);
    assign(targets, term.at_least(Binding::ternary));
  } else {
    name_value(value, term);
  }
}

/// Parts of an expression that would grow too long get names first.
Term BodyWriter::expression(int value) {
  const Instruction& i = f_.instruction(value);
  const std::vector<int> read = operands(f_, value);
  for (;;) {
    std::size_t length = 0;
    int depth = 0, longest = -1;
    for (const int v : read) {
      length += terms_[v].text.size();
      depth = std::max(depth, terms_[v].depth);
      if (waiting_[v] && (longest < 0 || terms_[v].text.size() > terms_[longest].text.size())) longest = v;
    }
    if (longest < 0 || (length <= kLength && depth <= kDepth)) break;
    settle(longest);
  }
  Term terms[3];
  for (std::size_t k = 0; k < read.size(); ++k)
    terms[k] = i.op == Op::select && k == 0 ? terms_[read[0]] : operand(read[k]);
  return combine(precision_, i.op, terms[0], terms[1], terms[2]);
}

Term BodyWriter::operand(int value) {
  const Term& term = terms_[value];
  return term.binding == Binding::comparison ? number_of(precision_, term) : term;
}

void BodyWriter::settle(int value) {
  waiting_[value] = 0;
  name_value(value, Term(terms_[value]));
}

/// The sign stays with the name, for its users to absorb.
void BodyWriter::name_value(int value, const Term& term) {
  const bool negative = term.negative && targets_[value].empty();
  Term named = term.binding == Binding::comparison ? number_of(precision_, term) : term;
  if (negative) named.negative = false;
  std::string text;
  for (const std::string& target : targets_[value]) text += target + " = ";
  terms_[value] = {new_name(), Binding::primary, negative, 0};
  declare(terms_[value].text, text + named.at_least(Binding::ternary));
}

void BodyWriter::write_call(int call) {
  if (!call_results_[call].empty()) return;
  const FunctionCall& c = f_.calls()[call];
  const Function& body = *f_.bodies()[c.body];
  std::string list;
  for (const Port& port : body.arguments()) {
    std::vector<std::string> entries;
    for (int k = 0; k < port.size; ++k)
      entries.push_back(operand(c.arguments[port.first + k]).at_least(Binding::ternary));
    list += array_of(entries) + ", ";
  }
  std::string out = place_among_results(call);
  in_place_[call] = !out.empty();
  if (out.empty()) {
    out = new_name("o");
    statement(std::string(precision_.type()) + " " + element(out, body.result_size()));
  }
  statement(name_of_(body) + "(" + list + out + ")");
  call_results_[call] = out;
}

/// Position of the results of a call if they are adjacent results of the function and read nowhere else; or nothing.
std::string BodyWriter::place_among_results(int call) const {
  const std::vector<int>& values = call_values_[call];
  std::pair<std::string, int> first;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] < 0 || plan_.uses[values[k]] > 0 || targets_[values[k]].size() != 1) return "";
    const auto place = place_of(targets_[values[k]].front());
    if (k == 0) first = place;
    if (place != std::make_pair(first.first, first.second + static_cast<int>(k))) return "";
  }
  return at(first);
}

/// Values side by side in memory: a part of an array that holds them already, or an array of their own.
std::string BodyWriter::array_of(const std::vector<std::string>& entries) {
  const std::size_t bracket = entries[0].find('[');
  if (bracket != std::string::npos && is_identifier(entries[0].substr(0, bracket))) {  // -x[3] is not part of an array
    const std::string array = entries[0].substr(0, bracket);
    const int first = std::atoi(entries[0].c_str() + bracket + 1);
    bool in_place = true;
    for (std::size_t k = 0; k < entries.size(); ++k)
      in_place = in_place && entries[k] == element(array, first + static_cast<int>(k));
    if (in_place) return at({array, first});
  }
  std::string list;
  for (const std::string& entry : entries) list += (list.empty() ? "" : ", ") + entry;
  std::string& name = arrays_[list];
  if (!name.empty()) return name;
  name = new_name("i");
  const bool numbers = std::all_of(entries.begin(), entries.end(), is_number);
  statement(std::string(numbers ? "static const " : "const ") + precision_.type() + " " + element(name, static_cast<int>(entries.size())) + " = {" +
            list + "}");
  return name;
}

void BodyWriter::assign(const std::vector<std::string>& targets, const std::string& text) {
  for (std::size_t k = 0; k < targets.size(); k += kChain) {
    std::string chain;
    for (std::size_t j = k; j < std::min(k + kChain, targets.size()); ++j) chain += targets[j] + " = ";
    statement(chain + text);
  }
}

void BodyWriter::note_library(Op op) {
  if (op == Op::sign) needs_.sign = true;
  else if (arity(op) == 1 ? op != Op::neg : op == Op::atan2 || op == Op::pow) needs_.math = true;
}

std::string BodyWriter::new_name(const char* kind) { return prefix_ + kind + std::to_string(++names_); }

void BodyWriter::declare(const std::string& name, const std::string& text) {
  out_ += open_ ? ",\n    " : std::string("  const ") + precision_.type() + " ";
  out_ += name + " = " + text;
  open_ = true;
}

void BodyWriter::statement(const std::string& text) {
  close();
  out_ += "  " + text + ";\n";
}

void BodyWriter::close() {
  if (open_) out_ += ";\n";
  open_ = false;
}

}  // namespace thunder::emit
