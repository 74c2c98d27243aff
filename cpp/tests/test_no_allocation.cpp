// No reference, control step or integration step allocates; kernels have a test of their own.
#include <limits>
#include <random>

#include "allocations.hpp"
#include "arms.hpp"
#include "check.hpp"
#include "thunder/control/cartesian_computed_torque.hpp"
#include "thunder/control/cartesian_mact.hpp"
#include "thunder/control/composite_control.hpp"
#include "thunder/control/computed_torque.hpp"
#include "thunder/control/elastic_feedback_linearization.hpp"
#include "thunder/control/elastic_slotine_li.hpp"
#include "thunder/estimation/derivative_filters.hpp"
#include "thunder/estimation/external_observer.hpp"
#include "thunder/control/impedance.hpp"
#include "thunder/control/independent_joint.hpp"
#include "thunder/control/natural_law.hpp"
#include "thunder/control/operational_space.hpp"
#include "thunder/control/parameter_estimator.hpp"
#include "thunder/control/motor_pd.hpp"
#include "thunder/control/passivity_based.hpp"
#include "thunder/control/pd_gravity.hpp"
#include "thunder/kinematics/references.hpp"
#include "thunder/control/robust_unit_vector.hpp"
#include "thunder/planning/trajectory/fourier_series.hpp"
#include "thunder/planning/functional/functional_planner.hpp"
#include "thunder/planning/trajectory/joint_trajectory.hpp"
#include "thunder/planning/trajectory/rotation_vector_path.hpp"
#include "thunder/planning/trajectory/task_path.hpp"
#include "thunder/simulation/closed_loop.hpp"

using namespace thunder;
using Eigen::VectorXd;

namespace {

template <class Source>
void check_reference(const Source& source) {
  auto reference = source.blank();
  const allocations::Scope scope;
  source.at(1.0, reference);
  CHECK(scope.made() == 0);
}

void check_trajectories() {
  check_reference(FourierSeries(Eigen::MatrixXd::Ones(7, 5), Eigen::MatrixXd::Ones(7, 5), arms::posture(), 0.1));
  check_reference(JointTrajectory(PiecewisePolynomial({0.0, 0.5, 2.0}, std::vector<double>(2 * 4 * 7, 0.3), 7)));
  const PiecewisePolynomial law({0.5, 1.5}, {0.0, 0.0, 3.0, -2.0}, 1);
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(), none = Eigen::Vector3d::Zero();
  check_reference(TaskPath(x, Eigen::Matrix3d::Identity(), {{law, x, none, none, 0.0}, {law, none, x, y, 2.0}},
                           {{law, y, 1.0}, {law, x, -1.0}}));
}

/// Connections and their cost, of models with scores of their own and in common, in the world and along the path.
void check_planner(bool joint, bool aligned) {
  const int d = 3, pieces = 4, degree = 6, components = joint ? 18 : 6;
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::vector<double> mean(pieces * (degree + 1) * d), functions(components * mean.size());
  for (double& x : mean) x = normal(generator);
  for (double& x : functions) x = normal(generator);
  FunctionalModel model({0.0, 0.3, 0.5, 0.8, 1.0}, d, joint, aligned, mean, functions,
                        std::vector<double>(joint ? components : components * d, 1.0));
  const FunctionalPlanner planner(std::move(model), {PlannerSettings::Mode::map, 3});
  BezierPath path = planner.blank(2);
  BoundaryState from(d), to(d);
  to.x.setOnes();
  JerkCost cost;
  const allocations::Scope scope;
  planner.connect(from, to, 0.0, 1.0, path, 0);
  planner.connect(to, from, 1.0, 2.0, path, 1);
  planner.jerk_cost(from, to, 1.0, cost);
  CHECK(scope.made() == 0);
  double x[d];
  path.at(0.999999999, 0, x);
  CHECK(std::abs(x[1] - 1.0) < 1e-6);
  check_reference(RotationVectorPath(path, Eigen::Matrix3d::Identity()));
}

void check_pose_path() {
  BezierPath path(6, 5, 3);
  for (std::size_t k = 0; k < path.points.size(); ++k) path.points[k] = 0.1 * static_cast<double>(k % 11);
  check_reference(RotationVectorPath(path, Eigen::Matrix3d::Identity()));
  check_reference(JointBezierPath(path));
}

JointReference without_position(JointReference reference) {
  reference.q.setConstant(NAN);
  return reference;
}

TaskReference without_position(TaskReference reference) {
  reference.p.setConstant(NAN);
  return reference;
}

template <class Controller, class Reference>
void check_steps(Controller& controller, const Reference& reference) {
  VectorXd q = arms::posture(), dq = VectorXd::Constant(7, 0.1), tau(7), bad = VectorXd::Constant(7, NAN);
  const Motors motors{q.data(), dq.data()};  // seen by laws of elastic joints
  const Reference broken = without_position(reference);
  const allocations::Scope scope;
  for (int k = 0; k < 10; ++k)
    CHECK(controller.step(1e-3 * k, q.data(), dq.data(), reference, tau.data(), motors) == Status::ok);
  controller.step(0.01, bad.data(), dq.data(), reference, tau.data(), motors);
  for (int k = 11; k < 15; ++k) controller.step(1e-3 * k, q.data(), dq.data(), broken, tau.data(), motors);
  CHECK(controller.status() == Status::invalid_input);
  CHECK(controller.step(0.015, q.data(), dq.data(), reference, tau.data(), motors) == Status::ok);
  controller.reset();
  CHECK(scope.made() == 0);
}

/// A reference that is turned too far, and comes back.
template <class Controller>
void check_hold(Controller& controller, const TaskReference& reference) {
  VectorXd q = arms::posture(), dq = VectorXd::Zero(7), tau(7);
  TaskReference turned = reference;
  turned.R.rightCols<2>() *= -1.0;
  const allocations::Scope scope;
  for (int k = 0; k < 10; ++k)
    CHECK(controller.step(1e-3 * k, q.data(), dq.data(), turned, tau.data()) == Status::singular);
  for (int k = 10; k < 20; ++k) CHECK(controller.step(1e-3 * k, q.data(), dq.data(), reference, tau.data()) == Status::ok);
  CHECK(scope.made() == 0);
}

void check_estimator(const std::shared_ptr<const Model>& model) {
  ParameterEstimator estimator(arms::adaptive(model, 1e4), {arms::prediction(model, true), 0.1, arms::identity(7, 1.0)},
                               arms::identity(7, 10.0));
  const VectorXd q = arms::posture(), dq = VectorXd::Constant(7, 0.1), tau = VectorXd::Ones(7);
  const VectorXd bad = VectorXd::Constant(7, std::numeric_limits<double>::quiet_NaN());
  const allocations::Scope scope;
  for (int k = 0; k < 10; ++k) CHECK(estimator.step(1e-3 * k, q.data(), dq.data(), tau.data()) == Status::ok);
  CHECK(estimator.step(0.01, bad.data(), dq.data(), tau.data()) == Status::invalid_input);
  CHECK(estimator.step(0.011, q.data(), dq.data(), tau.data()) == Status::ok);
  estimator.reset();
  CHECK(scope.made() == 0);
}

void check_controllers(const std::shared_ptr<const Model>& model) {
  JointReference joint(7);
  joint.q = VectorXd::Constant(7, 0.3);
  const TaskReference task = arms::reference_at(*model, arms::posture());
  auto slotine_li = arms::slotine_li(model, 10.0);
  auto backstepping = arms::backstepping(model, 10.0);
  check_steps(slotine_li, joint);
  check_estimator(model);
  for (const bool by_parts : {false, true}) {
    auto mact = arms::mact(model, by_parts);
    auto act = arms::act(model, by_parts);
    check_steps(mact, joint);
    check_steps(act, joint);
  }
  check_steps(backstepping, task);
  check_hold(backstepping, task);
}

void check_fixed_joint_laws(const std::shared_ptr<const Model>& model) {
  JointReference reference(7);
  reference.q = VectorXd::Constant(7, 0.3);
  const Eigen::MatrixXd K = arms::identity(7, 10.0);
  const VectorXd ones = VectorXd::Ones(7);
  const IntegralAction integral(K, ones, 7);
  for (const auto feedforward : {IndependentJoint::Feedforward::motor, IndependentJoint::Feedforward::model}) {
    IndependentJoint law(model, {ones, ones}, {ones, ones}, integral, feedforward);
    check_steps(law, reference);
  }
  for (const auto gravity : {PDGravity::Gravity::actual, PDGravity::Gravity::desired}) {
    PDGravity law(model, K, K, integral, gravity);
    check_steps(law, reference);
  }
  for (const auto form : {ComputedTorque::Form::craig, ComputedTorque::Form::impedance}) {
    ComputedTorque law(model, K, K, form);
    check_steps(law, reference);
  }
  PassivityBased passivity_based(model, K, K);
  check_steps(passivity_based, reference);
  RobustUnitVector robust(model, {K, K, arms::identity(14, 1.0), 5.0, 0.1});
  check_steps(robust, reference);
}

void check_elastic_laws() {
  const auto rigid = arms::panda(), model = arms::with_springs(rigid, 7), partly = arms::with_springs(rigid, 3);
  JointReference reference(7);
  reference.q = arms::posture();
  const Eigen::MatrixXd K = arms::identity(7, 10.0);
  for (const auto gravity : {MotorPD::Gravity::desired, MotorPD::Gravity::online}) {
    MotorPD law(partly, K, K, gravity);
    check_steps(law, reference);
  }
  ElasticFeedbackLinearization linearization(model, {K, K, K, K}, K);
  check_steps(linearization, reference);
  ElasticSlotineLi adaptive(arms::adaptive(partly, 10.0), {VectorXd::Ones(7), K, arms::identity(3, 10.0), 500.0, 0.1});
  check_steps(adaptive, reference);
  CompositeControl composite(partly, std::make_shared<PassivityBased>(rigid, K, K), arms::identity(3, 10.0), K);
  check_steps(composite, reference);
  const VectorXd q = arms::posture(), dq = VectorXd::Zero(7);
  VectorXd tau(7);
  CHECK(linearization.step(0.0, q.data(), dq.data(), reference, tau.data()) == Status::invalid_input);  // no motors
  CHECK(tau.allFinite());
}

/// Whole and partial tasks, with everything that may go on in the null space.
void check_task_laws(const std::shared_ptr<const Model>& model) {
  const TaskReference reference = arms::reference_at(*model, arms::posture());
  const Frame<double> frame = model->frame(model->end_effector());
  const Eigen::MatrixXd K = arms::identity(7, 10.0);
  using Kind = OrientationKind;
  for (const auto& [rows, kind] : {std::pair{TaskRows{}, Kind::axis_angle}, {TaskRows{}, Kind::rotation_vector}, {TaskRows{}, Kind::quaternion},
                                   {TaskRows{}, Kind::zyx}, {TaskRows{0x07}, Kind::axis_angle}, {TaskRows{0x2a}, Kind::axis_angle_plain}}) {
    const Eigen::MatrixXd gain = arms::identity(rows.count(), 20.0);
    const TaskSetup task{frame, rows, kind, {K, VectorXd::Zero(7), K}};
    OperationalSpace operational_space(model, task, {gain, gain, gain, VectorXd::Ones(rows.count())});
    check_steps(operational_space, reference);
    Repulsion repulsion({model->frame(2), model->frame(4)}, {1.0, 10.0, 50.0}, 7);
    repulsion.set_spheres({{{0.1, 0.2, 0.3}, 0.05}, {{0.5, 0.0, 0.2}, 0.0}});
    CartesianComputedTorque computed_torque(model, task, gain, gain, repulsion);
    check_steps(computed_torque, reference);
    for (const Eigen::MatrixXd& inertia : {Eigen::MatrixXd(), gain}) {
      Impedance impedance(model, task, {gain, gain, inertia});
      check_steps(impedance, reference);
    }
    CartesianMACT mact(arms::adaptive(model, 10.0), {arms::prediction(model, true), 0.1, K}, task, gain);
    check_steps(mact, reference);
    if (rows.count() < 6 || kind != Kind::axis_angle) continue;  // others reach the reference
    check_hold(operational_space, reference);
    check_hold(computed_torque, reference);
    check_hold(mact, reference);
  }
}

/// A full matrix Gamma takes another path than a diagonal one.
void check_full_gain() {
  Eigen::MatrixXd Gamma = arms::identity(70, 10.0);
  Gamma(0, 1) = Gamma(1, 0) = 1.0;
  GradientLaw law(Gamma);
  const VectorXd gradient = VectorXd::Ones(70);
  VectorXd estimate = VectorXd::Zero(70);
  const allocations::Scope scope;
  law.integrate(gradient.data(), 1e-3, estimate.data());
  CHECK(scope.made() == 0);
}

/// Laws with bounds and on bodies.
void check_laws() {
  const VectorXd gradient = VectorXd::Ones(70);
  GradientLaw bounded(arms::identity(70, 10.0), VectorXd::Constant(70, -1.0), VectorXd::Constant(70, 1.0));
  NaturalLaw natural(VectorXd::Ones(6), VectorXd::Ones(10));
  VectorXd estimate = VectorXd::Zero(70);
  for (int i = 0; i < 6; ++i) estimate.segment<10>(10 * i) << 1, 0, 0, 0, 1, 0, 0, 1, 0, 1;
  const allocations::Scope scope;
  CHECK(natural.integrate(gradient.data(), 1e-3, estimate.data()));
  CHECK(bounded.integrate(gradient.data(), 1e-3, estimate.data()));
  CHECK(scope.made() == 0);
}

template <class AnyPlant, class Make>
void check_integrator(const std::shared_ptr<const Model>& model, Make make) {
  AnyPlant plant(model, {{0.0, 7, Eigen::Matrix<double, 10, 1>::Constant(0.1)}});
  auto integrator = make(plant);
  VectorXd x = VectorXd::Zero(plant.state_size()), tau = VectorXd::Zero(7);
  x.head(7) = arms::posture();
  const allocations::Scope scope;
  plant.begin_step(0.0);
  for (const double dt : {1e-3, 0.05})  // friction is stiff for the second
    integrator.step(plant, 0.0, dt, tau.data(), x.data());
  CHECK(scope.made() == 0);
}

template <class AnyPlant>
void check_integrators(const std::shared_ptr<const Model>& model) {
  check_integrator<AnyPlant>(model, [](const Plant& plant) { return RungeKutta4(plant); });
  check_integrator<AnyPlant>(model, [](const Plant& plant) { return SemiImplicitEuler(plant); });
  check_integrator<AnyPlant>(model, [](const Plant& plant) { return ImplicitMidpoint(plant); });
}

/// Storage of a run is made before it: its length does not change how often the loop allocates.
void check_loop(const std::shared_ptr<const Model>& model) {
  RigidPlant plant(model);
  auto controller = arms::backstepping(model, 10.0);
  const TaskReference start = arms::reference_at(*model, arms::posture());
  Lissajous source = Lissajous::starting_at(start.p, start.R, {0.1, 0.1, 0.1}, {0.2, 0.1, 0.4}, 0.0);
  Tracking<TaskReference> tracking(controller, source);
  RungeKutta4 integrator(plant);
  LoopSettings settings;
  settings.periods = 100;
  VectorXd x(14);
  x << arms::posture(), VectorXd::Zero(7);
  ClosedLoop loop(plant, tracking, integrator, settings, x);
  for (const Signal& signal : controller.signals()) loop.log(signal);
  const ClosedLoop::Progress none;
  loop.reserve();
  const allocations::Scope scope;
  loop.run(none);
  CHECK(scope.made() == 0);
  CHECK(loop.recorder().count() == 101);
}

/// Steps with contacts, missing states and torques, a pause and a restart.
template <class Observer>
void check_observer(const std::shared_ptr<const Model>& model, int size, int order) {
  Observer observer(model, LowPass(VectorXd::Constant(size, 1e5), order, 1.0),
                    std::make_unique<ContactDetector>(VectorXd::Constant(size, 1e-9), 2, 0.5));
  VectorXd q = arms::posture(), dq = VectorXd::Constant(7, 0.1), tau = VectorXd::Ones(7), bad = VectorXd::Constant(7, NAN);
  const Motors motors{q.data(), dq.data()};  // more entries than motors
  const allocations::Scope scope;
  for (int k = 0; k < 10; ++k) CHECK(observer.step(1e-3 * k, q.data(), dq.data(), tau.data(), motors) == Status::ok);
  CHECK(observer.contact()->any() && observer.estimate().allFinite());
  CHECK(observer.step(0.010, bad.data(), dq.data(), tau.data(), motors) == Status::invalid_input);
  CHECK(observer.step(0.011, q.data(), dq.data(), bad.data(), motors) == Status::invalid_input);
  CHECK(observer.step(0.5, q.data(), dq.data(), tau.data(), motors) == Status::ok);
  if (model->elastic_count() > 0)
    for (const Motors& none : {Motors{}, Motors{bad.data(), dq.data()}})
      CHECK(observer.step(0.501, q.data(), dq.data(), tau.data(), none) == Status::invalid_input);
  observer.reset();
  CHECK(scope.made() == 0);
  CHECK(observer.estimate().isZero() && !observer.contact()->any());
}

void check_observers(const std::shared_ptr<const Model>& model) {
  for (const int order : {1, 2}) {
    check_observer<MomentumObserver>(model, 7, order);
    check_observer<EnergyObserver>(model, 1, order);
  }
}

void check_estimator(DerivativeEstimator&& estimator) {
  const VectorXd q = arms::posture();
  const allocations::Scope scope;
  for (int k = 0; k < 50; ++k) estimator.step(1e-3, q.data());
  estimator.reset();
  CHECK(scope.made() == 0);
}

/// The same with everything that may stand between plant and controller, an observer, and somebody who pushes.
void check_loop_with_parts(const std::shared_ptr<const Model>& model, bool sticks) {
  const VectorXd ones = VectorXd::Ones(7);
  auto arm = std::make_unique<ElasticPlant>(
      model, std::vector<Payload>{{0.05, 7, Eigen::Matrix<double, 10, 1>::Constant(0.01)}},
      std::vector<ExternalAction>{{0.0, 0.05, model->end_effector(), VectorXd::Ones(6)}, {0.02, 1.0, -1, ones}});
  if (sticks) {
    const Eigen::MatrixX2d sides = Eigen::MatrixX2d::Ones(7, 2);
    arm->set_friction(JointFriction({sides, sides, 0.5 * ones, 0.1 * ones, 1e-2, true}));
  }
  ActuatedPlant plant(std::move(arm), {(sticks ? 1e-4 : 0.01) * ones, 0.1 * ones});
  Sensors sensors({1e-4 * ones, 0 * ones, 1e-4 * ones, 0 * ones, 0.0, 3, 1e-3, 1,
                   std::make_shared<ButterworthDerivative>(7, 50.0)},
                  model->elastic_joints());
  CommandPath command(7, {2, 1e-3, 50 * ones, 1e4 * ones, 0.1 * ones, 90 * ones});
  MomentumObserver observer(model, LowPass(50 * ones, 2, 1.0), std::make_unique<ContactDetector>(ones, 3, 0.5));
  auto controller = arms::slotine_li(model, 10.0);
  SetPoint source(arms::posture());
  Tracking<JointReference> tracking(controller, source);
  RungeKutta4 integrator(plant);
  LoopSettings settings;
  settings.periods = 100;
  VectorXd x = VectorXd::Zero(plant.state_size() - plant.actuator_states());
  x.head(7) = arms::posture();
  ClosedLoop loop(plant, tracking, integrator, settings, x, {&sensors, &command, {&observer}});
  loop.log({"estimate", observer.estimate().data(), observer.labels()});
  const ClosedLoop::Progress none;
  loop.reserve();
  const allocations::Scope scope;
  loop.run(none);
  CHECK(scope.made() == 0);
  CHECK(loop.recorder().count() == 101);
}

}  // namespace

int main() {
  check_elastic_laws();
  for (const auto& model : {arms::panda(), arms::everything()}) {
    check_controllers(model);
    check_fixed_joint_laws(model);
    check_observers(model);
    check_task_laws(model);
    check_integrators<RigidPlant>(model);
    check_integrators<ElasticPlant>(model);
  }
  check_loop(arms::panda());
  for (const bool sticks : {false, true}) check_loop_with_parts(arms::everything(), sticks);
  check_estimator(FirstOrderDerivative(7, 50.0));
  check_estimator(ButterworthDerivative(7, 50.0));
  check_estimator(SavitzkyGolayDerivative(7, 31, 3));
  check_full_gain();
  check_laws();
  check_reference(SetPoint(arms::posture()));
  check_reference(Sinusoid(arms::posture(), arms::posture(), arms::posture(), arms::posture()));
  check_reference(SetPose(Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity()));
  check_reference(Lissajous(Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), {1, 1, 1}, {1, 1, 1}, 0.0));
  check_trajectories();
  for (const bool joint : {false, true})
    for (const bool aligned : {false, true}) check_planner(joint, aligned);
  check_pose_path();
  return check::result();
}
