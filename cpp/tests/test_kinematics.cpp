// No step of a CLIK and no solution of inverse kinematics allocates.
#include <cmath>

#include "allocations.hpp"
#include "arms.hpp"
#include "check.hpp"
#include "thunder/kinematics/frame_motion.hpp"
#include "thunder/kinematics/clik.hpp"
#include "thunder/kinematics/inverse_kinematics.hpp"
#include "thunder/kinematics/sampled_reference.hpp"
#include "thunder/kinematics/spherical_wrist.hpp"

using namespace thunder;
using Eigen::VectorXd;
using SharedModel = std::shared_ptr<const Model>;

namespace {

const Frame<double>& tool(const Model& model) { return model.frame(model.end_effector()); }

Clik make_clik(const SharedModel& model, Clik::Method method, int order, OrientationKind kind) {
  Clik::Settings s;
  s.method = method;
  s.order = order;
  s.K = s.K_D = arms::identity(6, 10.0);
  s.damping = 0.1;
  s.threshold = 0.2;
  s.measure = order == 1 ? Clik::Measure::manipulability : Clik::Measure::singular_value;
  s.limits = {VectorXd::Constant(7, -2.0), VectorXd::Constant(7, 2.0), VectorXd::Constant(7, 0.5),
              VectorXd::Constant(7, 5.0)};
  s.objective = std::make_shared<ManipulabilityObjective>(model, tool(*model), TaskRows{}, 1.0);
  return Clik(model, tool(*model), TaskRows{}, kind, s);
}

void check_clik(const SharedModel& model, Clik::Method method, int order, OrientationKind kind) {
  Clik clik = make_clik(model, method, order, kind);
  VectorXd q = arms::posture(), dq = VectorXd::Constant(7, 0.1), bad = VectorXd::Constant(7, NAN), out(7);
  TaskReference reference = arms::reference_at(*model, q);
  reference.p.x() += 0.2;
  const VectorXd straight = VectorXd::Zero(7);
  const allocations::Scope scope;
  const Status usual = clik.step(q.data(), dq.data(), reference, nullptr, out.data());
  clik.step(straight.data(), dq.data(), reference, dq.data(), out.data());
  const Status invalid = clik.step(bad.data(), dq.data(), reference, nullptr, out.data());
  clik.set_tool({{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.0, 0.0, 0.1}});
  CHECK(scope.made() == 0);
  CHECK(usual == Status::ok || usual == Status::saturated);
  CHECK(invalid == Status::invalid_input);
}

void check_cliks(const SharedModel& model) {
  using M = Clik::Method;
  using K = OrientationKind;
  for (const K kind : {K::axis_angle, K::axis_angle_plain, K::rotation_vector, K::quaternion, K::zyz, K::zyx})
    for (const int order : {1, 2}) {
      check_clik(model, M::pseudoinverse, order, kind);
      check_clik(model, M::damped, order, kind);
    }
  check_clik(model, M::transpose, 1, K::axis_angle);
}

void check_numeric(const SharedModel& model) {
  using Method = InverseKinematics::Method;
  const VectorXd q = arms::posture();
  const TaskReference at = arms::reference_at(*model, q);
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor> T = Eigen::Matrix4d::Identity();
  T.topLeftCorner<3, 3>() = at.R;
  T.topRightCorner<3, 1>() = at.p;
  for (const Method method : {Method::levenberg_marquardt, Method::gradient_descent}) {
    InverseKinematics::Settings s;
    s.method = method;
    s.lower = VectorXd::Constant(7, -3.0);
    s.upper = VectorXd::Constant(7, 3.0);
    s.starts = InverseKinematics::Settings{}.starts;
    s.starts.setConstant(2, 7, 0.2);
    const InverseKinematics solver(model, tool(*model), TaskRows{}, s);
    VectorXd found(7);
    const VectorXd start = q.array() + 0.05;
    const Workspace work = thread_workspace(solver.n());
    const allocations::Scope scope;
    const auto solution = solver.solve(work, T.data(), start.data(), found.data());
    CHECK(scope.made() == 0);
    CHECK(method == Method::gradient_descent || solution.success);
  }
}

void check_analytic() {
  SphericalWrist::Geometry g;
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(), z = Eigen::Vector3d::UnitZ();
  g.axes = {z, y, y, x, y, x};
  g.points = {Eigen::Vector3d::Zero(), 0.4 * z, 0.9 * z};
  g.wrist = 0.9 * z + 0.45 * x;
  g.p = g.wrist + 0.1 * x;
  g.R.setIdentity();
  const SphericalWrist wrist(g);
  const allocations::Scope scope;
  const auto solutions = wrist.solve({0.4, 0.2, 0.5}, Eigen::AngleAxisd(0.7, x).toRotationMatrix(),
                                     SphericalWrist::Joints::Zero());
  CHECK(scope.made() == 0);
  CHECK(solutions.count == 8);
}

void check_samples() {
  const SampledJointReference source(0.1, RowMajor::Ones(5, 7), RowMajor::Ones(5, 7));
  JointReference reference = source.blank();
  const allocations::Scope scope;
  for (const double t : {-1.0, 0.0, 0.17, 0.4, 9.0, std::nan("")}) {
    source.at(t, reference);
    CHECK(reference.valid());
  }
  CHECK(scope.made() == 0);
}

}  // namespace

int main() {
  check_cliks(arms::panda());
  check_numeric(arms::panda());
  check_analytic();
  check_samples();
  return check::result();
}
