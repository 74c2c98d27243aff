// Pinocchio on the same arm, by the fastest of the ways it offers for each quantity. Tried and always slower, so
// not kept: the wheel's precompiled library instead of inlined headers, crba in the world convention, and C as half
// of d tau / d dq.
#include "arm.hpp"
#include "harness.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include <stdexcept>

namespace pin = pinocchio;
using Eigen::MatrixXd, Eigen::VectorXd;
using State = bench::State<VectorXd>;
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

namespace {

pin::Model make_model(const bench::Arm& arm) {
  pin::Model model;
  pin::JointIndex parent = 0;
  for (std::size_t i = 0; i < arm.links.size(); ++i) {
    const bench::Link& link = arm.links[i];
    const Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>> pose(link.pose.data());
    const pin::SE3 placement(Eigen::Matrix3d(pose.leftCols<3>()), Eigen::Vector3d(pose.col(3)));
    const std::string name = "joint" + std::to_string(i + 1);
    parent = link.prismatic ? model.addJoint(parent, pin::JointModelPZ(), placement, name)
                            : model.addJoint(parent, pin::JointModelRZ(), placement, name);
    const auto& p = link.inertia;  // Pinocchio's order of the inertia elements is its own
    Eigen::Matrix<double, 10, 1> dynamic;
    dynamic << p[0], p[1], p[2], p[3], p[4], p[5], p[7], p[6], p[8], p[9];
    model.appendBodyToJoint(parent, pin::Inertia::FromDynamicParameters(dynamic));
  }
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(arm.gravity.data());
  return model;
}

// What a user who wants Y_r writes today: Y is quadratic in the velocities, so two calls give the
// mixed term. The second call must not see gravity, hence the second model.
class SlotineLi {
 public:
  explicit SlotineLi(const pin::Model& model) : model_(model), free_(model), data_(model), free_data_(model) {
    free_.gravity.setZero();
    zero_ = half_sum_ = half_difference_ = VectorXd::Zero(model.nv);
  }

  void operator()(const State& s, MatrixXd& Yr) {
    half_sum_ = 0.5 * (s.dq + s.dq_r);
    half_difference_ = 0.5 * (s.dq - s.dq_r);
    pin::computeJointTorqueRegressor(model_, data_, s.q, half_sum_, s.ddq_r);
    pin::computeJointTorqueRegressor(free_, free_data_, s.q, half_difference_, zero_);
    Yr.noalias() = data_.jointTorqueRegressor - free_data_.jointTorqueRegressor;
  }

 private:
  const pin::Model& model_;
  pin::Model free_;
  pin::Data data_, free_data_;
  VectorXd zero_, half_sum_, half_difference_;
};

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("check failed: ") + what);
}

// A fast wrong answer is no opponent.
void check(const pin::Model& model, const std::vector<State>& states) {
  pin::Data data(model);
  SlotineLi slotine_li(model);
  MatrixXd Yr = MatrixXd::Zero(model.nv, 10 * model.nv);
  VectorXd pi(10 * model.nv);
  for (pin::JointIndex i = 1; i < pin::JointIndex(model.njoints); ++i) {
    pi.segment<10>(10 * Eigen::Index(i - 1)) = model.inertias[i].toDynamicParameters();
  }
  const VectorXd zero = VectorXd::Zero(model.nv);
  const double h = 1e-6;
  for (const State& s : states) {
    MatrixXd M = pin::crba(model, data, s.q);
    M.triangularView<Eigen::StrictlyLower>() = M.transpose();
    const MatrixXd C = pin::computeCoriolisMatrix(model, data, s.q, s.dq);
    const VectorXd G = pin::rnea(model, data, s.q, zero, zero);
    slotine_li(s, Yr);
    require((Yr * pi - M * s.ddq_r - C * s.dq_r - G).norm() < 1e-10 * (1 + G.norm()), "Y_r pi = M a_r + C v_r + G");
    require((pin::computeJointTorqueRegressor(model, data, s.q, s.dq, s.ddq) * pi -
             pin::rnea(model, data, s.q, s.dq, s.ddq)).norm() < 1e-10, "Y pi = tau");
    MatrixXd ahead = pin::crba(model, data, VectorXd(s.q + h * s.dq));
    MatrixXd behind = pin::crba(model, data, VectorXd(s.q - h * s.dq));
    const MatrixXd Mdot = (ahead - behind) / (2 * h);
    require(MatrixXd((Mdot - C - C.transpose()).triangularView<Eigen::Upper>()).norm() < 1e-6, "M_dot = C + C'");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  const pin::Model model = make_model(bench::read_arm(options.arm));
  const auto n = Eigen::Index(model.nv);
  const auto states = bench::random_states<VectorXd>(std::size_t(n), [](std::size_t k) { return VectorXd(k); });
  check(model, states);

  pin::Data data(model);
  const pin::JointIndex tip = pin::JointIndex(model.njoints - 1);
  Jacobian J = Jacobian::Zero(6, n);
  MatrixXd Mdot = MatrixXd::Zero(n, n), Y = MatrixXd::Zero(n, 10 * n);
  VectorXd tau = VectorXd::Zero(n), p = tau;
  bench::Bench measure("Pinocchio", std::size_t(n), options);

  const auto aligned = pin::LOCAL_WORLD_ALIGNED;
  measure("J", "computeJointJacobians + getJointJacobian", states, J, [&](const State& s) {
    pin::computeJointJacobians(model, data, s.q);
    pin::getJointJacobian(model, data, tip, aligned, J);
  });
  measure("J", "computeJointJacobian, rotated", states, J, [&](const State& s) {
    pin::computeJointJacobian(model, data, s.q, tip, J);  // in tip axes; iMf[0] is the tip's pose
    const Eigen::Matrix3d R = data.iMf[0].rotation();
    for (Eigen::Index i = 0; i < n; ++i) {
      J.col(i).head<3>() = R * J.col(i).head<3>();
      J.col(i).tail<3>() = R * J.col(i).tail<3>();
    }
  });
  measure("J_dot", "computeJointJacobiansTimeVariation + get", states, J, [&](const State& s) {
    pin::computeJointJacobiansTimeVariation(model, data, s.q, s.dq);
    pin::getJointJacobianTimeVariation(model, data, tip, aligned, J);
  });

  measure("M", "crba, symmetrized", states, data.M, [&](const State& s) {
    pin::crba(model, data, s.q);
    data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
  });
  measure("M upper", "crba", states, data.M, [&](const State& s) { pin::crba(model, data, s.q); });
  measure("M + C", "crba + computeCoriolisMatrix", states, data.C, [&](const State& s) {
    pin::crba(model, data, s.q);
    pin::computeCoriolisMatrix(model, data, s.q, s.dq);
  });
  measure("C + M_dot", "computeCoriolisMatrix", states, Mdot, [&](const State& s) {
    pin::computeCoriolisMatrix(model, data, s.q, s.dq);
    Mdot.noalias() = data.C + data.C.transpose();
  });
  measure("M + C + M_dot", "crba, symmetrized, + computeCoriolisMatrix", states, std::tie(data.M, data.C, Mdot),
          [&](const State& s) {
            pin::crba(model, data, s.q);
            data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
            pin::computeCoriolisMatrix(model, data, s.q, s.dq);
            Mdot.noalias() = data.C + data.C.transpose();
          });
  measure("G", "computeGeneralizedGravity", states, data.g,
          [&](const State& s) { pin::computeGeneralizedGravity(model, data, s.q); });
  measure("inverse dynamics", "rnea", states, data.tau, [&](const State& s) { pin::rnea(model, data, s.q, s.dq, s.ddq); });
  measure("forward dynamics", "aba local", states, data.ddq,
          [&](const State& s) { pin::aba(model, data, s.q, s.dq, s.tau, pin::Convention::LOCAL); });
  measure("forward dynamics", "aba world", states, data.ddq,
          [&](const State& s) { pin::aba(model, data, s.q, s.dq, s.tau, pin::Convention::WORLD); });

  measure("inverse dynamics derivatives", "computeRNEADerivatives, M symmetrized", states,
          std::tie(data.dtau_dq, data.dtau_dv, data.M), [&](const State& s) {
            pin::computeRNEADerivatives(model, data, s.q, s.dq, s.ddq);
            data.M.triangularView<Eigen::StrictlyLower>() = data.M.transpose();
          });
  measure("forward dynamics derivatives", "computeABADerivatives, M^-1 symmetrized", states,
          std::tie(data.ddq_dq, data.ddq_dv, data.Minv), [&](const State& s) {
            pin::computeABADerivatives(model, data, s.q, s.dq, s.tau);
            data.Minv.triangularView<Eigen::StrictlyLower>() = data.Minv.transpose();
          });
  measure("tau_r", "crba + computeCoriolisMatrix + gravity", states, tau, [&](const State& s) {
    pin::crba(model, data, s.q);
    pin::computeCoriolisMatrix(model, data, s.q, s.dq);
    tau = pin::computeGeneralizedGravity(model, data, s.q);
    tau.noalias() += data.M.selfadjointView<Eigen::Upper>() * s.ddq_r;
    tau.noalias() += data.C * s.dq_r;
  });
  measure("p + C' dq", "crba + computeCoriolisMatrix", states, tau, [&](const State& s) {
    pin::crba(model, data, s.q);
    pin::computeCoriolisMatrix(model, data, s.q, s.dq);
    p.noalias() = data.M.selfadjointView<Eigen::Upper>() * s.dq;
    tau.noalias() = data.C.transpose() * s.dq;
  });
  measure("Y", "computeJointTorqueRegressor", states, data.jointTorqueRegressor,
          [&](const State& s) { pin::computeJointTorqueRegressor(model, data, s.q, s.dq, s.ddq); });
  SlotineLi slotine_li(model);
  measure("Y_r", "two regressors, polarized", states, Y, [&](const State& s) { slotine_li(s, Y); });
}
