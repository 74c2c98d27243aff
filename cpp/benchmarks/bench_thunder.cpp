// This package's generic kernels: the robot is data read at run time, nothing is generated for it.
#include "arm.hpp"
#include "harness.hpp"
#include "thunder_model.hpp"

#include <thunder/dynamics/forward_dynamics.hpp>
#include <thunder/dynamics/gravity.hpp>
#include <thunder/dynamics/inverse_dynamics.hpp>
#include <thunder/dynamics/kinematics.hpp>
#include <thunder/dynamics/mass_coriolis.hpp>
#include <thunder/dynamics/regressor.hpp>

using Vector = std::vector<double>;
using State = bench::State<Vector>;

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  const thunder::Model model(bench::model_data(bench::read_arm(options.arm)));
  const thunder::ChainView<double> chain = model.view();
  const thunder::Frame<double> tip = model.frame(model.end_effector());
  const auto n = std::size_t(model.n());

  const auto states = bench::random_states<Vector>(n, [](std::size_t k) { return Vector(k); });
  Vector J(6 * n), M(n * n), C(n * n), Mdot(n * n), tau(n), ddq(n), Y(10 * n * n);
  bench::Bench measure("thunder_py", n, options);

  const auto q = [](const State& s) { return s.q.data(); };
  const auto dq = [](const State& s) { return s.dq.data(); };
  measure("J", "", states, J, [&](const State& s) { thunder::jacobian(chain, q(s), tip, J.data()); });
  measure("J_dot", "", states, J, [&](const State& s) { thunder::jacobian_dot(chain, q(s), dq(s), tip, J.data()); });
  measure("M", "", states, M, [&](const State& s) { thunder::mass_matrix(chain, q(s), M.data()); });
  measure("M + C", "", states, C,
          [&](const State& s) { thunder::mass_coriolis(chain, q(s), dq(s), M.data(), C.data()); });
  const auto all = [&](const State& s) {
    thunder::mass_coriolis(chain, q(s), dq(s), M.data(), C.data());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) Mdot[i * n + j] = C[i * n + j] + C[j * n + i];
    }
  };
  measure("C + M_dot", "", states, Mdot, all);
  measure("M + C + M_dot", "", states, std::tie(M, C, Mdot), all);
  measure("G", "", states, tau, [&](const State& s) { thunder::gravity_vector(chain, q(s), tau.data()); });
  measure("inverse dynamics", "", states, tau,
          [&](const State& s) { thunder::inverse_dynamics(chain, q(s), dq(s), s.ddq.data(), tau.data()); });
  measure("forward dynamics", "", states, ddq,
          [&](const State& s) { thunder::forward_dynamics(chain, q(s), dq(s), s.tau.data(), ddq.data()); });
  measure("Y", "", states, Y,
          [&](const State& s) { thunder::regressor(chain, q(s), dq(s), s.ddq.data(), Y.data()); });
  measure("Y_r", "", states, Y, [&](const State& s) {
    thunder::slotine_li_regressor(chain, q(s), dq(s), s.dq_r.data(), s.ddq_r.data(), Y.data());
  });
}
