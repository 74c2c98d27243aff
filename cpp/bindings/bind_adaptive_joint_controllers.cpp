// Adaptive controllers in joint space for Python.
#include "control.hpp"
#include "thunder/control/slotine_li.hpp"

namespace thunder::python {

namespace {

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

}  // namespace

void bind_adaptive_joint_controllers(py::module_& module) {
  bind_slotine_li(module);
}

}  // namespace thunder::python
