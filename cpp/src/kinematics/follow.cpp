#include "thunder/kinematics/follow.hpp"

namespace thunder {

namespace {

using Eigen::Map;
using Eigen::VectorXd;

/// The state q, or q and dq, and its derivative from the CLIK.
class FollowedMotion {
 public:
  FollowedMotion(Clik& clik, const FollowCallbacks& callbacks, double dt)
      : clik_(clik), callbacks_(callbacks), dt_(dt), out_(clik.n()), null_(clik.n()), last_(VectorXd::Zero(clik.n())) {}

  /// x' at time t.
  Status derivative(double t, const VectorXd& x, VectorXd& x_dot) {
    const int n = clik_.n();
    callbacks_.target(t, reference_);
    if (callbacks_.null_velocity) callbacks_.null_velocity(t, x.data(), null_.data());
    const double* dq_0 = callbacks_.null_velocity ? null_.data() : nullptr;
    const double* dq = second() ? x.data() + n : last_.data();
    const Status status = clik_.step(x.data(), dq, reference_, dq_0, dt_, out_.data());
    if (second()) x_dot.head(n) = x.tail(n);
    x_dot.tail(n) = out_;
    return status;
  }

  bool second() const { return clik_.order() == 2; }
  bool within_positions(const VectorXd& x) const { return clik_.within_positions(x.data()); }
  /// The velocities from which those of the next step start, order 1.
  void hold(const VectorXd& dq) { last_ = dq; }

 private:
  Clik& clik_;
  const FollowCallbacks& callbacks_;
  double dt_;
  TaskReference reference_;
  VectorXd out_, null_, last_;
};

/// x one step later, from the derivative k1 at its beginning. A command that limits changed is held for the step.
VectorXd advance(FollowedMotion& motion, const FollowSettings& settings, double t, const VectorXd& x,
                 const VectorXd& k1, bool limited) {
  const double h = settings.dt;
  const auto n = x.size() / 2;
  VectorXd held = x + h * k1;
  if (motion.second()) held.head(n) += 0.5 * h * h * k1.tail(n);  // exact for constant acceleration
  if (!settings.runge_kutta || limited) return held;
  VectorXd k2(x.size()), k3(x.size()), k4(x.size());
  motion.derivative(t + 0.5 * h, x + 0.5 * h * k1, k2);
  motion.derivative(t + 0.5 * h, x + 0.5 * h * k2, k3);
  motion.derivative(t + h, x + h * k3, k4);
  VectorXd next = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  return motion.within_positions(next) ? next : held;
}

ClikTrace make_trace(const Clik& clik, Eigen::Index count) {
  ClikTrace trace;
  for (RowMajor* rows : {&trace.q, &trace.dq, &trace.ddq}) rows->setZero(count, clik.n());
  trace.error.setZero(count, clik.rows());
  trace.t.setZero(count);
  trace.manipulability.setZero(count);
  trace.status.resize(count, Status::ok);
  return trace;
}

}  // namespace

ClikTrace follow(Clik& clik, const FollowCallbacks& callbacks, const VectorXd& q0, const VectorXd& dq0,
                 const FollowSettings& settings) {
  constexpr long kPollEvery = 100;
  const int n = clik.n();
  FollowedMotion motion(clik, callbacks, settings.dt);
  ClikTrace trace = make_trace(clik, settings.steps + 1);
  VectorXd x(motion.second() ? 2 * n : n);
  x.head(n) = q0;
  if (motion.second()) x.tail(n) = dq0;
  VectorXd x_dot(x.size());
  for (long k = 0; k <= settings.steps; ++k) {
    if (callbacks.poll && k % kPollEvery == 0) callbacks.poll();
    const double t = static_cast<double>(k) * settings.dt;
    trace.t[k] = t;
    trace.status[k] = motion.derivative(t, x, x_dot);
    const bool limited = clik.limited();
    trace.q.row(k) = x.head(n);
    trace.dq.row(k) = motion.second() ? x.tail(n) : x_dot;
    trace.error.row(k) = clik.error();
    trace.manipulability[k] = clik.manipulability(x.data());
    if (motion.second())
      trace.ddq.row(k) = x_dot.tail(n);
    else
      motion.hold(x_dot);
    if (k < settings.steps) x = advance(motion, settings, t, x, x_dot, limited);
  }
  return trace;
}

}  // namespace thunder
