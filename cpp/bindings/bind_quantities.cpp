// One Python method for each entry of the list of quantities.
#include "array.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "thunder/evaluation.hpp"

namespace thunder::python {

namespace {

InstructionSet instruction_set = best_instruction_set();

TaskRows read_rows(py::handle rows) {
  if (rows.is_none()) return {};
  TaskRows result{0};
  int last = -1;
  const auto fail = [&] {
    throw py::value_error("rows must be increasing whole numbers from 0 to 5, got " +
                          std::string(py::str(py::repr(rows))));
  };
  if (!py::isinstance<py::iterable>(rows) || py::isinstance<py::str>(rows)) fail();
  for (py::handle item : rows) {
    if (!PyIndex_Check(item.ptr())) fail();
    const py::ssize_t row = PyNumber_AsSsize_t(item.ptr(), nullptr);
    if (row <= last || row > 5) fail();
    last = static_cast<int>(row);
    result.mask |= 1 << last;
  }
  if (last < 0) fail();
  return result;
}

/// A task-space inertia past this is a singularity seen through rounding.
constexpr double kSingular = 1e12;

void require_regular(const double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!(std::abs(values[i]) < kSingular))
      throw py::value_error("the chosen rows of the Jacobian are singular here; choose fewer with rows=");
}

template <std::size_t Index>
py::object call(const Model& model, const py::handle* arguments, py::handle frame, py::handle rows, py::handle out,
                int threads) {
  using Q = std::tuple_element_t<Index, quantities::All>;
  const ChainView<double> chain = model.view();
  Selection<double> selection{};
  if constexpr (Q::takes_frame) selection.frame = find_frame(model, frame);
  if constexpr (Q::takes_rows) selection.rows = read_rows(rows);
  if (threads < 0) throw py::value_error("threads must be 0 (one per core) or more, got " + std::to_string(threads));
  VectorInput inputs[Q::input_count];
  for (int k = 0; k < Q::input_count; ++k) inputs[k] = read_vector(arguments[k], Q::inputs[k], chain.n);
  std::vector<py::ssize_t> shape = broadcast(inputs, Q::inputs, Q::input_count, chain.n);
  const bool single = shape.empty();
  std::size_t count = 1;
  for (const py::ssize_t d : shape) count *= d;
  const Shape sample = Q::shape(chain.n, chain.parameters(), selection.rows.count());
  const std::size_t size = sample.size();
  shape.insert(shape.end(), sample.dims, sample.dims + sample.rank);
  if (single && sample.rank == 0 && out.is_none()) {
    const double* in[kMaxInputs];
    for (int k = 0; k < Q::input_count; ++k) in[k] = inputs[k].data;
    double value;
    evaluate_one(Index)(chain, in, selection, &value);
    return py::float_(value);
  }
  py::array result = output_array(out, shape);
  auto* data = static_cast<double*>(const_cast<void*>(result.data()));
  for (int k = 0; k < Q::input_count; ++k)
    if (overlaps(inputs[k].data, chain.n * (inputs[k].stride ? count : 1), data, count * size)) {
      const auto copy = py::array_t<double>(static_cast<py::ssize_t>(chain.n * (inputs[k].stride ? count : 1)), inputs[k].data);
      inputs[k].data = copy.data();
      inputs[k].owner = copy;
    }
  if (single) {
    const double* in[kMaxInputs];
    for (int k = 0; k < Q::input_count; ++k) in[k] = inputs[k].data;
    evaluate_one(Index)(chain, in, selection, data);
  } else if (count > 0) {
    BatchCall batch{chain, selection, {}, {}, data, 0, count};
    for (int k = 0; k < Q::input_count; ++k) {
      batch.in[k] = inputs[k].data;
      batch.stride[k] = inputs[k].stride;
    }
    const py::gil_scoped_release release;
    evaluate_batch(Index, instruction_set, batch, count, threads);
  }
  if constexpr (std::is_same_v<Q, quantities::OperationalSpaceInertia>) require_regular(data, count * size);
  return std::move(result);
}

template <std::size_t Index>
void bind_quantity(ModelClass& model) {
  using Q = std::tuple_element_t<Index, quantities::All>;
  static const std::string doc =
      numpydoc(quantity_doc(Q::name), Q::inputs, Q::input_count, Q::takes_frame, Q::takes_rows);
  const auto none = py::none();
  const py::arg_v out("out", py::none(), "None"), threads("threads", 1);
  const auto a = [](int k) { return py::arg(Q::inputs[k]); };
  using A = const ArrayLike&;
  using O = const py::object&;
  if constexpr (Q::takes_rows) {
    model.def(
        Q::name,
        [](const Model& m, A q, O frame, O rows, O out, int threads) {
          const py::handle in[] = {q};
          return call<Index>(m, in, frame, rows, out, threads);
        },
        a(0), py::arg("frame") = none, py::kw_only(), py::arg("rows") = none, out, threads, doc.c_str());
  } else if constexpr (Q::takes_frame && Q::input_count == 1) {
    model.def(
        Q::name,
        [](const Model& m, A q, O frame, O out, int threads) {
          const py::handle in[] = {q};
          return call<Index>(m, in, frame, py::none(), out, threads);
        },
        a(0), py::arg("frame") = none, py::kw_only(), out, threads, doc.c_str());
  } else if constexpr (Q::takes_frame) {
    model.def(
        Q::name,
        [](const Model& m, A q, A dq, O frame, O out, int threads) {
          const py::handle in[] = {q, dq};
          return call<Index>(m, in, frame, py::none(), out, threads);
        },
        a(0), a(1), py::arg("frame") = none, py::kw_only(), out, threads, doc.c_str());
  } else if constexpr (Q::input_count == 1) {
    model.def(
        Q::name,
        [](const Model& m, A x, O out, int threads) {
          const py::handle in[] = {x};
          return call<Index>(m, in, {}, {}, out, threads);
        },
        a(0), py::kw_only(), out, threads, doc.c_str());
  } else if constexpr (Q::input_count == 2) {
    model.def(
        Q::name,
        [](const Model& m, A x, A y, O out, int threads) {
          const py::handle in[] = {x, y};
          return call<Index>(m, in, {}, {}, out, threads);
        },
        a(0), a(1), py::kw_only(), out, threads, doc.c_str());
  } else if constexpr (Q::input_count == 3) {
    model.def(
        Q::name,
        [](const Model& m, A x, A y, A z, O out, int threads) {
          const py::handle in[] = {x, y, z};
          return call<Index>(m, in, {}, {}, out, threads);
        },
        a(0), a(1), a(2), py::kw_only(), out, threads, doc.c_str());
  } else {
    model.def(
        Q::name,
        [](const Model& m, A x, A y, A z, A w, O out, int threads) {
          const py::handle in[] = {x, y, z, w};
          return call<Index>(m, in, {}, {}, out, threads);
        },
        a(0), a(1), a(2), a(3), py::kw_only(), out, threads, doc.c_str());
  }
}

template <std::size_t... I>
void bind_all(ModelClass& model, std::index_sequence<I...>) {
  (bind_quantity<I>(model), ...);
}

}  // namespace

void bind_quantities(ModelClass& model) {
  bind_all(model, std::make_index_sequence<kQuantityCount>());
  model.def_static(
      "_use_instruction_set",
      [](const std::string& name) {
        if (name != "baseline" && name != "best") throw py::value_error("instruction set must be 'baseline' or 'best'");
        instruction_set = name == "best" ? best_instruction_set() : InstructionSet::baseline;
      },
      py::arg("name"), "Choose how batches are computed, for tests and benchmarks: 'best' or 'baseline'.");
}

}  // namespace thunder::python
