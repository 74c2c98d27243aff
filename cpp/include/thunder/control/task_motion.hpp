// A task of chosen rows as laws in task space see it: its error and the Jacobian that moves the error.
#pragma once

#include <string>
#include <vector>

#include "task_error.hpp"

namespace thunder {

/// e' = f - J dq and e'' = f' - J_dot dq - J ddq, with J = L times the frame's Jacobian, in the rows of the task. Where
/// there is no orientation error L is the identity, and J the frame's own Jacobian.
class TaskMotion {
 public:
  FrameMotion frame;
  TaskError error;
  TaskJacobian J, J_dot;
  Vector6d bias = Vector6d::Zero();            // J_dot dq
  Matrix6d gram_inverse = Matrix6d::Zero();    // (J J')^-1
  Eigen::VectorXd shown;                       // e, without rows that are not in the task

  TaskMotion(int n, const Frame<double>& controlled, TaskRows rows)
      : frame(n),
        J(TaskJacobian::Zero(6, n)),
        J_dot(TaskJacobian::Zero(6, n)),
        shown(Eigen::VectorXd::Zero(rows.count())),
        controlled_(controlled),
        rows_(rows) {}

  TaskRows rows() const noexcept { return rows_; }
  bool redundant() const noexcept { return rows_.count() < J.cols(); }

  std::vector<std::string> labels() const {
    std::vector<std::string> result;
    constexpr const char* names[] = {"x", "y", "z", "rx", "ry", "rz"};
    for (int r = 0; r < 6; ++r)
      if (rows_.mask >> r & 1) result.emplace_back(names[r]);
    return result;
  }

  /// Entries of the task, one after the other.
  void gather(const Vector6d& v, Eigen::VectorXd& to) const noexcept {
    for (int r = 0, i = 0; r < 6; ++r)
      if (rows_.mask >> r & 1) to[i++] = v[r];
  }

  void scatter(const Eigen::VectorXd& v, Vector6d& to) const noexcept {
    for (int r = 0, i = 0; r < 6; ++r)
      if (rows_.mask >> r & 1) to[r] = v[i++];
  }

  /// False near 90 degrees of orientation error and near a singularity of the task.
  bool update(const Evaluator& dynamics, const double* q, const double* dq, const TaskReference& desired) noexcept {
    frame.update(dynamics, controlled_, q, dq);
    const bool regular = error.update(frame, desired, rows_);
    const Eigen::Matrix3d L = error.L.bottomRightCorner<3, 3>(), L_dot = error.L_dot.bottomRightCorner<3, 3>();
    J.topRows<3>() = frame.J.topRows<3>();
    J_dot.topRows<3>() = frame.J_dot.topRows<3>();
    J.bottomRows<3>() = L.lazyProduct(frame.J.bottomRows<3>());
    J_dot.bottomRows<3>() = L.lazyProduct(frame.J_dot.bottomRows<3>());
    J_dot.bottomRows<3>() += L_dot.lazyProduct(frame.J.bottomRows<3>());
    keep_rows(rows_, J);
    keep_rows(rows_, J_dot);
    bias = J_dot.lazyProduct(Eigen::Map<const Eigen::VectorXd>(dq, J.cols()));
    gather(error.e, shown);
    // L itself has condition 1 / cosine, which is no singularity of the arm
    return regular && invert_gram(J, rows_, gram_inverse, kLargestCondition / error.cosine);
  }

 private:
  Frame<double> controlled_;
  TaskRows rows_;
};

}  // namespace thunder
