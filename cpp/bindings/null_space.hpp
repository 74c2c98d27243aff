// Null-space arguments of controllers in task space.
#pragma once

#include <tuple>

#include "control.hpp"
#include "thunder/control/control_task.hpp"

namespace thunder::python {

/// Posture (None for none), mask of the joints that it attracts, gain of the attraction (None for the default).
using NullSpaceArguments = std::tuple<py::object, std::vector<bool>, py::object>;

/// Rate of the attraction by default [1/s]: as a velocity, or multiplied by K_d as a torque.
constexpr double kPostureRate = 1.0;

inline NullSpace make_null_space(const NullSpaceArguments& arguments, Eigen::MatrixXd K_d,
                                 const Eigen::MatrixXd& default_gain, const char* gain_name) {
  const auto& [posture, attracted, gain] = arguments;
  const auto n = static_cast<int>(K_d.rows());
  NullSpace result{std::move(K_d), {}, gain.is_none() ? default_gain : read_gain(gain, gain_name, n)};
  if (posture.is_none()) return result;
  result.posture = read_column(posture, "posture", n);
  for (int j = 0; j < n; ++j) {
    if (attracted.at(j)) continue;
    result.gain.row(j).setZero();
    result.gain.col(j).setZero();
  }
  return result;
}

/// Of a law with the attraction K_posture (posture - q), a torque.
inline NullSpace torque_null_space(const NullSpaceArguments& arguments, const Eigen::MatrixXd& K_d) {
  return make_null_space(arguments, K_d, kPostureRate * K_d, "K_posture");
}

/// Of a law with the attraction Lambda_posture (posture - q), a velocity.
inline NullSpace velocity_null_space(const NullSpaceArguments& arguments, const Eigen::MatrixXd& K_d) {
  return make_null_space(arguments, K_d, kPostureRate * Eigen::MatrixXd::Identity(K_d.rows(), K_d.cols()),
                         "Lambda_posture");
}

}  // namespace thunder::python
