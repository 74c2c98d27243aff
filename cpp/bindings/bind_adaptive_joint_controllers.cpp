// Adaptive controllers in joint space for Python.
#include "control.hpp"
#include "exclusive.hpp"
#include "prediction.hpp"
#include "thunder/control/act.hpp"
#include "thunder/control/mact.hpp"
#include "thunder/control/slotine_li.hpp"

namespace thunder::python {

namespace {

void bind_slotine_li(py::module_& module) {
  ExclusiveClass<SlotineLi, JointController, std::shared_ptr<SlotineLi>> cls(module, "SlotineLi",
                                                                         "Slotine-Li adaptive control.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& Lambda, const ArrayLike& K_d,
                      const LawArgument& law, const std::vector<bool>& unknown) {
            const int n = model->n();
            return std::make_shared<SlotineLi>(make_adaptive_model(model, unknown, law),
                                               read_gain(Lambda, "Lambda", n), read_gain(K_d, "K_d", n));
          }),
          py::arg("model").none(false), py::arg("Lambda"), py::arg("K_d"), py::arg("law"), py::arg("unknown"));
  bind_estimate(cls);
}

void bind_mact(py::module_& module) {
  ExclusiveClass<MACT, JointController, std::shared_ptr<MACT>> cls(module, "MACT",
                                                               "Modified adaptive computed torque.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& K_p, const ArrayLike& K_d, const LawArgument& law,
                      const std::vector<bool>& unknown, const PredictionArguments& prediction) {
            const int n = model->n();
            return std::make_shared<MACT>(make_adaptive_model(model, unknown, law),
                                          make_prediction_error(model, prediction), read_gain(K_p, "K_p", n),
                                          read_gain(K_d, "K_d", n));
          }),
          py::arg("model").none(false), py::arg("K_p"), py::arg("K_d"), py::arg("law"), py::arg("unknown"),
          py::arg("prediction"));
  bind_estimate(cls);
}

void bind_act(py::module_& module) {
  ExclusiveClass<ACT, JointController, std::shared_ptr<ACT>> cls(module, "ACT", "Adaptive computed torque.");
  cls.def(py::init([](std::shared_ptr<Model> model, const ArrayLike& position, const ArrayLike& velocity, const ArrayLike& Q,
                      const ArrayLike& damping, const LawArgument& law, const std::vector<bool>& unknown, bool craig,
                      const std::string& route, double cutoff) {
            const int n = model->n();
            ACT::Gains gains{read_gain(position, craig ? "K_0" : "K_p", n), read_gain(velocity, craig ? "K_1" : "K_d", n),
                             read_gain(Q, "Q", 2 * n), read_gain(damping, "damping", n)};
            gains.P = solve_lyapunov(gains.K_p, gains.K_v, gains.P);
            return std::make_shared<ACT>(make_adaptive_model(model, unknown, law),
                                         law ? make_prediction(model, route, cutoff) : nullptr,
                                         craig ? ACT::Form::craig : ACT::Form::impedance, std::move(gains));
          }),
          py::arg("model").none(false), py::arg("position"), py::arg("velocity"), py::arg("Q"), py::arg("damping"),
          py::arg("law"), py::arg("unknown"), py::arg("craig"), py::arg("route"), py::arg("cutoff"));
  bind_estimate(cls);
}

}  // namespace

void bind_adaptive_joint_controllers(py::module_& module) {
  bind_slotine_li(module);
  bind_act(module);
  bind_mact(module);
}

}  // namespace thunder::python
