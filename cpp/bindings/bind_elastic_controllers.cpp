// Controllers of elastic joints for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "thunder/control/composite_control.hpp"
#include "thunder/control/elastic_damping.hpp"
#include "thunder/control/elastic_feedback_linearization.hpp"
#include "thunder/control/elastic_slotine_li.hpp"
#include "thunder/control/motor_pd.hpp"

namespace thunder::python {

namespace {

/// Before gains of the size of the motors are read.
void require_elastic_joints(const Model& model) {
  if (model.elastic_count() == 0)
    throw py::value_error("robot must have elastic joints for a law that sees their motors");
}

void bind_motor_pd(py::module_& module) {
  using C = MotorPD;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "MotorPD", "PD control of motors with gravity compensation.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_d, bool online) {
             require_elastic_joints(*model);
             const int n = model->n();
             return std::make_shared<C>(std::move(model), read_gain(K_p, "K_p", n), read_gain(K_d, "K_d", n),
                                        online ? C::Gravity::online : C::Gravity::desired);
           }),
           py::arg("model").none(false), py::arg("K_p"), py::arg("K_d"), py::arg("online"));
}

void bind_feedback_linearization(py::module_& module) {
  using C = ElasticFeedbackLinearization;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "ElasticFeedbackLinearization",
                                                         "Feedback linearization of elastic joints.")
      .def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_0, const ArrayLike& K_1, const ArrayLike& K_2,
                       const ArrayLike& K_3, const ArrayLike& K_d) {
             require_elastic_joints(*model);
             const int n = model->n();
             require_motor_inertia(*model);
             C::Gains gains{read_gain(K_0, "K_0", n), read_gain(K_1, "K_1", n), read_gain(K_2, "K_2", n),
                            read_gain(K_3, "K_3", n)};
             return std::make_shared<C>(std::move(model), std::move(gains), read_gain(K_d, "K_d", n));
           }),
           py::arg("model").none(false), py::arg("K_0"), py::arg("K_1"), py::arg("K_2"), py::arg("K_3"), py::arg("K_d"));
}

void bind_elastic_slotine_li(py::module_& module) {
  using C = ElasticSlotineLi;
  ExclusiveClass<C, JointController, std::shared_ptr<C>> cls(module, "ElasticSlotineLi",
                                                             "Adaptive passivity-based control of elastic joints.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& Lambda, const ArrayLike& K_d, const ArrayLike& K_x,
                      double bandwidth, double stiffness_rate, const LawArgument& law, const std::vector<bool>& unknown) {
            require_elastic_joints(*model);
            const int n = model->n();
            C::Gains gains{read_column(Lambda, "Lambda", n), read_gain(K_d, "K_d", n),
                           read_gain(K_x, "K_x", model->elastic_count()), bandwidth, stiffness_rate};
            return std::make_shared<C>(make_adaptive_model(std::move(model), unknown, law), std::move(gains));
          }),
          py::arg("model").none(false), py::arg("Lambda"), py::arg("K_d"), py::arg("K_x"), py::arg("bandwidth"),
          py::arg("stiffness_rate"), py::arg("law"), py::arg("unknown"));
  bind_estimate(cls);
}

void bind_composite_control(py::module_& module) {
  using C = CompositeControl;
  ExclusiveClass<C, JointController, std::shared_ptr<C>>(module, "CompositeControl",
                                                         "A law of rigid joints with damping of the springs.")
      .def(py::init([](std::shared_ptr<Model> model, const py::object& slow, const ArrayLike& K_v, const ArrayLike& K_d) {
             require_elastic_joints(*model);
             const int n = model->n(), e = model->elastic_count();
             if (!py::isinstance<JointController>(slow))
               throw py::value_error("slow must be a joint-space controller of this package, got " +
                                     py::cast<std::string>(py::type::of(slow).attr("__name__")));
             const py::object own = py::module_::import("copy").attr("copy")(slow);  // nobody else steps it
             return std::make_shared<C>(std::move(model), py::cast<std::shared_ptr<JointController>>(own), read_gain(K_v, "K_v", e), read_gain(K_d, "K_d", n));
           }),
           py::arg("model").none(false), py::arg("slow"), py::arg("K_v"), py::arg("K_d"));
}

}  // namespace

void bind_elastic_controllers(py::module_& module) {
  bind_motor_pd(module);
  bind_feedback_linearization(module);
  bind_elastic_slotine_li(module);
  bind_composite_control(module);
  module.def(
      "elastic_damping",
      [](std::shared_ptr<Model> model, const ArrayLike& q) {
        const auto q_ = read_array(q, "q", {model->n()});
        Array limits(model->n());
        ElasticDamping(std::move(model)).at(q_.data(), limits.mutable_data());
        return limits;
      },
      py::arg("model").none(false), py::arg("q"), "See `thunder_py.control.stability.elastic_damping`.");
}

}  // namespace thunder::python
