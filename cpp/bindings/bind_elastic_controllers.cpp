// Controllers of elastic joints for Python.
#include "law.hpp"
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

template <class C>
constexpr auto bind_elastic_law = &bind_law<C, JointController>;

}  // namespace

void bind_elastic_controllers(py::module_& module) {
  using T = Takes;
  using A = const LawArguments&;
  bind_elastic_law<MotorPD>(
      module, "MotorPD", "PD control of motors with gravity compensation.", {{"K_p", T::gain}, {"K_d", T::gain},
       {"online", T::flag}},
      [](A a) {
        require_elastic_joints(*a.model);
        return std::make_shared<MotorPD>(a.model, a.gain("K_p"), a.gain("K_d"),
                                         a.flag("online") ? MotorPD::Gravity::online : MotorPD::Gravity::desired);
      });
  bind_elastic_law<ElasticFeedbackLinearization>(
      module, "ElasticFeedbackLinearization", "Feedback linearization of elastic joints.",
      {{"K_0", T::gain}, {"K_1", T::gain}, {"K_2", T::gain}, {"K_3", T::gain}, {"K_d", T::gain}}, [](A a) {
        require_elastic_joints(*a.model);
        require_motor_inertia(*a.model);
        ElasticFeedbackLinearization::Gains gains{a.gain("K_0"), a.gain("K_1"), a.gain("K_2"), a.gain("K_3")};
        return std::make_shared<ElasticFeedbackLinearization>(a.model, std::move(gains), a.gain("K_d"));
      });
  auto adaptive = bind_elastic_law<ElasticSlotineLi>(
      module, "ElasticSlotineLi", "Adaptive passivity-based control of elastic joints.",
      {{"Lambda", T::gain}, {"K_d", T::gain}, {"K_x", T::gain}, {"bandwidth", T::number}, {"stiffness_rate", T::number},
       {"law", T::law}, {"unknown", T::mask}},
      [](A a) {
        require_elastic_joints(*a.model);
        ElasticSlotineLi::Gains gains{read_column(a["Lambda"], "Lambda", a.model->n()), a.gain("K_d"), a.gain("K_x", a.model->elastic_count()),
                                      a.number("bandwidth"), a.number("stiffness_rate")};
        return std::make_shared<ElasticSlotineLi>(a.adaptive_model(), std::move(gains));
      });
  bind_estimate(adaptive);
  bind_elastic_law<CompositeControl>(
      module, "CompositeControl", "A law of rigid joints with damping of the springs.",
      {{"slow", T::any}, {"K_v", T::gain}, {"K_d", T::gain}}, [](A a) {
        require_elastic_joints(*a.model);
        const py::object slow = a["slow"];
        if (!py::isinstance<JointController>(slow))
          throw py::value_error("slow must be a joint-space controller of this package, got " +
                                py::cast<std::string>(py::type::of(slow).attr("__name__")));
        const py::object own = py::module_::import("copy").attr("copy")(slow);  // nobody else steps it
        return std::make_shared<CompositeControl>(a.model, py::cast<std::shared_ptr<JointController>>(own),
                                                  a.gain("K_v", a.model->elastic_count()), a.gain("K_d"));
      });
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
