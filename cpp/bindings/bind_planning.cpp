// Trajectories for Python.
#include "control.hpp"
#include "thunder/planning/fourier_series.hpp"

namespace thunder::python {

namespace {

template <class Concrete, class Reference>
using SourceClass = py::class_<Concrete, ReferenceSource<Reference>, std::shared_ptr<Concrete>>;

using A = const ArrayLike&;

Eigen::MatrixXd read_matrix(py::handle value, const char* name, py::ssize_t rows, py::ssize_t cols) {
  const auto array = read_array(value, name, {rows, cols});
  return Eigen::Map<const Rows>(array.data(), array.shape(0), array.shape(1));
}

void bind_joint_trajectories(py::module_& module) {
  SourceClass<FourierSeries, JointReference>(module, "FourierSeries", "A finite Fourier series in every joint.")
      .def(py::init([](A a, A b, A q0, double fundamental) {
             const Eigen::MatrixXd a_ = read_matrix(a, "a", -1, -1);
             return std::make_shared<FourierSeries>(a_, read_matrix(b, "b", a_.rows(), a_.cols()),
                                                    read_column(q0, "q0", a_.rows()), fundamental);
           }),
           py::arg("a"), py::arg("b"), py::arg("q0"), py::arg("fundamental"));
}

}  // namespace

void bind_planning(py::module_& module) { bind_joint_trajectories(module); }

}  // namespace thunder::python
