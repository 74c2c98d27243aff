// References, adaptive controllers and their step, for Python.
#include "array.hpp"
#include "bindings.hpp"
#include "thunder/control/backstepping.hpp"
#include "thunder/control/gain.hpp"
#include "thunder/control/references.hpp"
#include "thunder/control/slotine_li.hpp"

#include <pybind11/native_enum.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

namespace thunder::python {

using Rows3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using Array = py::array_t<double>;
using Arrays = py::typing::Tuple<Array, py::ellipsis>;
using NamedArrays = py::typing::Dict<py::str, Array>;

namespace {

Array to_numpy(const Eigen::VectorXd& v) { return Array(v.size(), v.data()); }

Array to_numpy(const Rows& A) { return Array({A.rows(), A.cols()}, A.data()); }

Eigen::VectorXd read_column(py::handle value, const char* name, py::ssize_t size) {
  const auto array = read_array(value, name, {size});
  return Eigen::Map<const Eigen::VectorXd>(array.data(), array.size());
}

Eigen::Matrix3d read_rotation(py::handle value, const char* name) {
  const auto array = read_array(value, name, {3, 3});
  return Eigen::Map<const Rows3>(array.data());
}

template <int Size>
void copy_vector(py::handle object, const char* name, Eigen::Matrix<double, Size, 1>& to) {
  const auto array = read_measurement(object.attr(name), name, static_cast<int>(to.size()));
  to = Eigen::Map<const Eigen::Matrix<double, Size, 1>>(array.data(), to.size());
}

void require_attributes(py::handle value, const char* kind, std::initializer_list<const char*> names) {
  std::string missing;
  for (const char* name : names)
    if (!py::hasattr(value, name)) missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (!missing.empty())
    throw py::value_error(std::string("this controller follows ") + kind + " references; " +
                          std::string(py::str(py::type::of(value).attr("__name__"))) + " has no " + missing);
}

void read_reference(py::handle value, JointReference& reference) {
  require_attributes(value, "joint-space", {"q", "dq", "ddq"});
  copy_vector(value, "q", reference.q);
  copy_vector(value, "dq", reference.dq);
  copy_vector(value, "ddq", reference.ddq);
}

void read_reference(py::handle value, TaskReference& reference) {
  require_attributes(value, "task-space", {"p", "R", "xi", "xi_dot"});
  copy_vector(value, "p", reference.p);
  copy_vector(value, "xi", reference.xi);
  copy_vector(value, "xi_dot", reference.xi_dot);
  const py::object R = value.attr("R");
  const Eigen::MatrixXd matrix = read_up_to_matrix(R, "R");
  if (matrix.rows() != 3 || matrix.cols() != 3) read_array(R, "R", {3, 3});  // throws, with the shapes
  reference.R = matrix;
}

JointReference blank(const JointController& controller) { return JointReference(controller.n()); }
TaskReference blank(const TaskController&) { return {}; }

Arrays as_tuple(const JointReference& r) {
  return py::make_tuple(to_numpy(r.q), to_numpy(r.dq), to_numpy(r.ddq));
}

Arrays as_tuple(const TaskReference& r) {
  return py::make_tuple(to_numpy(Eigen::VectorXd(r.p)), to_numpy(Rows(r.R)), to_numpy(Eigen::VectorXd(r.xi)),
                        to_numpy(Eigen::VectorXd(r.xi_dot)));
}

template <class Reference>
void bind_source(py::module_& module, const char* name, const char* doc) {
  using Source = ReferenceSource<Reference>;
  py::class_<Source, std::shared_ptr<Source>>(module, name, doc)
      .def(
          "at",
          [](const Source& source, double t) {
            Reference reference = source.blank();
            source.at(t, reference);
            return as_tuple(reference);
          },
          py::arg("t"), "The reference at time t, as a tuple of arrays.");
}

template <class Concrete, class Reference>
using SourceClass = py::class_<Concrete, ReferenceSource<Reference>, std::shared_ptr<Concrete>>;

void bind_references(py::module_& module) {
  bind_source<JointReference>(module, "JointReferenceSource", "A joint-space reference over time.");
  bind_source<TaskReference>(module, "TaskReferenceSource", "A task-space reference over time.");
  using A = const ArrayLike&;
  SourceClass<SetPoint, JointReference>(module, "SetPoint", "Joints at rest.")
      .def(py::init([](A q) { return std::make_shared<SetPoint>(read_column(q, "q", -1)); }), py::arg("q"));
  SourceClass<Sinusoid, JointReference>(module, "Sinusoid", "A sinusoid in every joint.")
      .def(py::init([](A amplitude, A frequency, A centre, A phase) {
             const Eigen::VectorXd a = read_column(amplitude, "amplitude", -1);
             return std::make_shared<Sinusoid>(read_column(centre, "centre", a.size()), a,
                                               read_column(frequency, "frequency", a.size()),
                                               read_column(phase, "phase", a.size()));
           }),
           py::arg("amplitude"), py::arg("frequency"), py::arg("centre"), py::arg("phase"));
  SourceClass<SetPose, TaskReference>(module, "SetPose", "A pose at rest.")
      .def(py::init([](A p, A R) { return std::make_shared<SetPose>(read_column(p, "p", 3), read_rotation(R, "R")); }),
           py::arg("p"), py::arg("R"));
  SourceClass<Lissajous, TaskReference>(module, "Lissajous", "A Lissajous curve at constant orientation.")
      .def(py::init([](A amplitude, A frequency, A centre, A R, double t0) {
             return std::make_shared<Lissajous>(read_column(centre, "centre", 3), read_rotation(R, "orientation"),
                                                read_column(amplitude, "amplitude", 3),
                                                read_column(frequency, "frequency", 3), t0);
           }),
           py::arg("amplitude"), py::arg("frequency"), py::arg("centre"), py::arg("orientation"), py::arg("t0"));
}

NamedArrays signal_arrays(const Controller& controller) {
  NamedArrays result;
  for (const Signal& signal : controller.signals())
    result[py::str(signal.name)] = Array(signal.size(), signal.data);
  return result;
}

AdaptiveModel make_adaptive_model(std::shared_ptr<Model> model, const std::vector<bool>& unknown, py::handle Gamma) {
  ParameterSubset subset(unknown);
  std::unique_ptr<AdaptationLaw> law;
  if (!Gamma.is_none())
    law = std::make_unique<GradientLaw>(gain_matrix(read_up_to_matrix(Gamma, "Gamma"), subset.size(), "Gamma"));
  return {std::move(model), std::move(subset), std::move(law)};
}

Eigen::MatrixXd read_gain(py::handle value, const char* name, int size) {
  return gain_matrix(read_up_to_matrix(value, name), size, name);
}

template <class Reference>
Array step(TrackingController<Reference>& controller, double t, const ArrayLike& q, const ArrayLike& dq,
               py::handle reference) {
  const auto q_ = read_measurement(q, "q", controller.n()), dq_ = read_measurement(dq, "dq", controller.n());
  Reference desired = blank(controller);
  read_reference(reference, desired);
  Array tau(controller.n());
  controller.step(t, q_.data(), dq_.data(), desired, tau.mutable_data());
  return tau;
}

template <class Reference>
void bind_step(py::module_& module, const char* name, const char* doc) {
  using C = TrackingController<Reference>;
  py::class_<C, Controller, std::shared_ptr<C>>(module, name, doc)
      .def("step", &step<Reference>, py::arg("t"), py::arg("q"), py::arg("dq"), py::arg("reference"),
           "Torque at time t, an (n,) array; `status` tells how it went.\n\n"
           "A NaN that comes in is no error here: the status reads ``invalid_input`` and the torque is a safe one,\n"
           "gravity compensation minus ``K_d dq``.");
}

template <class Class>
void bind_estimate(Class& cls) {
  using C = typename Class::type;
  cls.def_property(
      "parameters", [](C& c) { return to_numpy(c.adaptive_model().estimate()); },
      [](C& c, const ArrayLike& value) {
        c.adaptive_model().start_from(read_column(value, "parameters", c.model()->parameter_count()).data());
      },
      "All p parameters as the controller believes them now, in the order of the robot's ``parameter_names``.\n"
      "Setting them also sets where `reset` goes back to.");
}

void bind_slotine_li(py::module_& module) {
  py::class_<SlotineLi, JointController, std::shared_ptr<SlotineLi>> cls(module, "SlotineLi",
                                                                         "Slotine-Li adaptive control.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& Lambda, const ArrayLike& K_d,
                      const py::object& Gamma, const std::vector<bool>& unknown) {
            const int n = model->n();
            return std::make_shared<SlotineLi>(make_adaptive_model(model, unknown, Gamma),
                                               read_gain(Lambda, "Lambda", n), read_gain(K_d, "K_d", n));
          }),
          py::arg("model"), py::arg("Lambda"), py::arg("K_d"), py::arg("Gamma"), py::arg("unknown"));
  bind_estimate(cls);
}

NamedArrays evaluate(Backstepping& controller, const ArrayLike& q, const ArrayLike& dq, py::handle reference) {
  const auto q_ = read_array(q, "q", {controller.n()}), dq_ = read_array(dq, "dq", {controller.n()});
  TaskReference desired;
  read_reference(reference, desired);
  Backstepping::Terms terms = controller.blank_terms();
  if (controller.evaluate(q_.data(), dq_.data(), desired, terms) != Status::ok)
    throw py::value_error("the law is singular here: orientation error near 90 degrees, or J without full rank");
  NamedArrays result;
  const int m = controller.rows();
  for (auto [name, v] : {std::pair{"e", &terms.e}, {"e_dot", &terms.e_dot}})
    result[name] = to_numpy(Eigen::VectorXd(v->head(m)));
  for (auto [name, A] : {std::pair{"L", &terms.L}, {"L_dot", &terms.L_dot}})
    result[name] = to_numpy(Rows(A->topLeftCorner(m, m)));
  for (auto [name, v] : {std::pair{"dq_r", &terms.dq_r}, {"ddq_r", &terms.ddq_r}, {"s", &terms.s}, {"tau", &terms.tau}})
    result[name] = to_numpy(*v);
  return result;
}

void bind_backstepping(py::module_& module) {
  py::class_<Backstepping, TaskController, std::shared_ptr<Backstepping>> cls(
      module, "Backstepping", "Adaptive backstepping in task space.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& Lambda, const ArrayLike& K_p,
                      const ArrayLike& K_d, const py::object& Gamma, const std::vector<bool>& unknown,
                      const py::object& frame, bool position_only) {
            const auto task = position_only ? Backstepping::Task::position : Backstepping::Task::pose;
            const int m = static_cast<int>(task), n = model->n();
            if (n < m)
              throw py::value_error("task needs at least " + std::to_string(m) + " joints, got " + std::to_string(n));
            Backstepping::Gains gains{read_gain(Lambda, "Lambda", m), read_gain(K_p, "K_p", m),
                                      read_gain(K_d, "K_d", n)};
            require_joint_definiteness(gains.K_p, gains.Lambda);
            return std::make_shared<Backstepping>(make_adaptive_model(model, unknown, Gamma),
                                                  find_frame(*model, frame), task, std::move(gains));
          }),
          py::arg("model"), py::arg("Lambda"), py::arg("K_p"), py::arg("K_d"), py::arg("Gamma"), py::arg("unknown"),
          py::arg("frame"), py::arg("position_only"))
      .def("_evaluate", &evaluate, py::arg("q"), py::arg("dq"), py::arg("reference"),
           "Terms of the law at one state under the current estimate, as a dict of arrays: e, e_dot, L, L_dot, dq_r,\n"
           "ddq_r, s, tau. Neither the estimate nor the signals change.\n\nRaises ValueError where the law is "
           "singular.");
  bind_estimate(cls);
}

}  // namespace

void bind_control(py::module_& module) {
  py::native_enum<Status>(module, "Status", "enum.IntEnum", "What a control step reports.")
      .value("ok", Status::ok)
      .value("saturated", Status::saturated)
      .value("singular", Status::singular)
      .value("diverged", Status::diverged)
      .value("invalid_input", Status::invalid_input)
      .finalize();
  bind_references(module);
  py::class_<Controller, std::shared_ptr<Controller>>(module, "Controller", "A control law with its state.")
      .def_property_readonly("n", &Controller::n, "Number of joints.")
      .def_property_readonly("status", &Controller::status, "Status of the last step.")
      .def_property_readonly("signals", &signal_arrays, "Copies of what the last step computed, by name.")
      .def("reset", &Controller::reset, "Go back to the state after construction.");
  bind_step<JointReference>(module, "JointController", "A controller that follows joint-space references.");
  bind_step<TaskReference>(module, "TaskController", "A controller that follows task-space references.");
  bind_slotine_li(module);
  bind_backstepping(module);
}

}  // namespace thunder::python
