#include "array.hpp"

#include "thunder/math/dense.hpp"

#include <pybind11/gil_safe_call_once.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace thunder::python {

namespace {

using Contiguous = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<py::ssize_t> shape_of(const py::array& a) { return {a.shape(), a.shape() + a.ndim()}; }

/// True for a plain float64 C-contiguous ndarray, without a call into NumPy.
bool is_plain_double(py::handle value) {
  // of a plain static, two threads could wait for each other: one for its initialization, the other for the GIL in it
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<PyObject*> stored;
  const PyObject* const dtype =  // a singleton of NumPy
      stored.call_once_and_store_result([] { return py::dtype::of<double>().release().ptr(); }).get_stored();
  const auto& api = py::detail::npy_api::get();
  if (Py_TYPE(value.ptr()) != api.PyArray_Type_) return false;
  const auto* proxy = py::detail::array_proxy(value.ptr());
  constexpr int wanted = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  return proxy->descr == dtype && (proxy->flags & wanted) == wanted;
}

/// Null for objects that NumPy cannot convert.
py::array to_array(py::handle value) {
  try {
    return py::array(py::reinterpret_borrow<py::object>(value));
  } catch (const py::error_already_set& error) {
    if (error.matches(PyExc_MemoryError) || !error.matches(PyExc_Exception)) throw;
  }
  return py::reinterpret_steal<py::array>(py::handle());
}

py::object to_double(py::handle value, const char* name) {
  if (is_plain_double(value)) return py::reinterpret_borrow<py::object>(value);
  const py::array any = to_array(value);
  const char kind = any ? any.dtype().kind() : 'O';
  if (std::strchr("biuf", kind) == nullptr)
    throw py::value_error(std::string(name) + " must be an array of real numbers, got " +
                          std::string(py::str(py::repr(value))).substr(0, 120));
  return Contiguous(any);  // MemoryError if a copy cannot be allocated
}

void require_finite(const double* x, const std::vector<py::ssize_t>& shape, std::size_t count, const char* name) {
  if (all_finite(x, count)) return;
  std::size_t at = 0;
  while (std::isfinite(x[at])) ++at;
  std::vector<py::ssize_t> index(shape.size());
  std::size_t rest = at;
  for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) index[k] = static_cast<py::ssize_t>(rest % shape[k]);
  const std::string text = std::isnan(x[at]) ? "nan" : x[at] > 0 ? "inf" : "-inf";
  throw py::value_error(std::string(name) + " must be finite, got " + text + " at index " + shape_text(index));
}

}  // namespace

std::string shape_text(const std::vector<py::ssize_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

namespace {

/// Required shape, batch axes as dots: (..., 7).
std::string batched_shape_text(const std::vector<py::ssize_t>& sample) {
  std::string text = "(...";
  for (const py::ssize_t d : sample) text += ", " + std::to_string(d);
  return text + ")";
}

}  // namespace

SampleInput read_samples(py::handle value, const char* name, std::vector<py::ssize_t> sample) {
  SampleInput input;
  input.owner = to_double(value, name);
  const auto* proxy = py::detail::array_proxy(input.owner.ptr());
  const int rank = proxy->nd, own = static_cast<int>(sample.size());
  if (rank < own || !std::equal(sample.begin(), sample.end(), proxy->dimensions + rank - own))
    throw py::value_error(std::string(name) + " must have shape " + batched_shape_text(sample) + ", got " +
                          shape_text({proxy->dimensions, proxy->dimensions + rank}));
  std::size_t count = 1;
  for (int k = 0; k < rank; ++k) count *= proxy->dimensions[k];
  if (rank > own) input.batch.assign(proxy->dimensions, proxy->dimensions + rank - own);
  input.data = reinterpret_cast<const double*>(proxy->data);
  input.size = 1;
  for (const py::ssize_t d : sample) input.size *= static_cast<int>(d);
  input.stride = input.size;
  input.sample = std::move(sample);
  if (!all_finite(input.data, count))
    require_finite(input.data, {proxy->dimensions, proxy->dimensions + rank}, count, name);
  return input;
}

SampleInput read_vector(py::handle value, const char* name, int n) { return read_samples(value, name, {n}); }

std::vector<py::ssize_t> broadcast(SampleInput* inputs, const char* const* names, int count) {
  std::vector<py::ssize_t> common;
  for (int k = 0; k < count; ++k) {
    const auto& shape = inputs[k].batch;
    if (shape.size() > common.size()) common.insert(common.begin(), shape.size() - common.size(), 1);
    const std::size_t shift = common.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      py::ssize_t& d = common[shift + i];
      if (d == 1)
        d = shape[i];
      else if (shape[i] != 1 && shape[i] != d) {
        std::string text = "batch shapes do not broadcast:";
        for (int j = 0; j < count; ++j)
          text += std::string(j ? "," : "") + " " + names[j] + " " + shape_text(inputs[j].batch);
        throw py::value_error(text);
      }
    }
  }
  for (int k = 0; k < count; ++k) {
    SampleInput& input = inputs[k];
    if (input.batch == common) continue;
    if (std::all_of(input.batch.begin(), input.batch.end(), [](py::ssize_t d) { return d == 1; })) {
      input.stride = 0;  // one sample for the whole batch
      continue;
    }
    std::vector<py::ssize_t> full = common;
    full.insert(full.end(), input.sample.begin(), input.sample.end());
    const py::object numpy = py::module_::import("numpy");
    input.owner = numpy.attr("ascontiguousarray")(numpy.attr("broadcast_to")(input.owner, py::tuple(py::cast(full))));
    input.data = static_cast<const double*>(py::reinterpret_borrow<py::array>(input.owner).data());
  }
  return common;
}

py::array output_array(py::handle out, const std::vector<py::ssize_t>& shape) {
  if (out.is_none()) return py::array_t<double>(shape);
  if (!is_plain_double(out)) throw py::value_error("out must be a C-contiguous float64 array of shape " + shape_text(shape));
  auto array = py::reinterpret_borrow<py::array>(out);
  if (!array.writeable()) throw py::value_error("out must be writeable");
  if (static_cast<std::size_t>(array.ndim()) != shape.size() || !std::equal(shape.begin(), shape.end(), array.shape()))
    throw py::value_error("out must have shape " + shape_text(shape) + ", got " + shape_text(shape_of(array)));
  return array;
}

bool overlaps(const double* a, std::size_t a_count, const double* b, std::size_t b_count) {
  return a < b + b_count && b < a + a_count;
}

namespace {

using DoubleArray = py::array_t<double, py::array::c_style>;

DoubleArray read_shape(py::handle value, const char* name, const std::vector<py::ssize_t>& shape) {
  auto array = py::reinterpret_borrow<DoubleArray>(to_double(value, name));
  const std::vector<py::ssize_t> got = shape_of(array);
  bool same = got.size() == shape.size();
  for (std::size_t i = 0; same && i < shape.size(); ++i) same = shape[i] == -1 || shape[i] == got[i];
  if (same) return array;
  std::string wanted = shape_text(shape);
  for (std::size_t at; (at = wanted.find("-1")) != std::string::npos;) wanted.replace(at, 2, "n");
  throw py::value_error(std::string(name) + " must have shape " + wanted + ", got " + shape_text(got));
}

}  // namespace

DoubleArray read_array(py::handle value, const char* name, std::vector<py::ssize_t> shape) {
  DoubleArray array = read_shape(value, name, shape);
  require_finite(array.data(), shape_of(array), array.size(), name);
  return array;
}

std::optional<py::ssize_t> read_index(py::handle value) {
  if (!PyIndex_Check(value.ptr())) return std::nullopt;  // arrays pass
  const py::ssize_t index = PyNumber_AsSsize_t(value.ptr(), nullptr);
  if (index != -1 || PyErr_Occurred() == nullptr) return index;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

int read_row_mask(const std::vector<int>& rows) {
  int mask = 0;
  for (const int row : rows) mask |= row >= 0 && row < 6 ? 1 << row : 64;
  return require_row_mask(mask);
}

int require_row_mask(int mask) {
  if (mask <= 0 || mask >= 64) throw py::value_error("rows of a task must be some of 0 to 5");
  return mask;
}

DoubleArray read_measurement(py::handle value, const char* name, int n) { return read_shape(value, name, {n}); }

Eigen::MatrixXd read_up_to_matrix(py::handle value, const char* name) {
  const auto array = py::reinterpret_borrow<DoubleArray>(to_double(value, name));
  if (array.ndim() > 2)
    throw py::value_error(std::string(name) + " must be a number, a vector or a matrix, got shape " +
                          shape_text(shape_of(array)));
  require_finite(array.data(), shape_of(array), array.size(), name);
  const Eigen::Index rows = array.ndim() > 0 ? array.shape(0) : 1, cols = array.ndim() > 1 ? array.shape(1) : 1;
  return Eigen::Map<const RowMajor>(array.data(), rows,
                                                                                                 cols);
}

}  // namespace thunder::python
