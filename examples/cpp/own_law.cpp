// A control law of one's own, in a simulated loop at 1 kHz. As a part of `ControlLoop` it runs in the other two examples too.
#include <thunder/control/controller.hpp>
#include <thunder/math/dense.hpp>

#include <cmath>
#include <cstdio>
#include <panda.hpp>

namespace {

using Eigen::VectorXd;

/// tau = G(q) + K_p tanh(e) - K_d dq: the spring stays within K_p, however large the error is.
class BoundedSpring final : public thunder::JointController {
 public:
  BoundedSpring(std::shared_ptr<const thunder::Model> model, VectorXd K_p, Eigen::MatrixXd K_d)
      : thunder::JointController(std::move(model), std::move(K_d)), K_p_(std::move(K_p)), e_(VectorXd::Zero(n())) {
    publish("error", e_.data(), joint_names());  // for logs
  }

  int reference_order() const noexcept override { return 0; }  // of the reference it takes q alone

 protected:
  // no step throws or allocates; the base class checks states, clips torques, and holds the arm where this is not `ok`
  thunder::Status law(double, const double* q, const double* dq, const thunder::JointReference& desired,
                      double* tau) noexcept override {
    dynamics_.gravity_vector(q, tau);
    thunder::add_product(K_d_, dq, tau, -1.0);
    for (int i = 0; i < n(); ++i) {
      e_[i] = desired.q[i] - q[i];
      tau[i] += K_p_[i] * std::tanh(e_[i]);
    }
    return thunder::Status::ok;
  }

 private:
  VectorXd K_p_, e_;
};

}  // namespace

int main() {
  const auto model = robots::panda();
  const int n = model->n();
  VectorXd K_p(n), K_d(n), start(n), q(n), dq = VectorXd::Zero(n), tau(n), ddq(n);
  K_p << 200, 200, 150, 150, 20, 20, 20;
  K_d << 50, 50, 30, 30, 3, 3, 3;
  start << 0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7;
  BoundedSpring law(model, K_p, K_d.asDiagonal());
  law.set_torque_limits(VectorXd::Constant(n, 87.0));

  thunder::JointReference target(n);
  target.q = start;
  thunder::Evaluator plant(model);
  q = start.array() - 0.3;
  constexpr double kPeriod = 1e-3;
  for (int k = 0; k < 4000; ++k) {
    if (law.step(k * kPeriod, q.data(), dq.data(), target, tau.data()) != thunder::Status::ok) return 1;
    plant.forward_dynamics(q.data(), dq.data(), tau.data(), ddq.data());
    dq += kPeriod * ddq;
    q += kPeriod * dq;
  }
  const double error = (start - q).cwiseAbs().maxCoeff();
  std::printf("error %.5f rad, at rest: %d\n", error, dq.cwiseAbs().maxCoeff() < 1e-3);
  return error < 1e-3 ? 0 : 1;
}
