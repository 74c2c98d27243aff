#include "thunder/control/backstepping.hpp"

#include "thunder/control/orientation_error.hpp"
#include "thunder/dynamics/kinematics.hpp"

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Matrix3d to_eigen(const Mat3<double>& R) {
  Matrix3d result;
  result << R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz;
  return result;
}

std::vector<std::string> error_labels(int m) {
  std::vector<std::string> labels{"x", "y", "z", "rx", "ry", "rz"};
  labels.resize(m);
  return labels;
}

}  // namespace

Backstepping::Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, Gains gains)
    : AdaptiveController(std::move(adaptive_model), gains.K_d),
      frame_(frame),
      m_(static_cast<int>(task)),
      gains_(std::move(gains)),
      terms_(blank_terms()) {
  publish("error", terms_.e.data(), error_labels(m_));
  publish("s", terms_.s.data(), model_->data().joint_names);
}

Backstepping::Terms Backstepping::blank_terms() const {
  Terms terms;
  for (Jacobian* J : {&terms.J, &terms.J_dot}) J->setZero(6, n());
  for (TaskVector* v : {&terms.e, &terms.e_dot}) v->setZero(m_);
  for (TaskMatrix* A : {&terms.L, &terms.L_inverse}) A->setIdentity(m_, m_);
  terms.L_dot.setZero(m_, m_);
  for (VectorXd* v : {&terms.dq_r, &terms.ddq_r, &terms.s, &terms.tau}) v->setZero(n());
  return terms;
}

/// e (eq. 27), L and their derivatives; false where L has no inverse.
bool Backstepping::task_error(const Pose<double>& pose, const double* dq, const TaskReference& desired,
                              Terms& o) const noexcept {
  o.e.head<3>() = desired.p - Vector3d(pose.p.x, pose.p.y, pose.p.z);
  Vector6d xi;
  xi.noalias() = o.J * Map<const VectorXd>(dq, n());
  bool regular = true;
  if (m_ == 6) {
    const OrientationError orientation(desired.R, to_eigen(pose.R));
    regular = orientation.cosine() >= kSmallestCosine;
    o.e.tail<3>() = orientation.e();
    o.L.bottomRightCorner<3, 3>() = orientation.L();
    o.L_dot.bottomRightCorner<3, 3>() = orientation.L_dot(desired.xi.tail<3>(), xi.tail<3>());
    if (regular) o.L_inverse.bottomRightCorner<3, 3>() = orientation.L().inverse();
  }
  o.e_dot = o.L.transpose() * desired.xi.head(m_) - o.L * xi.head(m_);  // eq. 28
  return regular;
}

/// dq_r (eq. 30) and its exact derivative, with dq_r = J' y, A y = v, L v = b; false where A = J J' is singular.
bool Backstepping::reference_motion(const double* dq_, const TaskReference& desired, Terms& o) const noexcept {
  const auto J = o.J.topRows(m_), J_dot = o.J_dot.topRows(m_);
  const auto xi_d = desired.xi.head(m_), xi_d_dot = desired.xi_dot.head(m_);
  const TaskMatrix A = J.lazyProduct(J.transpose());
  const TaskMatrix half = J_dot.lazyProduct(J.transpose());
  const TaskMatrix A_dot = half + half.transpose();
  const Eigen::LDLT<TaskMatrix> factors(A);
  const TaskVector pivots = factors.vectorD();
  if (!(pivots.minCoeff() > kSmallestPivotRatio * pivots.maxCoeff())) return false;

  const TaskVector b = o.L.transpose() * xi_d + gains_.Lambda * o.e;
  const TaskVector b_dot = o.L_dot.transpose() * xi_d + o.L.transpose() * xi_d_dot + gains_.Lambda * o.e_dot;
  const TaskVector v = o.L_inverse * b;
  const TaskVector v_dot = o.L_inverse * (b_dot - o.L_dot * v);
  const TaskVector y = factors.solve(v);
  const TaskVector y_dot = factors.solve(v_dot - A_dot * y);
  o.dq_r.noalias() = J.transpose() * y;
  o.ddq_r.noalias() = J_dot.transpose() * y;
  o.ddq_r.noalias() += J.transpose() * y_dot;
  o.s = o.dq_r - Map<const VectorXd>(dq_, n());
  return true;
}

Status Backstepping::evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& o) noexcept {
  Pose<double> pose;
  frame_kinematics(model_->view(), q, dq, frame_, &pose, o.J.data(), o.J_dot.data());
  if (!task_error(pose, dq, desired, o) || !reference_motion(dq, desired, o)) return Status::singular;

  adaptive_model_.torque(q, dq, o.dq_r.data(), o.ddq_r.data(), o.tau.data());  // Y_r pihat
  const TaskVector restoring = o.L.transpose() * (gains_.K_p * o.e);
  o.tau.noalias() += K_d_ * o.s;
  o.tau.noalias() += o.J.topRows(m_).transpose() * restoring;  // eq. 33, with J' L' K_p e (errata D-1)
  return Status::ok;
}

Status Backstepping::law(double t, const double* q, const double* dq, const TaskReference& desired,
                         double* tau) noexcept {
  if (!adaptive_model_.advance(t)) return Status::diverged;
  const Status status = evaluate(q, dq, desired, terms_);
  if (status != Status::ok) return status;
  Map<VectorXd>(tau, n()) = terms_.tau;
  adaptive_model_.adapt(terms_.s.data());
  return Status::ok;
}

}  // namespace thunder
