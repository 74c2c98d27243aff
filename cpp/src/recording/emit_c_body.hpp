// The statements of one recorded function.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emit_c_plan.hpp"
#include "emit_c_text.hpp"

namespace thunder::emit {

/// Requirements of a source file besides its functions.
struct Needs {
  bool math = false, sincos = false, zeros = false, sign = false, copy = false, parts = false, pieces = false, avx = false;
};

class BodyWriter {
 public:
  /// `name_of` gives the C name of an outlined body.
  BodyWriter(const Function& function, const Precision& precision, Needs& needs,
             const std::function<std::string(const Function&)>& name_of);

  /// Before writing: adjacent results of equal form, of adjacent arguments, become loops, which compilers vectorize.
  void find_loops();

  std::string write();

 private:
  void choose_prefix();
  void name_leaves();
  void write_constant_results();
  void write_zeros(std::vector<int>& entries);
  void write_copies();
  void write_angles();
  std::string angles_in_place() const;
  void write_value(int value);
  void write_call(int call);
  std::string place_among_results(int call) const;
  void write_loops();
  bool alike(int first, int other, int distance, std::vector<char>& moving) const;
  bool loop_at(int entry, int length, std::vector<char>& moving) const;
  Term looped(int value, const std::vector<char>& moving, std::size_t& leaf) const;
  std::string array_of(const std::vector<std::string>& entries);
  Term expression(int value);
  Term angle_expression(int value) const;
  Term operand(int value);
  void settle(int value);
  void name_value(int value, const Term& term);
  void assign(const std::vector<std::string>& targets, const std::string& text);
  void note_library(Op op);

  std::string new_name(const char* kind = "");
  void declare(const std::string& name, const std::string& text);
  void statement(const std::string& text);
  void close();

  const Function& f_;
  const Precision& precision_;
  Needs& needs_;
  const std::function<std::string(const Function&)>& name_of_;
  Plan plan_;
  std::vector<Term> terms_;
  std::vector<char> waiting_;  // expressions that are written where they are used
  std::vector<std::vector<std::string>> targets_;  // by value: entries of results
  std::vector<std::string> call_results_;          // by call: array of its results, once called
  std::vector<std::vector<int>> call_values_;      // by call and position: the value, -1 where it is not needed
  std::vector<char> in_place_;                     // by call: its results stand among those of the function
  struct Loop {
    int first, length;  // entries of the results
    std::vector<char> moving;  // by leaf of the expression: true if it moves with the entry
  };
  std::vector<Loop> loops_;
  std::vector<char> looped_;  // by value
  std::map<std::string, std::string> arrays_;      // names of arrays made for calls, by their entries
  std::vector<std::pair<std::string, std::string>> copies_;  // entry of a result, entry of what a call gave
  std::string prefix_, out_;
  int names_ = 0;
  bool open_ = false;
};

}  // namespace thunder::emit
