// Every control law of this package on one arm, with all that its step may have to do.
#pragma once

#include "control_states.hpp"

#include <thunder/control/act.hpp>
#include <thunder/control/backstepping.hpp>
#include <thunder/control/cartesian_computed_torque.hpp>
#include <thunder/control/cartesian_mact.hpp>
#include <thunder/control/impedance.hpp>
#include <thunder/control/mact.hpp>
#include <thunder/control/natural_law.hpp>
#include <thunder/control/operational_space.hpp>
#include <thunder/control/slotine_li.hpp>
#include <thunder/kinematics/clik.hpp>

namespace bench {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using SharedModel = std::shared_ptr<const thunder::Model>;

/// How the filtered torque's regressor comes about; none without prediction error (gamma = 0).
enum class Route { none, regressor, acceleration };

inline MatrixXd gain(int size, double value) { return value * MatrixXd::Identity(size, size); }

/// Torque per velocity, small where a joint moves little inertia.
inline MatrixXd damping(int n) {
  VectorXd d = VectorXd::Constant(n, 20.0);
  d.tail(n - 4).setConstant(2.0);
  return d.asDiagonal();
}

/// All parameters unknown; slow, so that the estimate stays near the arm however long it is measured.
inline thunder::AdaptiveModel adaptive(const SharedModel& model, std::unique_ptr<thunder::AdaptationLaw> law = nullptr) {
  constexpr double kGamma = 1e5;
  const int p = model->parameter_count();
  if (!law) law = std::make_unique<thunder::GradientLaw>(gain(p, kGamma));
  return {model, thunder::ParameterSubset(std::vector<bool>(p, true)), std::move(law)};
}

inline std::unique_ptr<thunder::Prediction> prediction(const SharedModel& model, Route route) {
  constexpr double kCutoff = 31.4;  // [rad/s]
  if (route == Route::regressor) return std::make_unique<thunder::FilteredRegressor>(model, kCutoff);
  if (route == Route::acceleration) return std::make_unique<thunder::FilteredAcceleration>(model, kCutoff);
  return nullptr;
}

inline thunder::PredictionError prediction_error(const SharedModel& model, Route route) {
  return {prediction(model, route), route == Route::none ? 0.0 : 1.0, gain(model->n(), 1.0)};
}

// ---- joint space ---------------------------------------------------------------------------------

inline thunder::SlotineLi slotine_li(const SharedModel& model, std::unique_ptr<thunder::AdaptationLaw> law = nullptr) {
  return {adaptive(model, std::move(law)), gain(model->n(), 5.0), damping(model->n())};
}

inline std::unique_ptr<thunder::AdaptationLaw> natural_law(const SharedModel& model) {
  return std::make_unique<thunder::NaturalLaw>(VectorXd::Constant(model->n(), 1e3), VectorXd());
}

inline thunder::MACT mact(const SharedModel& model, Route route) {
  return {adaptive(model), prediction_error(model, route), gain(model->n(), 100.0), damping(model->n())};
}

inline thunder::ACT act(const SharedModel& model, Route route) {
  const int n = model->n();
  constexpr double kp = 100.0, kv = 20.0, off = 0.5 / kp, last = (0.5 + off) / kv;  // A' P + P A = -1, joint by joint
  MatrixXd P = gain(2 * n, last);
  P.topLeftCorner(n, n) = gain(n, kp * last + kv * off);
  P.topRightCorner(n, n) = P.bottomLeftCorner(n, n) = gain(n, off);
  return {adaptive(model), prediction(model, route), thunder::ACT::Form::craig,
          {gain(n, kp), gain(n, kv), std::move(P), damping(n)}};
}

// ---- task space: all six rows, a posture in the null space -----------------------------------------

inline thunder::TaskSetup whole_task(const SharedModel& model) {
  const int n = model->n();
  return {model->frame(model->end_effector()), thunder::TaskRows{}, thunder::OrientationKind::axis_angle, {damping(n), posture(n), gain(n, 1.0)}};
}

inline thunder::Backstepping backstepping(const SharedModel& model) {
  return {adaptive(model), model->frame(model->end_effector()), thunder::Backstepping::Task::pose, thunder::OrientationKind::axis_angle,
          {gain(6, 5.0), gain(6, 50.0), whole_task(model).null_space}};
}

inline thunder::CartesianMACT cartesian_mact(const SharedModel& model, Route route) {
  return {adaptive(model), prediction_error(model, route), whole_task(model), gain(6, 50.0)};
}

inline thunder::OperationalSpace operational_space(const SharedModel& model) {
  return {model, whole_task(model), {gain(6, 100.0), gain(6, 20.0), gain(6, 10.0), VectorXd::Ones(6)}};
}

/// Two spheres push three points, each of them all the time.
inline thunder::CartesianComputedTorque cartesian_computed_torque(const SharedModel& model) {
  thunder::Repulsion repulsion({model->frame(3), model->frame(5), model->frame(model->n())}, {1.0, 10.0, 50.0}, model->n());
  repulsion.set_spheres({{{0.4, 0.6, 0.5}, 0.1}, {{0.3, -0.6, 0.3}, 0.05}});
  return {model, whole_task(model), gain(6, 100.0), gain(6, 20.0), std::move(repulsion)};
}

inline thunder::Impedance impedance(const SharedModel& model, bool shaped) {
  return {model, whole_task(model), {gain(6, 200.0), gain(6, 30.0), shaped ? gain(6, 3.0) : MatrixXd()}};
}

// ---- kinematic control ---------------------------------------------------------------------------

inline thunder::Clik clik(const SharedModel& model, thunder::Clik::Settings settings) {
  settings.K = gain(6, 100.0);
  settings.K_D = gain(6, 20.0);
  return {model, model->frame(model->end_effector()), thunder::TaskRows{}, thunder::OrientationKind::axis_angle,
          std::move(settings)};
}

}  // namespace bench
