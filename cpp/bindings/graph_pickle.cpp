// Conversion of recordings to plain data and back, for pickling: node by node, checked when read.
#include <pybind11/stl.h>

#include <algorithm>
#include <map>

#include "recording.hpp"

namespace thunder::python {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw py::value_error("the pickle of a recording must hold " + what); }

/// A node, or the number of a constant.
using Entry = std::pair<int, double>;
struct OutlineData {
  std::string key, name;
  py::tuple graph;
  std::vector<int> arguments, group_sizes, results;
  std::vector<Entry> entries;
};

py::tuple write_outline(const std::string& key, const Outline& outline) {
  if (!outline.graph->calls().empty()) throw py::type_error("outlines that call outlines cannot be pickled");
  std::vector<Entry> entries;
  for (const Expression& x : outline.entries)
    entries.emplace_back(x.is_constant() ? -1 : static_cast<int>(x.node), x.is_constant() ? x.value : 0.0);
  return py::make_tuple(key, outline.name, write_graph(*outline.graph), outline.arguments, outline.group_sizes,
                        outline.results, entries);
}

/// One graph for all parts of a pickle, without calls where it belongs to an outline.
std::shared_ptr<Graph> read(const py::tuple& data, bool outlined);

std::shared_ptr<const Outline> read_outline(const py::tuple& data, std::string& key) {
  if (data.size() != 7) refuse("seven parts of an outline");
  auto outline = std::make_shared<Outline>();
  key = py::cast<std::string>(data[0]);
  outline->name = py::cast<std::string>(data[1]);
  outline->graph = read(py::cast<py::tuple>(data[2]), true);
  outline->arguments = py::cast<std::vector<int>>(data[3]);
  outline->group_sizes = py::cast<std::vector<int>>(data[4]);
  outline->results = py::cast<std::vector<int>>(data[5]);
  Graph& graph = *outline->graph;
  const auto inside = [&](int node) { return node >= 0 && node < graph.size(); };
  const auto among = [](const std::vector<int>& nodes, int node) { return std::find(nodes.begin(), nodes.end(), node) != nodes.end(); };
  long total = 0;
  for (const int size : outline->group_sizes) total += size < 0 ? refuse("sizes of outlines that are not negative"), 0L : size;
  const auto folded = static_cast<std::size_t>(std::count(key.begin() + static_cast<std::ptrdiff_t>(std::min(key.find('/'), key.size())), key.end(), 'x'));
  if (total != static_cast<long>(outline->arguments.size()) || folded != outline->arguments.size())
    refuse("outlines whose arguments fit their key");
  for (const int node : outline->arguments)
    if (!inside(node) || graph.node(node).op != Op::symbol) refuse("outlines whose arguments are symbols");
  for (const int node : outline->results)
    if (!inside(node)) refuse("outlines whose results are nodes");
  for (const auto& [node, value] : py::cast<std::vector<Entry>>(data[6])) {
    if (node >= 0 && (!inside(node) || !among(graph.node(node).op == Op::symbol ? outline->arguments : outline->results, node)))
      refuse("outlines whose entries are arguments or results");
    outline->entries.push_back(node < 0 ? Expression(value) : Expression(&graph, node));
  }
  return outline;
}

std::shared_ptr<Graph> read(const py::tuple& data, bool outlined) {
  if (data.size() != 6) refuse("six parts");
  const auto nodes = read_array(data[0], "nodes", {-1, 4}), values = read_array(data[1], "values", {nodes.shape(0)});
  const auto names = py::cast<std::vector<std::string>>(data[2]);
  const auto calls = py::cast<std::vector<std::pair<std::size_t, std::vector<int>>>>(data[5]);
  auto graph = std::make_shared<Graph>();
  graph->outlining = py::cast<bool>(data[3]);
  std::vector<std::shared_ptr<const Outline>> outlines;
  const auto outline_data = py::cast<py::tuple>(data[4]);
  if (outlined && (outline_data.size() > 0 || !calls.empty())) refuse("outlines without calls");
  for (const py::handle item : outline_data) {
    std::string key;
    outlines.push_back(read_outline(py::cast<py::tuple>(item), key));
    graph->outlines.emplace(key, outlines.back());
  }
  std::size_t symbols = 0;
  for (int i = 0; i < nodes.shape(0); ++i) {
    int row[4];
    for (int k = 0; k < 4; ++k) {
      const double value = nodes.at(i, k);
      if (!(std::abs(value) < 2e9) || value != std::floor(value)) refuse("integers as nodes");
      row[k] = static_cast<int>(value);
    }
    if (row[0] < 0 || row[0] >= kOpCount) refuse("known operations");
    const auto op = static_cast<Op>(row[0]);
    if (i < graph->size()) {  // another result of a call
      const Node& node = graph->node(i);
      if (node.op != op || node.a != row[1] || node.b != row[2]) refuse("results where their calls are");
      continue;
    }
    int index = -1;
    if (op == Op::symbol) {
      if (symbols == names.size() || row[1] != static_cast<int>(symbols)) refuse("a name for every symbol");
      index = graph->symbol(names[symbols++]);
    } else if (op == Op::constant) {
      index = graph->constant(values.at(i));
    } else if (op == Op::result) {
      const std::size_t number = graph->calls().size();
      if (row[1] != static_cast<int>(number) || number >= calls.size()) refuse("calls in the order of their results");
      const auto& [which, arguments] = calls[number];
      if (which >= outlines.size() || arguments.size() != outlines[which]->arguments.size()) refuse("calls of outlines");
      for (const int argument : arguments)
        if (argument < 0 || argument >= i) refuse("arguments of calls before their results");
      const std::vector<int> results = graph->call(outlines[which], arguments);
      index = results.empty() ? -1 : results.front();
    } else {
      for (int k = 0; k < 3; ++k)
        if (k < arity(op) ? row[1 + k] < 0 || row[1 + k] >= i : row[1 + k] != -1) refuse("operands before their operations");
      index = graph->intern(op, row[1], row[2], row[3]);
    }
    if (index != i) refuse("every node once");
  }
  if (graph->size() != nodes.shape(0) || graph->calls().size() != calls.size()) refuse("as many nodes as its calls have results");
  return graph;
}

}  // namespace

py::tuple write_graph(const Graph& graph) {
  py::array_t<std::int32_t> nodes({static_cast<py::ssize_t>(graph.size()), py::ssize_t{4}});
  py::array_t<double> values(graph.size());
  std::vector<std::string> names;
  for (int i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const int row[4] = {static_cast<int>(node.op), node.a, node.b, node.c};
    std::copy_n(row, 4, nodes.mutable_data(i, 0));
    values.mutable_at(i) = node.value;
    if (node.op == Op::symbol) names.push_back(graph.symbol_name(i));
  }
  std::map<std::string, std::shared_ptr<const Outline>> sorted(graph.outlines.begin(), graph.outlines.end());
  std::map<const Outline*, std::size_t> index;
  py::tuple outlines(sorted.size());
  for (const auto& [key, outline] : sorted) {
    const std::size_t place = index.size();
    outlines[place] = write_outline(key, *outline);
    index.emplace(outline.get(), place);
  }
  std::vector<std::pair<std::size_t, std::vector<int>>> calls;
  for (const Call& call : graph.calls()) calls.emplace_back(index.at(call.outline.get()), call.arguments);
  return py::make_tuple(nodes, values, names, graph.outlining, outlines, calls);
}

std::shared_ptr<Graph> read_graph(const py::tuple& data) {
  try {
    return read(data, false);
  } catch (const py::cast_error&) {
    refuse("the types that were written");
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    refuse("the types that were written");
  }
}

}  // namespace thunder::python
