// Task-space backstepping for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "null_space.hpp"
#include "thunder/control/backstepping.hpp"

namespace thunder::python {

namespace {

NamedArrays evaluate_backstepping(Backstepping& controller, const ArrayLike& q, const ArrayLike& dq, py::handle reference) {
  const auto q_ = read_array(q, "q", {controller.n()}), dq_ = read_array(dq, "dq", {controller.n()});
  TaskReference desired;
  read_reference(reference, desired);
  Backstepping::Terms terms = controller.blank_terms();
  if (controller.evaluate(q_.data(), dq_.data(), desired, terms) != Status::ok)
    throw py::value_error("the law is singular at this state: orientation error near 90 degrees, or J rank deficient");
  NamedArrays result;
  const int m = controller.rows();
  for (auto [name, v] : {std::pair{"e", &terms.task.e}, {"e_dot", &terms.task.e_dot}})
    result[name] = to_numpy(Eigen::VectorXd(v->head(m)));
  Matrix6d L = Matrix6d::Identity(), L_dot = Matrix6d::Zero();
  L.bottomRightCorner<3, 3>() = terms.task.orientation.L;
  L_dot.bottomRightCorner<3, 3>() = terms.task.orientation.L_dot;
  result["L"] = to_numpy(RowMajor(L.topLeftCorner(m, m)));
  result["L_dot"] = to_numpy(RowMajor(L_dot.topLeftCorner(m, m)));
  for (auto [name, v] : {std::pair{"dq_r", &terms.dq_r}, {"ddq_r", &terms.ddq_r}, {"s", &terms.s}, {"tau", &terms.tau}})
    result[name] = to_numpy(*v);
  return result;
}

}  // namespace

void bind_backstepping(py::module_& module) {
  ExclusiveClass<Backstepping, TaskController, std::shared_ptr<Backstepping>> cls(
      module, "Backstepping", "Adaptive backstepping in task space.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& Lambda, const ArrayLike& K_p,
                      const ArrayLike& K_d, const LawArgument& law, const std::vector<bool>& unknown,
                      const py::object& frame, bool position_only, const NullSpaceArguments& null_space) {
            const auto task = position_only ? Backstepping::Task::position : Backstepping::Task::pose;
            const int m = static_cast<int>(task), n = model->n();
            if (n < m)
              throw py::value_error("task needs at least " + std::to_string(m) + " joints, got " + std::to_string(n));
            Backstepping::Gains gains{read_gain(Lambda, "Lambda", m), read_gain(K_p, "K_p", m),
                                      velocity_null_space(null_space, read_gain(K_d, "K_d", n))};
            require_joint_definiteness(gains.K_p, gains.Lambda);
            return std::make_shared<Backstepping>(make_adaptive_model(model, unknown, law),
                                                  find_frame(*model, frame), task, std::move(gains));
          }),
          py::arg("model").none(false), py::arg("Lambda"), py::arg("K_p"), py::arg("K_d"), py::arg("law"), py::arg("unknown"),
          py::arg("frame"), py::arg("position_only"), py::arg("null_space"))
      .def("_evaluate", &evaluate_backstepping, py::arg("q"), py::arg("dq"), py::arg("reference"),
           "Evaluate the terms of the law at one state under the current estimate, as a dict of arrays: e, e_dot, L, L_dot, dq_r,\n"
           "ddq_r, s, tau. Neither the estimate nor the signals change.\n\nRaises ValueError where the law is "
           "singular.");
  bind_estimate(cls);
}

}  // namespace thunder::python
