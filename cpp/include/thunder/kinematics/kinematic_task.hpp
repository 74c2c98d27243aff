// What kinematic control asks of a frame, in the rows that it cares for.
#pragma once

#include "../control/frame_motion.hpp"
#include "../math/state_archive.hpp"
#include "orientation_task.hpp"
#include "row_svd.hpp"

namespace thunder {

/// Error of a frame and its kinematics, e' = b - J dq, in the chosen rows; J is the Jacobian that belongs to the
/// orientation error, see `OrientationKind`.
class KinematicTask {
 public:
  KinematicTask(std::shared_ptr<const Model> model, const Frame<double>& frame, TaskRows rows, OrientationKind kind)
      : dynamics_(std::move(model)), carrier_(frame), frame_(frame), rows_(rows), kind_(kind), motion_(dynamics_.n()) {
    const int m = rows.count();
    for (TaskVector* v : {&e, &b, &b_dot, &bias}) v->setZero(m);
    J.setZero(m, dynamics_.n());
  }

  int rows() const noexcept { return rows_.count(); }
  const Evaluator& dynamics() const noexcept { return dynamics_; }
  double manipulability(const double* q) const noexcept { return dynamics_.manipulability(q, frame_, rows_); }

  /// Another frame to move: one that stands at `tool` in the frame that was chosen first.
  void set_tool(const Pose<double>& tool) noexcept {
    frame_.pose = {carrier_.pose.R * tool.R, carrier_.pose.p + carrier_.pose.R * tool.p};
  }

  /// The tool and the last error.
  void archive(StateArchive& state) {
    state(e);
    each(frame_.pose, [&](double& value) { state(value); });
  }

  /// False where the orientation error has no Jacobian.
  bool update(const double* q, const double* dq, const TaskReference& desired) noexcept {
    motion_.update(dynamics_, frame_, q, dq);
    const OrientationTask o = orientation_task(kind_, {desired.R, desired.xi.tail<3>(), desired.xi_dot.tail<3>()},
                                               {motion_.R, motion_.xi.tail<3>(), Eigen::Vector3d::Zero()});
    const Eigen::Vector3d p = desired.p - motion_.p;
    const Eigen::Vector3d o_bias = o.A_dot * motion_.xi.tail<3>() + o.A * motion_.bias.tail<3>();
    int m = 0;
    bool turns = false;
    for (int r = 0; r < 6; ++r) {
      if (!(rows_.mask >> r & 1)) continue;
      const int a = r - 3;
      const bool angular = a >= 0;
      turns |= angular;
      e[m] = angular ? o.e[a] : p[r];
      b[m] = angular ? o.b[a] : desired.xi[r];
      b_dot[m] = angular ? o.b_dot[a] : desired.xi_dot[r];
      bias[m] = angular ? o_bias[a] : motion_.bias[r];
      if (angular)
        J.row(m) = o.A.row(a).lazyProduct(motion_.J.bottomRows<3>());
      else
        J.row(m) = motion_.J.row(r);
      ++m;
    }
    condition = turns ? o.condition : 1.0;
    return o.regular || !turns;
  }

  TaskVector e, b, b_dot, bias;  // bias: J_dot dq
  CompactJacobian J;
  double condition = 1.0;  // that the orientation error adds to that of the arm

 private:
  Evaluator dynamics_;
  Frame<double> carrier_, frame_;
  TaskRows rows_;
  OrientationKind kind_;
  FrameMotion motion_;
};

}  // namespace thunder
