// Kernels for recordings against those for numbers, and regrouped bodies against the original ones.
#include "check.hpp"
#include "random_chain.hpp"
#include "thunder/dynamics/dependent_columns.hpp"
#include "thunder/dynamics/gravity.hpp"
#include "thunder/dynamics/inverse_dynamics.hpp"
#include "thunder/dynamics/mass_coriolis.hpp"
#include "thunder/dynamics/regressor.hpp"
#include "thunder/kernels/kernels.hpp"
#include "thunder/model/minimal_inertia.hpp"

using namespace chains;

namespace {

constexpr double kTolerance = 1e-12;

struct State {
  std::vector<double> q, dq, ddq;
  State(Random& random, int n)
      : q(random_vector(random, n)), dq(random_vector(random, n)), ddq(random_vector(random, n)) {}
};

void mass_and_coriolis(const ChainView<double>& chain, const State& state) {
  const int n2 = chain.n * chain.n;
  std::vector<double> M(n2), C(n2), M_link(n2), C_link(n2), M_alone(n2);
  mass_coriolis(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), M.data(), C.data());
  mass_coriolis_link_frames(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), M_link.data(), C_link.data());
  mass_matrix_link_frames(chain, thread_workspace(chain.n), state.q.data(), M_alone.data());
  CHECK(difference(M, M_link) < kTolerance);
  CHECK(difference(M, M_alone) < kTolerance);
  CHECK(difference(C, C_link) < kTolerance);
}

void gravity(const ChainView<double>& chain, const State& state) {
  std::vector<double> G(chain.n), G_link(chain.n);
  gravity_vector(chain, thread_workspace(chain.n), state.q.data(), G.data());
  gravity_vector_link_frames(chain, thread_workspace(chain.n), state.q.data(), G_link.data());
  CHECK(difference(G, G_link) < kTolerance);
}

void jacobians(const ChainView<double>& chain, const State& state, int joint, Random& random) {
  const Frame<double> frame{joint, {{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, random.vector()}};
  const std::size_t size = 6 * chain.n;
  std::vector<double> J(size), J_link(size), Jd(size), Jd_link(size);
  jacobian(chain, thread_workspace(chain.n), state.q.data(), frame, J.data());
  jacobian_link_frames(chain, thread_workspace(chain.n), state.q.data(), frame, J_link.data());
  jacobian_dot(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), frame, Jd.data());
  jacobian_dot_link_frames(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), frame, Jd_link.data());
  CHECK(difference(J, J_link) < kTolerance);
  CHECK(difference(Jd, Jd_link) < kTolerance);
}

/// Returns how many columns were taken from the link before.
int dependent_columns(const ChainView<double>& chain, const State& state) {
  const int n = chain.n, p = chain.parameters();
  std::vector<double> Y(n * p), taken;
  slotine_li_regressor(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), state.ddq.data(), state.q.data(), Y.data());
  taken = Y;
  int count = 0;
  for (int i = 1; i < n; ++i) {
    for (int c = 0; c < kLinkParameters; ++c) {  // a column that is taken does not remember what was there
      std::vector<double> marked = Y;
      for (int j = 0; j < i; ++j) marked[j * p + kLinkParameters * i + c] += 1.0;
      std::vector<double> unmarked = marked;
      take_dependent_columns(chain, i, p, unmarked.data());
      count += unmarked[kLinkParameters * i + c] != marked[kLinkParameters * i + c];
    }
    take_dependent_columns(chain, i, p, taken.data());
  }
  CHECK(difference(Y, taken) < kTolerance);
  return count;
}

/// M, C, G and tau side by side.
std::vector<std::vector<double>> torques(const ChainView<double>& chain, const State& state) {
  const int n = chain.n;
  std::vector<double> M(n * n), C(n * n), G(n), tau(n);
  mass_coriolis(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), M.data(), C.data());
  gravity_vector(chain, thread_workspace(chain.n), state.q.data(), G.data());
  inverse_dynamics(chain, thread_workspace(chain.n), state.q.data(), state.dq.data(), state.ddq.data(), tau.data());
  return {M, C, G, tau};
}

void same_torques(const std::vector<std::vector<double>>& expected, const std::vector<std::vector<double>>& got) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    double scale = 1.0;  // zero torques are sums of large terms
    for (const double value : expected[0]) scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < expected[k].size(); ++i)
      CHECK(std::abs(expected[k][i] - got[k][i]) < 10.0 * kTolerance * scale);
  }
}

void regrouped(const RandomChain& original, const KnownNumbers& known, const State& state) {
  const ChainView<double> chain = original.view();
  RandomChain minimal = original;
  minimal_bodies(chain, known, minimal.bodies.view());
  same_torques(torques(chain, state), torques(minimal.view(), state));
  const MinimalChain moved(chain, known);
  same_torques(torques(chain, state), torques(moved.view(chain), state));
}

int zeros(const BodyInertia<double>& body) {
  BodyInertia<double> b = body;
  int count = 0;
  each(b, [&](double& x) { count += x == 0.0; });
  return count;
}

/// Moments of accelerated particles by second moments and by Euler's equation.
void rotation_moments() {
  Random random(5);
  const BodyInertia<double> body{0.0, {}, {4.0 + random(), random(), random(), 4.0 + random(), random(), 4.0 + random()}};
  const Motion<double> motion{random.vector(), random.vector(), {0.0, 0.0, 0.0}};
  const Vec3<double> euler = body_wrench(body, motion).n;
  const Vec3<double> moment = rotation_moment(skew_plus(motion.dw, centripetal(motion.w)), motion.w,
                                              second_moments<double>(body).J);
  CHECK(difference({euler.x, euler.y, euler.z}, {moment.x, moment.y, moment.z}) < kTolerance);
}

/// Seven revolute joints at right angles, the first one vertical.
RandomChain anthropomorphic() {
  Random random(3);
  RandomChain chain(7);
  chain.root.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  chain.gravity = {0.0, 0.0, -9.81};
  for (int i = 0; i < 7; ++i) chain.add_link(random, true);
  for (int i = 1; i < 7; ++i) chain.links[i].cos_alpha = 0.0, chain.links[i].sin_alpha = i % 2 ? 1.0 : -1.0;
  return chain;
}

/// 43, as is known of such arms.
void counts_base_parameters() {
  const RandomChain chain = anthropomorphic();
  const bool known[7] = {true, true, true, true, true, true, true};
  const OwnedJoints<BodyInertia, double> owned(7);
  const Joints<BodyInertia, double> bodies = owned.view();
  minimal_bodies(chain.view(), {known, known, true}, bodies);
  int numbers = 0;
  for (int i = 0; i < 7; ++i) {
    const BodyInertia<double> b = bodies.get(i);
    CHECK(b.m == 0.0 && b.h.z == 0.0 && b.I.zz == b.I.xx + b.I.yy);
    numbers += 10 - zeros(b) - 1;  // I_zz is the sum of the others
  }
  CHECK(numbers == 43);
}

}  // namespace

int main() {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const int n = 1 + static_cast<int>(seed % 9);
    const RandomChain chain(random, n);
    const State state(random, n);
    mass_and_coriolis(chain.view(), state);
    gravity(chain.view(), state);
    for (int joint = 0; joint <= n; ++joint) jacobians(chain.view(), state, joint, random);
    dependent_columns(chain.view(), state);
    bool bodies[kMaxJoints], steps[kMaxJoints];
    for (int i = 0; i < n; ++i) bodies[i] = steps[i] = true;
    regrouped(chain, {bodies, steps, true}, state);
    for (int i = 0; i < n; ++i) bodies[i] = random.chance(0.6), steps[i] = random.chance(0.8);
    regrouped(chain, {bodies, steps, random.chance(0.5)}, state);
  }
  rotation_moments();
  counts_base_parameters();
  Random random(7);
  RandomChain spherical = anthropomorphic();
  for (auto& link : spherical.links) link.p = {0.0, 0.0, 0.0};
  CHECK(dependent_columns(spherical.view(), State(random, 7)) == 3 * 6);  // m, mcz, Iyy of all links but the first
  return check::result();
}
