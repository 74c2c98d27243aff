// What the bindings of laws in task space share.
#pragma once

#include "law.hpp"
#include "thunder/control/backstepping.hpp"

namespace thunder::python {

inline OrientationKind orientation_kind(const LawArguments& a) {
  return read_enum<OrientationKind>(a.get<int>("orientation"), 6, "orientation");
}

/// Of the arguments position_only, Lambda, K_p, K_d and null_space.
inline std::pair<Backstepping::Task, Backstepping::Gains> backstepping_arguments(const LawArguments& a) {
  const auto task = a.flag("position_only") ? Backstepping::Task::position : Backstepping::Task::pose;
  const int m = static_cast<int>(task), n = a.model->n();
  if (n < m) throw py::value_error("task needs at least " + std::to_string(m) + " joints, got " + std::to_string(n));
  Backstepping::Gains gains{a.gain("Lambda", m), a.gain("K_p", m), velocity_null_space(a.null_space(), a.gain("K_d"))};
  require_joint_definiteness(gains.K_p, gains.Lambda);
  return {task, std::move(gains)};
}

/// e, e_dot, L and L_dot of the first `m` rows.
inline void put_task_error(const TaskError& task, int m, NamedArrays& result) {
  for (auto [name, v] : {std::pair{"e", &task.e}, {"e_dot", &task.e_dot}}) result[name] = to_numpy(Eigen::VectorXd(v->head(m)));
  Matrix6d L = Matrix6d::Identity(), L_dot = Matrix6d::Zero();
  L.bottomRightCorner<3, 3>() = task.orientation.L;
  L_dot.bottomRightCorner<3, 3>() = task.orientation.L_dot;
  result["L"] = to_numpy(RowMajor(L.topLeftCorner(m, m)));
  result["L_dot"] = to_numpy(RowMajor(L_dot.topLeftCorner(m, m)));
}

}  // namespace thunder::python
