// Functions called by module.cpp, one per topic.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "thunder/model/model.hpp"

namespace thunder::python {

using ModelClass = pybind11::class_<Model, std::shared_ptr<Model>>;

ModelClass bind_model(pybind11::module_& module);
void bind_quantities(ModelClass& model);
void bind_control(pybind11::module_& module);
void bind_estimation(pybind11::module_& module);
void bind_kinematics(pybind11::module_& module);
void bind_realtime(pybind11::module_& module);
void bind_simulation(pybind11::module_& module);
void bind_safety(pybind11::module_& module);
void bind_simulated_robot(pybind11::module_& module);
void bind_realtime_loop(pybind11::module_& module);
void bind_expression(pybind11::module_& module);
void bind_function(pybind11::module_& module);
void bind_symbolic(pybind11::module_& module);
void bind_codegen(pybind11::module_& module);

/// Frame by index or name, the end effector for None; throws ValueError with the nearest names.
int find_frame_index(const Model& model, pybind11::handle frame);
inline const Frame<double>& find_frame(const Model& model, pybind11::handle frame) {
  return model.frame(find_frame_index(model, frame));
}

/// Throws ValueError unless every motor of an elastic joint has an inertia to accelerate.
void require_motor_inertia(const Model& model);

}  // namespace thunder::python
