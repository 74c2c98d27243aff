// What an arm does with joints that its task leaves free: damping, and a posture it leans to (D4.2, eq. 111).
#pragma once

#include "task_inertia.hpp"
#include "task_motion.hpp"

namespace thunder {

/// K_posture (posture - q) - K_d dq; without a posture the vector is empty and only damping remains.
struct NullSpace {
  Eigen::MatrixXd K_d;
  Eigen::VectorXd posture;
  Eigen::MatrixXd K_posture;

  void torque(const double* q, const double* dq, Eigen::VectorXd& tau) const noexcept {
    using Vector = Eigen::Map<const Eigen::VectorXd>;
    tau.setZero();
    tau.noalias() -= K_d * Vector(dq, tau.size());
    if (posture.size() == 0) return;
    tau.noalias() += K_posture * posture;  // a product with the difference would allocate it
    tau.noalias() -= K_posture * Vector(q, tau.size());
  }
};

/// A task and what the joints do besides.
struct TaskSetup {
  Frame<double> frame;
  TaskRows rows;
  NullSpace null_space;
};

}  // namespace thunder
