// All checks of shape, type and contents of arguments from Python.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <Eigen/Dense>
#include <optional>
#include <string>
#include <vector>

namespace thunder::python {

namespace py = pybind11;

/// Any object that NumPy converts to an array; typed as such in the stubs.
class ArrayLike : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(ArrayLike, object, [](PyObject*) { return 1; })
};

/// An argument of a function of one state, one for each sample of a batch: `data + b * stride` is sample b.
struct SampleInput {
  const double* data = nullptr;
  std::ptrdiff_t stride = 0;
  int size = 0;                     // entries of one sample
  std::vector<py::ssize_t> batch;   // shape before the axes of a sample
  std::vector<py::ssize_t> sample;  // shape of a sample
  py::object owner;                 // keeps a converted copy alive
};

/// Reads an array of shape (..., *sample), finite float64 after conversion; anything else is a ValueError that names it.
SampleInput read_samples(py::handle value, const char* name, std::vector<py::ssize_t> sample);
/// The same for shape (..., n).
SampleInput read_vector(py::handle value, const char* name, int n);

/// Broadcasts the batch shapes as NumPy does and returns the common one; partial broadcasts are copied out.
std::vector<py::ssize_t> broadcast(SampleInput* inputs, const char* const* names, int count);

/// The output array: `out` if given (float64, C-contiguous, writeable, exactly this shape), else a new one.
py::array output_array(py::handle out, const std::vector<py::ssize_t>& shape);

/// True if the two memory ranges overlap.
bool overlaps(const double* a, std::size_t a_count, const double* b, std::size_t b_count);

/// Reads an array of exactly this shape (-1: any length), finite.
py::array_t<double, py::array::c_style> read_array(py::handle value, const char* name, std::vector<py::ssize_t> shape);

/// Reads a vector of exactly n numbers that may be NaN or infinite, for steps that report those as a status.
py::array_t<double, py::array::c_style> read_measurement(py::handle value, const char* name, int n);

/// Reads a whole number, clipped to the range of the result; empty where the object is not an integer.
std::optional<py::ssize_t> read_index(py::handle value);

/// The value of an enumeration whose values are 0 to count - 1.
template <class Enum>
Enum read_enum(int value, int count, const char* name) {
  if (value >= 0 && value < count) return static_cast<Enum>(value);
  throw py::value_error(std::string(name) + " must be 0 to " + std::to_string(count - 1) + ", got " + std::to_string(value));
}

/// A bit for each of the task's rows, some of 0 to 5.
int read_row_mask(const std::vector<int>& rows);
int require_row_mask(int mask);

/// Reads a number (1 x 1), a vector (k x 1) or a matrix.
Eigen::MatrixXd read_up_to_matrix(py::handle value, const char* name);

std::string shape_text(const std::vector<py::ssize_t>& shape);

}  // namespace thunder::python

namespace pybind11::detail {
template <>
struct handle_type_name<thunder::python::ArrayLike> {
  static constexpr auto name = const_name("numpy.typing.ArrayLike");
};
}  // namespace pybind11::detail
