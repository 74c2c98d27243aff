#include "thunder/control/backstepping.hpp"

#include "thunder/control/orientation_error.hpp"
#include "thunder/dynamics/kinematics.hpp"

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Matrix6d = Backstepping::Matrix6d;

Matrix3d to_eigen(const Mat3<double>& R) {
  Matrix3d result;
  result << R.xx, R.xy, R.xz, R.yx, R.yy, R.yz, R.zx, R.zy, R.zz;
  return result;
}

Matrix6d top_left(const Eigen::MatrixXd& gain) {
  Matrix6d result = Matrix6d::Zero();
  result.topLeftCorner(gain.rows(), gain.cols()) = gain;
  return result;
}

/// (J J')^-1 in the first `rows`, zero elsewhere; false if J is too close to a singularity.
bool invert(const Backstepping::Jacobian& J, int rows, Matrix6d& A_inverse) {
  Matrix6d A = J.lazyProduct(J.transpose());
  const double squared_norm = A.trace();
  A.diagonal().tail(6 - rows).setOnes();  // rows that are not controlled: nothing asked, nothing given
  const Eigen::LLT<Matrix6d> factors(A);
  A_inverse = factors.solve(Matrix6d::Identity());
  A_inverse.diagonal().tail(6 - rows).setZero();
  constexpr double kLimit = Backstepping::kLargestCondition * Backstepping::kLargestCondition;
  return factors.info() == Eigen::Success && squared_norm * A_inverse.trace() < kLimit;
}

}  // namespace

Backstepping::Backstepping(AdaptiveModel adaptive_model, const Frame<double>& frame, Task task, Gains gains)
    : AdaptiveController(std::move(adaptive_model), std::move(gains.K_d)),
      frame_(frame),
      rows_(static_cast<int>(task)),
      Lambda_(top_left(gains.Lambda)),
      K_p_(top_left(gains.K_p)),
      terms_(blank_terms()) {
  std::vector<std::string> labels{"x", "y", "z", "rx", "ry", "rz"};
  labels.resize(rows_);
  publish("error", terms_.e.data(), std::move(labels));
  publish("s", terms_.s.data(), model_->data().joint_names);
}

Backstepping::Terms Backstepping::blank_terms() const {
  Terms terms;
  for (Jacobian* J : {&terms.J, &terms.J_dot}) J->setZero(6, n());
  for (Vector6d* v : {&terms.xi_d, &terms.xi_d_dot, &terms.e, &terms.e_dot}) v->setZero();
  for (Matrix6d* A : {&terms.L, &terms.L_inverse}) A->setIdentity();
  terms.L_dot.setZero();
  for (VectorXd* v : {&terms.dq_r, &terms.ddq_r, &terms.s, &terms.tau}) v->setZero(n());
  return terms;
}

/// e (eq. 27), L and their derivatives; false where L has no inverse.
bool Backstepping::task_error(const double* q, const double* dq, const TaskReference& desired,
                              Terms& o) const noexcept {
  Pose<double> pose;
  frame_kinematics(model_->view(), q, dq, frame_, &pose, o.J.data(), o.J_dot.data());
  o.xi_d = desired.xi;
  o.xi_d_dot = desired.xi_dot;
  o.e.head<3>() = desired.p - Vector3d(pose.p.x, pose.p.y, pose.p.z);
  bool regular = true;
  if (rows_ == 6) {
    const Vector3d w = o.J.bottomRows<3>().lazyProduct(Map<const VectorXd>(dq, n()));
    const OrientationError orientation(desired.R, to_eigen(pose.R));
    regular = orientation.cosine() >= kSmallestCosine;
    o.e.tail<3>() = orientation.e();
    o.L.bottomRightCorner<3, 3>() = orientation.L();
    o.L_dot.bottomRightCorner<3, 3>() = orientation.L_dot(desired.xi.tail<3>(), w);
    if (regular) o.L_inverse.bottomRightCorner<3, 3>() = orientation.L().inverse();
  } else {
    for (Jacobian* J : {&o.J, &o.J_dot}) J->bottomRows<3>().setZero();
    for (Vector6d* v : {&o.xi_d, &o.xi_d_dot}) v->tail<3>().setZero();
  }
  const Vector6d xi = o.J.lazyProduct(Map<const VectorXd>(dq, n()));
  o.e_dot = o.L.transpose() * o.xi_d - o.L * xi;  // eq. 28
  return regular;
}

/// dq_r (eq. 30) and its exact derivative, with dq_r = J' y, A y = v, L v = b; false where A = J J' is singular.
bool Backstepping::reference_motion(const double* dq, Terms& o) const noexcept {
  Matrix6d A_inverse;
  if (!invert(o.J, rows_, A_inverse)) return false;
  const Matrix6d half = o.J_dot.lazyProduct(o.J.transpose());  // of Adot = half + half'

  const Vector6d b = o.L.transpose() * o.xi_d + Lambda_ * o.e;
  const Vector6d b_dot = o.L_dot.transpose() * o.xi_d + o.L.transpose() * o.xi_d_dot + Lambda_ * o.e_dot;
  const Vector6d v = o.L_inverse * b;
  const Vector6d v_dot = o.L_inverse * (b_dot - o.L_dot * v);
  const Vector6d y = A_inverse * v;
  const Vector6d y_dot = A_inverse * (v_dot - (half + half.transpose()) * y);
  o.dq_r = o.J.transpose().lazyProduct(y);
  o.ddq_r = o.J_dot.transpose().lazyProduct(y) + o.J.transpose().lazyProduct(y_dot);
  o.s = o.dq_r - Map<const VectorXd>(dq, n());
  return true;
}

Status Backstepping::evaluate(const double* q, const double* dq, const TaskReference& desired, Terms& o) noexcept {
  if (!task_error(q, dq, desired, o) || !reference_motion(dq, o)) return Status::singular;

  adaptive_model_.torque(q, dq, o.dq_r.data(), o.ddq_r.data(), o.tau.data());  // Y_r pihat
  const Vector6d restoring = o.L.transpose() * (K_p_ * o.e);
  o.tau.noalias() += K_d_ * o.s;
  o.tau += o.J.transpose().lazyProduct(restoring);  // eq. 33, with J' L' K_p e (errata D-1)
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
