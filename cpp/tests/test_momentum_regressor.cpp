// The momentum's regressors against the derivative of the mass regressor along the motion: C' dq = M_dot dq - C dq.
#include <vector>

#include "arms.hpp"
#include "check.hpp"
#include "thunder/dynamics/momentum_regressor.hpp"
#include "thunder/kernels/kernels.hpp"
#include "thunder/math/dual.hpp"

using namespace thunder;
using Eigen::VectorXd;

namespace {

void check_model(const Model& model, const VectorXd& q, const VectorXd& dq) {
  const ChainView<double> chain = model.view();
  const int n = model.n(), size = n * model.parameter_count();
  std::vector<double> P(size), D(size), G(size), C(size), weight(size);
  const WorkspaceMemory memory(workspace_bytes(n, sizeof(Dual<double>)));
  Workspace work = memory.view();
  momentum_regressors(chain, work, q.data(), dq.data(), P.data(), D.data(), G.data());
  gravity_regressor(chain, work, q.data(), weight.data());

  std::vector<Dual<double>> moving(n), velocity(n);
  for (int i = 0; i < n; ++i) {
    moving[i] = {q[i], dq[i]};
    velocity[i] = Dual<double>(dq[i]);
  }
  std::vector<Dual<double>> M(size);
  mass_regressor(chain, work, moving.data(), velocity.data(), M.data());
  coriolis_regressor(chain, work, q.data(), dq.data(), dq.data(), C.data());
  for (int k = 0; k < size; ++k) {
    CHECK(std::abs(P[k] - M[k].a) < 1e-12);
    CHECK(std::abs(D[k] - (M[k].b - C[k])) < 1e-12);
    CHECK(std::abs(G[k] - weight[k]) < 1e-12);
  }
}

}  // namespace

int main() {
  for (const auto& model : {arms::panda(), arms::everything()}) {
    const VectorXd q = arms::posture(), dq = VectorXd::LinSpaced(7, -1.0, 1.3);
    check_model(*model, q, dq);
    check_model(*model, VectorXd::Zero(7), dq);
  }
  return check::result();
}
