// Helpers shared by the bindings of references and controllers.
#pragma once

#include "array.hpp"
#include "bindings.hpp"
#include "thunder/control/adaptive_controller.hpp"
#include "thunder/control/gain.hpp"
#include "thunder/math/matrices.hpp"

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <optional>

namespace thunder::python {

using Rows3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

using Array = py::array_t<double>;
using Arrays = py::typing::Tuple<Array, py::ellipsis>;
using NamedArrays = py::typing::Dict<py::str, Array>;

inline Array to_numpy(const Eigen::VectorXd& v) { return Array(v.size(), v.data()); }

inline Array to_numpy(const RowMajor& A) { return Array({A.rows(), A.cols()}, A.data()); }

/// P of H' P + P H = -Q with H = [0 1; -K_p -K_v], stable for positive definite K_p and K_v.
Eigen::MatrixXd solve_lyapunov(const Eigen::MatrixXd& K_p, const Eigen::MatrixXd& K_v, const Eigen::MatrixXd& Q);

inline Eigen::VectorXd read_column(py::handle value, const char* name, py::ssize_t size) {
  const auto array = read_array(value, name, {size});
  return Eigen::Map<const Eigen::VectorXd>(array.data(), array.size());
}

inline Eigen::Matrix3d read_rotation(py::handle value, const char* name) {
  const auto array = read_array(value, name, {3, 3});
  return Eigen::Map<const Rows3>(array.data());
}

template <int Size>
void copy_vector(py::handle object, const char* name, Eigen::Matrix<double, Size, 1>& to) {
  const auto array = read_measurement(object.attr(name), name, static_cast<int>(to.size()));
  to = Eigen::Map<const Eigen::Matrix<double, Size, 1>>(array.data(), to.size());
}

/// Measured state of e motors; nothing is read of none.
class MeasuredMotors {
 public:
  MeasuredMotors(const std::optional<ArrayLike>& x, const std::optional<ArrayLike>& dx, int e) {
    if (e == 0) return;
    x_ = read_measurement(*x, "x", e);
    dx_ = read_measurement(*dx, "dx", e);
  }
  Motors view() const { return x_ ? Motors{x_->data(), dx_->data()} : Motors{}; }

 private:
  std::optional<decltype(read_measurement(py::handle(), "", 1))> x_, dx_;
};

inline void require_attributes(py::handle value, const char* kind, std::initializer_list<const char*> names) {
  std::string missing;
  for (const char* name : names)
    if (!py::hasattr(value, name)) missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (!missing.empty())
    throw py::value_error(std::string("this controller follows ") + kind + " references; " +
                          std::string(py::str(py::type::of(value).attr("__name__"))) + " has no " + missing);
}

/// Reads the derivatives up to `order`, 2 or 4.
inline void read_reference(py::handle value, JointReference& reference, int order = 2) {
  require_attributes(value, "joint-space", {"q", "dq", "ddq"});
  copy_vector(value, "q", reference.q);
  copy_vector(value, "dq", reference.dq);
  copy_vector(value, "ddq", reference.ddq);
  if (order < 4) return;
  require_attributes(value, "SmoothJointReference (``motion.smooth(t)``)", {"d3q", "d4q"});
  copy_vector(value, "d3q", reference.d3q);
  copy_vector(value, "d4q", reference.d4q);
}

inline void read_reference(py::handle value, TaskReference& reference, int = 2) {
  require_attributes(value, "task-space", {"p", "R", "xi", "xi_dot"});
  copy_vector(value, "p", reference.p);
  copy_vector(value, "xi", reference.xi);
  copy_vector(value, "xi_dot", reference.xi_dot);
  const py::object R = value.attr("R");
  const Eigen::MatrixXd matrix = read_up_to_matrix(R, "R");
  if (matrix.rows() != 3 || matrix.cols() != 3) read_array(R, "R", {3, 3});  // throws, with the shapes
  reference.R = matrix;
}

inline JointReference blank(const JointController& controller) { return JointReference(controller.n()); }
inline TaskReference blank(const TaskController&) { return {}; }

inline Arrays as_tuple(const JointReference& r) {
  return py::make_tuple(to_numpy(r.q), to_numpy(r.dq), to_numpy(r.ddq));
}

inline Arrays as_tuple(const TaskReference& r) {
  return py::make_tuple(to_numpy(Eigen::VectorXd(r.p)), to_numpy(RowMajor(r.R)), to_numpy(Eigen::VectorXd(r.xi)),
                        to_numpy(Eigen::VectorXd(r.xi_dot)));
}

/// None for no adaptation.
using LawArgument = std::optional<std::shared_ptr<AdaptationLaw>>;

inline AdaptiveModel make_adaptive_model(std::shared_ptr<Model> model, const std::vector<bool>& unknown,
                                         const LawArgument& law) {
  return {std::move(model), ParameterSubset(unknown), law ? (*law)->clone() : nullptr};
}

inline Eigen::MatrixXd read_gain(py::handle value, const char* name, int size) {
  return gain_matrix(read_up_to_matrix(value, name), size, name);
}

template <class Class>
void bind_estimate(Class& cls) {
  using C = typename Class::type;
  cls.def_property(
      "parameters", [](C& c) { return to_numpy(c.adaptive_model().estimate()); },
      [](C& c, const ArrayLike& value) {
        c.adaptive_model().start_from(read_column(value, "parameters", c.model()->parameter_count()).data());
      },
      "Current estimate (p,) of all parameters, in the order of the robot's ``parameter_names``.\n"
      "Assigning it also sets the estimate that `reset` restores.");
  cls.def_property(
      "adapting",
      [](C& c) {
        const std::vector<bool> moving = c.adaptive_model().adapting();
        py::array_t<bool> result(static_cast<py::ssize_t>(moving.size()));
        std::copy(moving.begin(), moving.end(), result.mutable_data());
        return result;
      },
      [](C& c, const std::vector<bool>& moving) { c.adaptive_model().set_adapting(moving); },
      "Boolean mask (p,) of the parameters that adapt; initially all unknown ones, or none without an adaptation\n"
      "law. The others keep their estimate. `reset` does not change the mask. With the natural law all parameters\n"
      "of a link adapt, or none.");
}

// called by bind_control, one per topic
void bind_references(py::module_& module);
void bind_adaptation(py::module_& module);
void bind_planning(py::module_& module);
void bind_joint_controllers(py::module_& module);
void bind_task_controllers(py::module_& module);
void bind_elastic_controllers(py::module_& module);
void bind_length_adaptation(py::module_& module);

}  // namespace thunder::python
