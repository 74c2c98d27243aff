// What steps report, and that their torque is safe then.
#include <limits>

#include "arms.hpp"
#include "check.hpp"
#include "thunder/simulation/closed_loop.hpp"

using namespace thunder;
using Eigen::VectorXd;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

VectorXd gravity_of(const Model& model, const VectorXd& q) {
  VectorXd G(model.n());
  kernels().gravity_vector(model.view(), thread_workspace(model.n()), q.data(), G.data());
  return G;
}

Eigen::MatrixXd mass_matrix_of(const Model& model, const VectorXd& q) {
  RowMajor M(model.n(), model.n());
  kernels().mass_matrix(model.view(), thread_workspace(model.n()), q.data(), M.data());
  return M;
}

void invalid_input() {
  const auto model = arms::panda();
  auto controller = arms::backstepping(model, 10.0);
  const TaskReference reference = arms::reference_at(*model, arms::posture());
  VectorXd q = arms::posture(), dq = VectorXd::Constant(7, 0.1), tau(7);
  q[3] = kNaN;
  CHECK(controller.step(0.0, q.data(), dq.data(), reference, tau.data()) == Status::invalid_input);
  CHECK(tau.isZero());  // no position seen yet, and so no inertia

  q = arms::posture();
  CHECK(controller.step(0.0, q.data(), dq.data(), reference, tau.data()) == Status::ok);
  q[3] = kNaN;
  CHECK(controller.step(1e-3, q.data(), dq.data(), reference, tau.data()) == Status::invalid_input);
  CHECK(controller.status() == Status::invalid_input);
  // at the last position, damped by the inertia at the rate of a hold and by no gain
  CHECK(tau.isApprox(gravity_of(*model, arms::posture()) - 3.0 * Hold::rate(0.0) * mass_matrix_of(*model, arms::posture()) * dq,
                     1e-6));

  q = arms::posture();
  dq[0] = std::numeric_limits<double>::infinity();
  CHECK(controller.step(2e-3, q.data(), dq.data(), reference, tau.data()) == Status::invalid_input);
  CHECK(tau.isApprox(gravity_of(*model, q), 1e-6));

  dq.setZero();
  CHECK(controller.step(kNaN, q.data(), dq.data(), reference, tau.data()) == Status::invalid_input);
  TaskReference broken = reference;
  broken.xi_dot[5] = kNaN;
  CHECK(controller.step(3e-3, q.data(), dq.data(), broken, tau.data()) == Status::invalid_input);
  CHECK(tau.isApprox(gravity_of(*model, q), 1e-9));  // the hold begins at rest
  q[1] += 0.01;
  CHECK(controller.step(4e-3, q.data(), dq.data(), broken, tau.data()) == Status::invalid_input);
  CHECK(tau[1] < gravity_of(*model, q)[1] - 3.0);  // its spring
  const VectorXd held = tau;
  q[0] = kNaN;
  CHECK(controller.step(5e-3, q.data(), dq.data(), broken, tau.data()) == Status::invalid_input);
  CHECK(!tau.isApprox(gravity_of(*model, arms::posture()), 1e-3));  // at the last position, with the hold's load
  q = arms::posture();
  CHECK(controller.step(6e-3, q.data(), dq.data(), reference, tau.data()) == Status::ok);
}

void singular() {
  const auto model = arms::panda();
  auto controller = arms::backstepping(model, 1e-3);
  const VectorXd stretched = VectorXd::Zero(7), dq = VectorXd::Constant(7, 0.1);
  VectorXd tau(7);
  const TaskReference far = arms::reference_at(*model, arms::posture());
  CHECK(controller.step(0.0, stretched.data(), dq.data(), arms::reference_at(*model, stretched), tau.data()) ==
        Status::singular);
  CHECK(tau.allFinite());
  CHECK((tau - gravity_of(*model, stretched)).dot(dq) < 0.0);  // the hold brakes, see hold.hpp
  const VectorXd estimate = controller.adaptive_model().estimate();
  controller.step(1e-3, stretched.data(), dq.data(), far, tau.data());
  CHECK(controller.adaptive_model().estimate() == estimate);  // nothing adapts meanwhile
  auto resting = arms::backstepping(model, 1e-3);
  const VectorXd still = VectorXd::Zero(7);
  resting.step(0.0, stretched.data(), still.data(), arms::reference_at(*model, stretched), tau.data());
  CHECK(tau.isApprox(gravity_of(*model, stretched), 1e-12));
}

/// The law ends just below 90 degrees of orientation error (errata T-11).
void orientation_domain() {
  const auto model = arms::panda();
  auto controller = arms::backstepping(model, 10.0);
  const VectorXd q = arms::posture(), dq = VectorXd::Zero(7);
  const TaskReference here = arms::reference_at(*model, q);
  for (const double degrees : {0.0, 45.0, 85.0, 88.0, 89.5, 90.0, 95.0, 135.0, 180.0}) {
    TaskReference turned = here;
    turned.R = Eigen::AngleAxisd(degrees * std::acos(-1.0) / 180.0, Eigen::Vector3d(1, 2, 3).normalized()) * here.R;
    VectorXd tau(7);
    const Status expected = degrees < 88.5 ? Status::ok : Status::singular;
    CHECK(controller.step(0.0, q.data(), dq.data(), turned, tau.data()) == expected);
    CHECK(tau.allFinite());
  }
}

void diverged_estimate() {
  const auto model = arms::panda();
  auto controller = arms::slotine_li(model, 1e-12);  // adapts far too fast
  JointReference reference(7);
  reference.q.setConstant(1.0);
  const VectorXd q = arms::posture(), dq = VectorXd::Zero(7);
  VectorXd tau(7);
  CHECK(controller.step(0.0, q.data(), dq.data(), reference, tau.data()) == Status::ok);
  CHECK(controller.step(1e-3, q.data(), dq.data(), reference, tau.data()) == Status::diverged);
  CHECK(tau.isApprox(gravity_of(*model, q), 1e-12));  // of the nominal model
  CHECK(controller.step(2e-3, q.data(), dq.data(), reference, tau.data()) == Status::diverged);
  controller.reset();
  CHECK(controller.step(0.0, q.data(), dq.data(), reference, tau.data()) == Status::ok);
}

/// Overflow inside a law must not leave it.
void overflow() {
  const auto model = arms::panda();
  auto controller = arms::slotine_li(model, 1.0);
  JointReference reference(7);
  reference.dq.setConstant(1e200);
  const VectorXd q = arms::posture(), dq = VectorXd::Constant(7, 1e200);
  VectorXd tau(7);
  CHECK(controller.step(0.0, q.data(), dq.data(), reference, tau.data()) == Status::diverged);
  CHECK(tau.allFinite());
}

void time_gaps() {
  const auto model = arms::panda();
  const VectorXd q = arms::posture(), dq = VectorXd::Zero(7);
  JointReference reference(7);
  reference.q.setConstant(1.0);
  const auto moved_by = [&](double pause) {
    auto controller = arms::slotine_li(model, 100.0);
    VectorXd tau(7);
    controller.step(0.0, q.data(), dq.data(), reference, tau.data());
    controller.step(pause, q.data(), dq.data(), reference, tau.data());
    return VectorXd(controller.adaptive_model().estimate() - model->parameters());
  };
  const VectorXd base = moved_by(0.05);
  CHECK(base.norm() > 0.0);
  CHECK(moved_by(0.1).isApprox(2.0 * base));
  CHECK(moved_by(10.0).isApprox(2.0 * base));  // a pause counts as 0.1 s
  CHECK(moved_by(-1.0).norm() == 0.0);         // and time does not run backwards
}

void state_overflow_ends_a_run() {
  struct Explosion final : ControlStep {
    Status operator()(double, const double*, const double*, const Motors&, double* tau) override {
      Eigen::Map<VectorXd>(tau, 7).setConstant(1e300);
      return Status::ok;
    }
  } control;
  RigidPlant plant(arms::panda());
  SemiImplicitEuler integrator(plant);
  LoopSettings settings;
  settings.periods = 1000;
  ClosedLoop loop(plant, control, integrator, settings, VectorXd::Zero(14));
  loop.run({});
  CHECK(loop.recorder().count() < 1000);
  CHECK(loop.statuses().size() == static_cast<std::size_t>(loop.recorder().count()));
  CHECK(loop.statuses().back() == Status::diverged);
}

}  // namespace

int main() {
  invalid_input();
  singular();
  orientation_domain();
  diverged_estimate();
  overflow();
  time_gaps();
  state_overflow_ends_a_run();
  return check::result();
}
