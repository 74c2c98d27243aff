// References for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "thunder/kinematics/references.hpp"

namespace thunder::python {

namespace {

Arrays blank_rows(const JointReference& r, py::ssize_t k) {
  const py::ssize_t n = r.q.size();
  return py::make_tuple(Array({k, n}), Array({k, n}), Array({k, n}));
}

Arrays blank_rows(const TaskReference&, py::ssize_t k) {
  return py::make_tuple(Array({k, py::ssize_t{3}}), Array({k, py::ssize_t{3}, py::ssize_t{3}}),
                        Array({k, py::ssize_t{6}}), Array({k, py::ssize_t{6}}));
}

template <class Values>
void write_row(const Arrays& arrays, int part, py::ssize_t row, const Values& values) {
  auto array = py::reinterpret_borrow<Array>(arrays[static_cast<std::size_t>(part)]);
  std::copy_n(values.data(), values.size(), array.mutable_data() + row * values.size());
}

void write_rows(const Arrays& arrays, py::ssize_t row, const JointReference& r) {
  write_row(arrays, 0, row, r.q);
  write_row(arrays, 1, row, r.dq);
  write_row(arrays, 2, row, r.ddq);
}

void write_rows(const Arrays& arrays, py::ssize_t row, const TaskReference& r) {
  write_row(arrays, 0, row, r.p);
  write_row(arrays, 1, row, Rows3(r.R));
  write_row(arrays, 2, row, r.xi);
  write_row(arrays, 3, row, r.xi_dot);
}

template <class Reference>
Arrays sample(ReferenceSource<Reference>& source, const ArrayLike& times) {
  const auto use = use_if_exclusive(source);
  const auto t = read_array(times, "t", {-1});
  Reference reference = source.blank();
  const Arrays arrays = blank_rows(reference, t.size());
  for (py::ssize_t k = 0; k < t.size(); ++k) {
    source.advance(t.data()[k]);
    source.at(t.data()[k], reference);
    write_rows(arrays, k, reference);
  }
  return arrays;
}

/// Derivatives up to the fourth.
Arrays sample_smooth(JointReferenceSource& source, const ArrayLike& times) {
  const auto use = use_if_exclusive(source);
  const auto t = read_array(times, "t", {-1});
  JointReference r = source.blank();
  const py::ssize_t k = t.size(), n = r.q.size();
  const Arrays arrays = py::make_tuple(Array({k, n}), Array({k, n}), Array({k, n}), Array({k, n}), Array({k, n}));
  for (py::ssize_t row = 0; row < k; ++row) {
    source.advance(t.data()[row]);
    source.at(t.data()[row], r);
    write_rows(arrays, row, r);
    write_row(arrays, 3, row, r.d3q);
    write_row(arrays, 4, row, r.d4q);
  }
  return arrays;
}

template <class Reference>
py::class_<ReferenceSource<Reference>, std::shared_ptr<ReferenceSource<Reference>>> bind_source(
    py::module_& module, const char* name, const char* doc) {
  using Source = ReferenceSource<Reference>;
  return py::class_<Source, std::shared_ptr<Source>>(module, name, doc)
      .def(
          "at",
          [](Source& source, double t) {
            if (!std::isfinite(t)) throw py::value_error("t must be finite, got " + std::string(py::str(py::float_(t))));
            const auto use = use_if_exclusive(source);
            Reference reference = source.blank();
            source.advance(t);
            source.at(t, reference);
            return as_tuple(reference);
          },
          py::arg("t"), "Reference at time t [s], as a tuple of arrays.")
      .def("sample", &sample<Reference>, py::arg("times"), "Reference at times (k,) [s], as a tuple of arrays.");
}

template <class Concrete, class Reference>
using SourceClass = py::class_<Concrete, ReferenceSource<Reference>, std::shared_ptr<Concrete>>;

}  // namespace

void bind_references(py::module_& module) {
  bind_source<JointReference>(module, "JointReferenceSource", "A joint-space reference over time.")
      .def("sample_smooth", &sample_smooth, py::arg("times"),
           "Reference at times (k,) [s] with four derivatives, as a tuple of arrays.");
  bind_source<TaskReference>(module, "TaskReferenceSource", "A task-space reference over time.");
  using A = const ArrayLike&;
  SourceClass<SetPoint, JointReference>(module, "SetPoint", "Constant joint positions.")
      .def(py::init([](A q) { return std::make_shared<SetPoint>(read_column(q, "q", -1)); }), py::arg("q"));
  SourceClass<Sinusoid, JointReference>(module, "Sinusoid", "A sinusoid in every joint.")
      .def(py::init([](A amplitude, A frequency, A center, A phase) {
             const Eigen::VectorXd a = read_column(amplitude, "amplitude", -1);
             return std::make_shared<Sinusoid>(read_column(center, "center", a.size()), a,
                                               read_column(frequency, "frequency", a.size()),
                                               read_column(phase, "phase", a.size()));
           }),
           py::arg("amplitude"), py::arg("frequency"), py::arg("center"), py::arg("phase"));
  SourceClass<SetPose, TaskReference>(module, "SetPose", "Constant pose.")
      .def(py::init([](A p, A R) { return std::make_shared<SetPose>(read_column(p, "p", 3), read_rotation(R, "R")); }),
           py::arg("p"), py::arg("R"));
  SourceClass<Lissajous, TaskReference>(module, "Lissajous", "A Lissajous curve at constant orientation.")
      .def(py::init([](A amplitude, A frequency, A center, A R, double t0) {
             return std::make_shared<Lissajous>(read_column(center, "center", 3), read_rotation(R, "orientation"),
                                                read_column(amplitude, "amplitude", 3),
                                                read_column(frequency, "frequency", 3), t0);
           }),
           py::arg("amplitude"), py::arg("frequency"), py::arg("center"), py::arg("orientation"), py::arg("t0"));
}

}  // namespace thunder::python
