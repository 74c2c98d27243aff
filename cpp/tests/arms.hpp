// Arms for the tests: the Panda, and one with everything a model may have.
#pragma once

#include <cmath>
#include <memory>

#include "thunder/control/act.hpp"
#include "thunder/control/backstepping.hpp"
#include "thunder/control/mact.hpp"
#include "thunder/control/slotine_li.hpp"
#include "thunder/model/model.hpp"

namespace arms {

using Eigen::Matrix4d;

/// Tr_x(a) Rot_x(alpha) Tr_z(d)
inline Matrix4d craig(double a, double alpha, double d) {
  const double c = std::cos(alpha), s = std::sin(alpha);
  Matrix4d T;
  T << 1, 0, 0, a, 0, c, -s, -d * s, 0, s, c, d * c, 0, 0, 0, 1;
  return T;
}

inline thunder::ModelData panda_data() {
  const double quarter = std::acos(0.0);
  const double dh[7][3] = {{0, 0, 0.333},           {0, -quarter, 0},      {0, quarter, 0.316}, {0.0825, quarter, 0},
                           {-0.0825, -quarter, 0.384}, {0, quarter, 0}, {0.088, quarter, 0.107}};
  const double mass[7] = {4.97, 0.65, 3.23, 3.59, 1.23, 1.67, 0.74};
  thunder::ModelData data;
  data.name = "panda";
  data.inertial.resize(7, thunder::kLinkParameters);
  for (int i = 0; i < 7; ++i) {
    data.placements.push_back(craig(dh[i][0], dh[i][1], dh[i][2]));
    data.offsets.push_back(Matrix4d::Identity());
    data.axes.push_back(Eigen::Vector3d::UnitZ());
    data.prismatic.push_back(false);
    data.joint_names.push_back("joint" + std::to_string(i + 1));
    data.link_names.push_back("link" + std::to_string(i + 1));
    const double m = mass[i], c = 0.03;  // a compact body off the axis
    data.inertial.row(i) << m, m * c, -m * c, m * c, 0.02 * m, 0.001 * m, 0.001 * m, 0.02 * m, -0.001 * m, 0.02 * m;
  }
  data.gravity = {0.0, 0.0, -9.81};
  data.base = data.tool = Matrix4d::Identity();
  return data;
}

inline std::shared_ptr<const thunder::Model> panda() { return std::make_shared<const thunder::Model>(panda_data()); }

/// With friction, rotors, armature, springs, a prismatic joint and a link frame apart from its joint frame.
inline std::shared_ptr<const thunder::Model> everything() {
  thunder::ModelData data = panda_data();
  data.prismatic[2] = true;
  data.offsets[3] = craig(0.1, 0.2, 0.3);
  data.friction_terms = {thunder::FrictionTerm::viscous, thunder::FrictionTerm::coulomb, thunder::FrictionTerm::cubic};
  data.friction.setConstant(7, 3, 0.1);
  data.armature.assign(7, 0.01);
  data.rotors = {{2, 1, false, {0, 0, 1}, 50.0, 1e-4}, {5, 0, true, {0, 1, 0}, 20.0, 1e-4}};
  data.elastic.joints = {2, 4, 7};
  data.elastic.K.setConstant(3, 2, 100.0);
  data.elastic.D.setConstant(3, 1, 0.5);
  data.elastic.Dm.setConstant(3, 3, 0.1);
  data.elastic.Mm.assign(3, 0.2);
  return std::make_shared<const thunder::Model>(data);
}

/// The same arm with springs in its first joints.
inline std::shared_ptr<const thunder::Model> with_springs(const std::shared_ptr<const thunder::Model>& rigid, int count) {
  thunder::ModelData data = rigid->data();
  for (int j = 1; j <= count; ++j) data.elastic.joints.push_back(j);
  data.elastic.K.setConstant(count, 1, 500.0);
  data.elastic.D = data.elastic.Dm = thunder::RowMajor(count, 0);
  data.elastic.Mm.assign(static_cast<std::size_t>(count), 0.1);
  return std::make_shared<const thunder::Model>(std::move(data));
}

/// A posture away from singularities.
inline Eigen::VectorXd posture() {
  Eigen::VectorXd q(7);
  q << 0.1, -0.3, 0.2, -2.0, 0.1, 1.8, 0.7;
  return q;
}

inline Eigen::MatrixXd identity(int size, double value) { return value * Eigen::MatrixXd::Identity(size, size); }

inline thunder::AdaptiveModel adaptive(const std::shared_ptr<const thunder::Model>& model, double Gamma) {
  thunder::ParameterSubset all(std::vector<bool>(model->parameter_count(), true));
  return {model, all, std::make_unique<thunder::GradientLaw>(identity(all.size(), Gamma))};
}

inline thunder::Backstepping backstepping(const std::shared_ptr<const thunder::Model>& model, double Gamma) {
  return {adaptive(model, Gamma), model->frame(model->end_effector()), thunder::Backstepping::Task::pose, thunder::OrientationKind::axis_angle,
          {identity(6, 5.0), identity(6, 50.0), {identity(7, 10.0), posture(), identity(7, 1.0)}}};
}

inline thunder::SlotineLi slotine_li(const std::shared_ptr<const thunder::Model>& model, double Gamma) {
  return {adaptive(model, Gamma), identity(7, 5.0), identity(7, 10.0)};
}

inline std::unique_ptr<thunder::Prediction> prediction(const std::shared_ptr<const thunder::Model>& model, bool by_parts) {
  if (by_parts) return std::make_unique<thunder::FilteredRegressor>(model, 30.0);
  return std::make_unique<thunder::FilteredAcceleration>(model, 30.0);
}

inline thunder::MACT mact(const std::shared_ptr<const thunder::Model>& model, bool by_parts) {
  return {adaptive(model, 10.0), {prediction(model, by_parts), 0.1, identity(7, 1.0)}, identity(7, 30.0),
          identity(7, 10.0)};
}

inline thunder::ACT act(const std::shared_ptr<const thunder::Model>& model, bool by_parts) {
  return {adaptive(model, 1000.0), prediction(model, by_parts), thunder::ACT::Form::craig,
          {identity(7, 30.0), identity(7, 10.0), identity(14, 1.0), identity(7, 10.0)}};
}

/// Pose of the end effector as a reference at rest.
thunder::TaskReference reference_at(const thunder::Model& model, const Eigen::VectorXd& q);

}  // namespace arms
