// A CLIK integrated along a reference.
#pragma once

#include <functional>
#include <vector>

#include "clik.hpp"

namespace thunder {

struct FollowSettings {
  double dt = 1e-3;
  long steps = 0;
  bool runge_kutta = false;  // else Euler's rule, as in the SCARA project
};

/// Callbacks of `follow`; any of these may throw to end the run, the last two may be empty.
struct FollowCallbacks {
  std::function<void(double t, TaskReference& reference)> target;
  std::function<void(double t, const double* q, double* dq_0)> null_velocity;
  std::function<void()> poll;  // every hundred steps or so
};

/// One row for each instant 0, dt, ..., steps dt.
struct ClikTrace {
  RowMajor q, dq, ddq, error;  // ddq: order 2
  Eigen::VectorXd t, manipulability;
  std::vector<Status> status;
};

ClikTrace follow(Clik& clik, const FollowCallbacks& callbacks, const Eigen::VectorXd& q0, const Eigen::VectorXd& dq0,
                 const FollowSettings& settings);

}  // namespace thunder
