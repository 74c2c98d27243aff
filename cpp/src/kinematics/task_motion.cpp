#include "thunder/kinematics/task_motion.hpp"

#include "thunder/math/rotations.hpp"

namespace thunder {

using Velocities = Eigen::Map<const Eigen::VectorXd>;

void FrameMotion::update(const Evaluator& dynamics, const Frame<double>& frame, const double* q,
                         const double* dq) noexcept {
  Pose<double> pose;
  dynamics.frame_kinematics(q, dq, frame, &pose, J.data(), J_dot.data());
  p = to_eigen(pose.p);
  R = to_eigen(pose.R);
  const Velocities velocity(dq, J.cols());
  xi.noalias() = J.lazyProduct(velocity);
  bias.noalias() = J_dot.lazyProduct(velocity);
}

bool TaskError::update(const FrameMotion& motion, const TaskReference& desired, TaskRows rows,
                       OrientationKind kind) noexcept {
  const bool turns = rows.mask >> 3 != 0;
  e.head<3>() = desired.p - motion.p;
  f = desired.xi;
  f_dot = desired.xi_dot;
  velocity = motion.xi;
  if (turns) {
    orientation = OrientationError(kind, {desired.R, desired.xi.tail<3>(), desired.xi_dot.tail<3>()},
                                   {motion.R, motion.xi.tail<3>(), Eigen::Vector3d::Zero()});
    e.tail<3>() = orientation.e;
    f.tail<3>() = orientation.f;
    f_dot.tail<3>() = orientation.f_dot;
    velocity.tail<3>() = orientation.L * motion.xi.tail<3>();
  }
  velocity = f - velocity;
  e_dot = velocity;
  if (turns) e_dot.tail<3>() = orientation.e_dot;
  for (Vector6d* v : {&e, &e_dot, &velocity, &f, &f_dot}) keep_rows(rows, *v);
  return orientation.regular;
}

void keep_rows(TaskRows rows, Vector6d& v) noexcept {
  for (int r = 0; r < 6; ++r)
    if (!rows.has(r)) v[r] = 0.0;
}

void keep_rows(TaskRows rows, Jacobian& J) noexcept {
  for (int r = 0; r < 6; ++r)
    if (!rows.has(r)) J.row(r).setZero();
}

void gather(TaskRows rows, const Vector6d& from, TaskVector& to) noexcept {
  to.resize(rows.count());
  for (int r = 0, i = 0; r < 6; ++r)
    if (rows.has(r)) to[i++] = from[r];
}

void gather(TaskRows rows, const Jacobian& from, CompactJacobian& to) noexcept {
  to.resize(rows.count(), from.cols());
  for (int r = 0, i = 0; r < 6; ++r)
    if (rows.has(r)) to.row(i++) = from.row(r);
}

std::vector<std::string> row_names(TaskRows rows) {
  constexpr const char* names[] = {"x", "y", "z", "rx", "ry", "rz"};
  std::vector<std::string> result;
  for (int r = 0; r < 6; ++r)
    if (rows.has(r)) result.emplace_back(names[r]);
  return result;
}

TaskMotion::TaskMotion(int n, const Frame<double>& controlled, TaskRows rows, OrientationKind kind)
    : frame(n),
      J(Jacobian::Zero(6, n)),
      J_dot(Jacobian::Zero(6, n)),
      carrier_(controlled),
      controlled_(controlled),
      rows_(rows),
      kind_(kind) {}

void TaskMotion::archive(StateArchive& state) {
  state(error.e);
  each(controlled_.pose, [&](double& value) { state(value); });
}

bool TaskMotion::update(const Evaluator& dynamics, const double* q, const double* dq,
                        const TaskReference& desired) noexcept {
  frame.update(dynamics, controlled_, q, dq);
  const bool regular = error.update(frame, desired, rows_, kind_);
  const Eigen::Matrix3d &L = error.orientation.L, &L_dot = error.orientation.L_dot;
  J.topRows<3>() = frame.J.topRows<3>();
  J_dot.topRows<3>() = frame.J_dot.topRows<3>();
  J.bottomRows<3>() = L.lazyProduct(frame.J.bottomRows<3>());
  J_dot.bottomRows<3>() = L.lazyProduct(frame.J_dot.bottomRows<3>());
  J_dot.bottomRows<3>() += L_dot.lazyProduct(frame.J.bottomRows<3>());
  keep_rows(rows_, J);
  keep_rows(rows_, J_dot);
  bias = J_dot.lazyProduct(Velocities(dq, J.cols()));
  return regular;
}

}  // namespace thunder
