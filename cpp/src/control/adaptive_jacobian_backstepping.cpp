#include "thunder/control/adaptive_jacobian_backstepping.hpp"

#include <algorithm>

#include "thunder/math/dense.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

bool ExactPosition::read(const double* q, const double* dq, Eigen::Vector3d& p, Eigen::Vector3d& v) noexcept {
  motion_.update(arm_, arm_.model().frame(arm_.model().end_effector()), q, dq);
  p = motion_.p;
  v = motion_.xi.head<3>();
  return true;
}

AdaptiveJacobianBackstepping::AdaptiveJacobianBackstepping(LengthModel model, LengthEstimate estimate,
                                                           std::unique_ptr<PositionSensor> sensor, Backstepping::Task task,
                                                           OrientationKind kind, Backstepping::Gains gains)
    : TaskController(model.arm(), gains.null_space.K_d),
      lengths_(std::move(model)),
      estimate_(std::move(estimate)),
      sensor_(std::move(sensor)),
      kind_(kind),
      feedback_(task, std::move(gains)),
      terms_(blank_terms()),
      gradient_(estimate_.products()),
      logged_lengths_(estimate_.lengths()),
      logged_products_(VectorXd::Zero(gradient_.size() - 1)),
      parameters_(this->model()->parameters()) {
  std::vector<std::string> products = lengths_.product_names();
  products.erase(products.begin());
  publish("error", terms_.task.e.data(), row_names(feedback_.rows()));
  publish("s", terms_.s.data(), joint_names());
  publish("parameters", parameters_.data(), this->model()->parameter_names());
  publish("lengths", logged_lengths_.data(), lengths_.data().names);
  publish("products", logged_products_.data(), std::move(products));
  publish_estimates();
}

void AdaptiveJacobianBackstepping::start_from(const double* lengths) noexcept {
  estimate_.start_from(lengths_, lengths);
  publish_estimates();
}

void AdaptiveJacobianBackstepping::reset() noexcept {
  Controller::reset();
  estimate_.reset();
  publish_estimates();
}

void AdaptiveJacobianBackstepping::archive(StateArchive& state) {
  Controller::archive(state);
  state(estimate_);
}

AdaptiveJacobianBackstepping::Terms AdaptiveJacobianBackstepping::blank_terms() const {
  const VectorXd joints = VectorXd::Zero(n()), unknown = VectorXd::Zero(lengths_.lengths());
  return {lengths_.blank_kinematics(), FrameMotion(n()), TaskError(), unknown, unknown, joints, joints, joints, joints};
}

void AdaptiveJacobianBackstepping::publish_estimates() noexcept {
  logged_lengths_ = estimate_.lengths();
  const RowMajor& products = estimate_.products();
  std::copy_n(products.data() + 1, logged_products_.size(), logged_products_.data());
  for (std::size_t j = 0; j < lengths_.unknown().size(); ++j) parameters_[lengths_.unknown()[j]] = products(0, 1 + j);
}

bool AdaptiveJacobianBackstepping::measure(const double* q, const double* dq, Terms& o) noexcept {
  Eigen::Vector3d v;
  if (!sensor_->read(q, dq, o.measured.p, v) || !o.measured.p.allFinite() || !v.allFinite()) return false;
  o.measured.xi.head<3>() = v;
  return true;
}

Status AdaptiveJacobianBackstepping::evaluate(const double* q, const double* dq, const TaskReference& desired,
                                              Terms& o) noexcept {
  if (!desired.valid() || !measure(q, dq, o)) return Status::invalid_input;
  return evaluate_measured(q, dq, desired, o);
}

Status AdaptiveJacobianBackstepping::evaluate_measured(const double* q, const double* dq, const TaskReference& desired,
                                                       Terms& o) noexcept {
  LengthModel::Kinematics& kinematics = o.kinematics;
  lengths_.kinematics(q, dq, estimate_.lengths().data(), kinematics);
  o.measured.R = kinematics.R;  // lengths turn nothing
  o.measured.xi.tail<3>() = kinematics.w;
  if (!o.task.update(o.measured, desired, feedback_.rows(), kind_)) return Status::singular;
  estimate_.rates(kinematics, feedback_.restoring(o.task), o.measured.p, o.tracking, o.prediction);
  for (std::size_t j = 0; j < kinematics.dJ.size(); ++j)
    kinematics.J_dot += (o.tracking[j] + o.prediction[j]) * kinematics.dJ[j];
  for (Jacobian* J : {&kinematics.J, &kinematics.J_dot}) keep_rows(feedback_.rows(), *J);
  if (!feedback_.motion(q, dq, o.task, kinematics.J, kinematics.J_dot, holding(), o.dq_r, o.ddq_r)) return Status::singular;
  o.s = o.dq_r - Map<const VectorXd>(dq, n());
  lengths_.regress(q, dq, o.dq_r.data(), o.ddq_r.data());
  lengths_.torque(estimate_.products(), o.tau.data());
  feedback_.add_torque(o.task, kinematics.J, o.s, o.tau);
  return Status::ok;
}

Status AdaptiveJacobianBackstepping::law(double t, const double* q, const double* dq, const TaskReference& desired,
                                         double* tau) noexcept {
  if (!measure(q, dq, terms_)) return Status::invalid_input;
  const bool usable = estimate_.advance(t);
  publish_estimates();
  const Status status = evaluate_measured(q, dq, desired, terms_);  // the error is still logged
  if (!usable) return Status::diverged;
  if (status != Status::ok) return status;
  Map<VectorXd>(tau, n()) = terms_.tau;
  lengths_.gradient(terms_.s, gradient_);
  estimate_.adapt(terms_.kinematics, terms_.tracking, terms_.prediction, gradient_);
  return Status::ok;
}

void AdaptiveJacobianBackstepping::reference_torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                                                    double* tau) noexcept {
  lengths_.regress(q, dq, dq_r, ddq_r);
  lengths_.torque(estimate_.bounded() ? estimate_.products() : estimate_.initial_products(), tau);
}

}  // namespace thunder
