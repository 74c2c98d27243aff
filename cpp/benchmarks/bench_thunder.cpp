// This package's generic kernels as every caller has them, through the table in use (THUNDER_ISA): the robot is data read at
// run time, nothing is generated for it.
#include "arm.hpp"
#include "harness.hpp"
#include "thunder_model.hpp"

#include <thunder/kernels/kernels.hpp>

using thunder::Quantity;
using Vector = std::vector<double>;
using State = bench::State<Vector>;

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  const thunder::Model model(bench::model_data(bench::read_arm(options.arm)));
  const thunder::ChainView<double> chain = model.view();
  const thunder::Frame<double> tip = model.frame(model.end_effector());
  const auto n = std::size_t(model.n());
  const thunder::WorkspaceMemory memory(thunder::workspace_bytes(model.n(), sizeof(double)));
  const thunder::Workspace work = memory.view();
  const thunder::Kernels& k = thunder::kernels();

  const auto states = bench::random_states<Vector>(n, [](std::size_t k) { return Vector(k); });
  Vector J(6 * n), M(n * n), C(n * n), Mdot(n * n), tau(n), ddq(n), Y(10 * n * n);
  bench::Bench measure("thunder_py", n, options);

  const auto q = [](const State& s) { return s.q.data(); };
  const auto dq = [](const State& s) { return s.dq.data(); };
  measure("J", "", states, J, [&](const State& s) { k.compute(Quantity::Jacobian, chain, work, {q(s)}, J.data(), {tip, {}}); });
  measure("J_dot", "", states, J,
          [&](const State& s) { k.compute(Quantity::JacobianDot, chain, work, {q(s), dq(s)}, J.data(), {tip, {}}); });
  measure("M", "", states, M, [&](const State& s) { k.mass_matrix(chain, work, q(s), M.data()); });
  measure("M + C", "", states, C,
          [&](const State& s) { k.mass_coriolis(chain, work, q(s), dq(s), M.data(), C.data()); });
  const auto all = [&](const State& s) {
    k.mass_coriolis(chain, work, q(s), dq(s), M.data(), C.data());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) Mdot[i * n + j] = C[i * n + j] + C[j * n + i];
    }
  };
  measure("C + M_dot", "", states, Mdot, all);
  measure("M + C + M_dot", "", states, std::tie(M, C, Mdot), all);
  measure("G", "", states, tau, [&](const State& s) { k.gravity_vector(chain, work, q(s), tau.data()); });
  measure("inverse dynamics", "", states, tau,
          [&](const State& s) { k.inverse_dynamics(chain, work, q(s), dq(s), s.ddq.data(), tau.data()); });
  measure("forward dynamics", "", states, ddq,
          [&](const State& s) { k.forward_dynamics(chain, work, q(s), dq(s), s.tau.data(), ddq.data()); });
  Vector derivatives(3 * n * n);
  measure("inverse dynamics derivatives", "", states, derivatives, [&](const State& s) {
    k.inverse_dynamics_derivatives(chain, work, q(s), dq(s), s.ddq.data(), derivatives.data());
  });
  measure("forward dynamics derivatives", "", states, derivatives, [&](const State& s) {
    k.forward_dynamics_derivatives(chain, work, q(s), dq(s), s.tau.data(), derivatives.data());
  });
  measure("tau_r", "", states, tau, [&](const State& s) {
    k.slotine_li_torque(chain, work, q(s), dq(s), s.dq_r.data(), s.ddq_r.data(), tau.data());
  });
  measure("p + C' dq", "", states, tau,
          [&](const State& s) { k.momentum_and_drift(chain, work, q(s), dq(s), ddq.data(), tau.data()); });
  measure("Y", "", states, Y,
          [&](const State& s) { k.regressor(chain, work, q(s), dq(s), s.ddq.data(), Y.data()); });
  measure("Y_r", "", states, Y, [&](const State& s) {
    k.slotine_li_regressor(chain, work, q(s), dq(s), s.dq_r.data(), s.ddq_r.data(), Y.data());
  });
}
