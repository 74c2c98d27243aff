// One Python method for each entry of the list of quantities.
#include "array.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "thunder/kernels/kernels.hpp"
#include "thunder/kernels/quantities.hpp"

#include <deque>

namespace thunder::python {

namespace {

/// A method in CPython's own calling convention.
using Method = PyObject* (*)(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names);

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
    const auto row = read_index(item);
    if (!row || *row <= last || *row > 5) fail();
    last = static_cast<int>(*row);
    result.mask |= 1 << last;
  }
  if (last < 0) fail();
  return result;
}

/// A task-space inertia beyond this indicates a singularity, up to rounding.
constexpr double kSingular = 1e12;

void require_regular(const double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!(std::abs(values[i]) < kSingular))
      throw py::value_error("the chosen rows of the Jacobian are singular at this state; choose fewer with rows=");
}

void require_elastic(const Model& model, const char* quantity) {
  if (model.elastic_count() == 0)
    throw py::value_error(std::string(quantity) + " needs elastic joints, and " + model.name() + " has none");
}

constexpr long kMostThreads = 1024;

/// The arguments of one call, sorted by name: inputs, then frame, rows, out, threads where the quantity has them.
struct QuantityArguments {
  PyObject* inputs[kMaxInputs] = {};
  PyObject *frame = Py_None, *rows = Py_None, *out = Py_None, *threads = nullptr;

  QuantityArguments(const QuantityInfo& quantity, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
    const Py_ssize_t most = quantity.input_count + (quantity.takes_frame ? 1 : 0);
    if (positional > most)
      throw py::type_error(std::string(quantity.name) + "() takes " + std::to_string(most) + " positional arguments, got " +
                           std::to_string(positional));
    for (Py_ssize_t i = 0; i < positional; ++i) (i < quantity.input_count ? inputs[i] : frame) = values[i];
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named; ++i) set(quantity, PyTuple_GET_ITEM(names, i), values[positional + i], positional);
    for (int k = 0; k < quantity.input_count; ++k)
      if (inputs[k] == nullptr) throw py::type_error(std::string(quantity.name) + "() misses the argument " + quantity.inputs[k]);
  }

  void set(const QuantityInfo& quantity, PyObject* name, PyObject* value, Py_ssize_t positional) {
    const auto is = [name](const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; };
    if (is("out")) {
      out = value;
    } else if (is("threads")) {
      threads = value;
    } else if (quantity.takes_rows && is("rows")) {
      rows = value;
    } else if (quantity.takes_frame && is("frame")) {
      if (positional > quantity.input_count) refuse_repetition(quantity, "frame");
      frame = value;
    } else {
      for (int k = 0; k < quantity.input_count; ++k)
        if (is(quantity.inputs[k])) {
          if (k < positional) refuse_repetition(quantity, quantity.inputs[k]);
          inputs[k] = value;
          return;
        }
      throw py::type_error(std::string(quantity.name) + "() got an unexpected argument " +
                           std::string(py::str(py::handle(name))));
    }
  }

  [[noreturn]] static void refuse_repetition(const QuantityInfo& quantity, const char* name) {
    throw py::type_error(std::string(quantity.name) + "() got multiple values for argument '" + name + "'");
  }

  int thread_count() const {
    if (threads == nullptr) return 1;
    const py::ssize_t count = read_index(threads).value_or(-1);
    if (count < 0 || count > kMostThreads)
      throw py::value_error("threads must be a whole number from 0 (one per core) to " +
                            std::to_string(kMostThreads) + ", got " +
                            std::string(py::str(py::repr(threads))));
    return static_cast<int>(count);
  }
};

py::object call_kernel(std::size_t index, const Model& model, const QuantityArguments& arguments) {
  const QuantityInfo& quantity = kQuantities[index];
  const int input_count = quantity.input_count;
  const int threads = arguments.thread_count();
  const ChainView<double> chain = model.view();
  Selection<double> selection{};
  if (quantity.takes_frame) selection.frame = find_frame(model, arguments.frame);
  if (quantity.takes_rows) selection.rows = read_rows(arguments.rows);
  if (quantity.motor_inputs != 0) require_elastic(model, quantity.name);
  const auto is = [index](Quantity one) { return index == static_cast<std::size_t>(one); };
  if (is(Quantity::ElasticForwardDynamics)) require_motor_inertia(model);
  const Sizes all = sizes(chain, selection.rows.count());
  SampleInput inputs[kMaxInputs];
  for (int k = 0; k < input_count; ++k) inputs[k] = read_vector(arguments.inputs[k], quantity.inputs[k], quantity.input_size(k, all));
  std::vector<py::ssize_t> shape = broadcast(inputs, quantity.inputs, input_count);
  const bool single = shape.empty();
  std::size_t count = 1;
  for (const py::ssize_t d : shape) count *= d;
  const Shape sample = quantity.shape(all);
  const std::size_t size = sample.size();
  shape.insert(shape.end(), sample.dims, sample.dims + sample.rank);
  if (single && sample.rank == 0 && py::handle(arguments.out).is_none()) {
    const double* in[kMaxInputs];
    for (int k = 0; k < input_count; ++k) in[k] = inputs[k].data;
    double value;
    kernels().evaluate[index](chain, thread_workspace(chain.n), in, selection, &value);
    return py::float_(value);
  }
  py::array result = output_array(arguments.out, shape);
  auto* data = static_cast<double*>(const_cast<void*>(result.data()));
  for (int k = 0; k < input_count; ++k)
    if (const std::size_t entries = inputs[k].size * (inputs[k].stride ? count : 1);
        overlaps(inputs[k].data, entries, data, count * size)) {
      const auto copy = py::array_t<double>(static_cast<py::ssize_t>(entries), inputs[k].data);
      inputs[k].data = copy.data();
      inputs[k].owner = copy;
    }
  if (single) {
    const double* in[kMaxInputs];
    for (int k = 0; k < input_count; ++k) in[k] = inputs[k].data;
    kernels().evaluate[index](chain, thread_workspace(chain.n), in, selection, data);
  } else if (count > 0) {
    BatchCall batch{chain, selection, {}, {}, data, 0, count};
    for (int k = 0; k < input_count; ++k) {
      batch.in[k] = inputs[k].data;
      batch.stride[k] = inputs[k].stride;
    }
    const GilRelease release;
    evaluate_batch(index, batch, static_cast<int>(size), count, threads, check_signals);
  }
  if (is(Quantity::OperationalSpaceInertia) || is(Quantity::OperationalSpaceInertiaDerivative))
    require_regular(data, count * size);
  return std::move(result);
}

const Model& model_of(PyObject* self) {
  const auto* instance = reinterpret_cast<py::detail::instance*>(self);
  const void* model = instance->simple_layout ? instance->simple_value_holder[0] : nullptr;
  if (model == nullptr) return py::cast<const Model&>(py::handle(self));  // raises TypeError where it was not initialized
  return *static_cast<const Model*>(model);
}

/// A method in CPython's own calling convention: at these speeds the general argument dispatch would cost as much as
/// the computation.
PyObject* call(std::size_t index, PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  try {
    const Model& model = model_of(self);
    return call_kernel(index, model, {kQuantities[index], values, positional, names}).release().ptr();
  } catch (...) {
    set_python_error();
  }
  return nullptr;
}

template <std::size_t Index>
PyObject* method(PyObject* self, PyObject* const* values, Py_ssize_t positional, PyObject* names) {
  return call(Index, self, values, positional, names);
}

/// First line of the docstring, in the form that stub generators read.
std::string signature(const QuantityInfo& quantity) {
  std::string text = std::string(quantity.name) + "(self: thunder_py._core.Model";
  for (int k = 0; k < quantity.input_count; ++k) text += std::string(", ") + quantity.inputs[k] + ": numpy.typing.ArrayLike";
  if (quantity.takes_frame) text += ", frame: int | str | None = None";
  text += ", *";
  if (quantity.takes_rows) text += ", rows: collections.abc.Sequence[int] | None = None";
  text += ", out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1)";
  // a single state's scalar is a float, a batch's an array: a type checker cannot distinguish them
  const bool scalar = quantity.shape(Sizes{}).rank == 0;
  return text + (scalar ? " -> typing.Any\n\n" : " -> numpy.typing.NDArray[numpy.float64]\n\n");
}

void bind_quantity(ModelClass& model, const QuantityInfo& quantity, Method function) {
  static std::deque<std::pair<std::string, PyMethodDef>> kept;  // as long as the module
  auto& [doc, definition] = kept.emplace_back();
  doc = signature(quantity) + numpydoc(quantity);
  definition = {quantity.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
                METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
  const auto descriptor =
      py::reinterpret_steal<py::object>(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(model.ptr()), &definition));
  if (!descriptor) throw py::error_already_set();
  model.attr(quantity.name) = descriptor;
}

template <std::size_t... I>
void bind_all(ModelClass& model, std::index_sequence<I...>) {
  (bind_quantity(model, kQuantities[I], method<I>), ...);
}

}  // namespace

void bind_quantities(ModelClass& model) {
  bind_all(model, std::make_index_sequence<kQuantityCount>());
}

}  // namespace thunder::python
