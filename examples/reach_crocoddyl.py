"""A Panda reaches for a target by crocoddyl on this package's derivatives: `python examples/reach_crocoddyl.py`.

The action model of docs/optimal_control.md, with crocoddyl's own model of the same problem to compare. The wheel of
crocoddyl 3.2.1 is built for Pinocchio 4.0: `pip install crocoddyl "pin<4.1"`.
"""

from __future__ import annotations

import tempfile

import crocoddyl
import numpy as np
import pinocchio

import thunder_py as th

START = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
NODES, DT = 20, 0.02  # horizon of 0.4 s


class Reach(crocoddyl.DifferentialActionModelAbstract):
    """Dynamics ddq(q, dq, tau), cost |r|^2 / 2 with r = W [p(q) - target, dq, tau - G(q)], p the hand's position."""

    def __init__(self, robot: th.Robot, target: np.ndarray) -> None:
        n = robot.n
        super().__init__(crocoddyl.StateVector(2 * n), n, 3 + 2 * n)
        self.robot, self.target = robot, target
        self.weights = np.hstack([[10.0] * 3, 1.0 / robot.limits.velocity, 1.0 / robot.limits.effort])
        self.costate = None  # of ddq, (n,); with it the Hessian is that of the Lagrangian and not Gauss-Newton's

    def calc(self, data, x, tau=None):
        """Compute acceleration and cost; the last node has no torque."""
        robot, n = self.robot, self.robot.n
        r = np.zeros(3 + 2 * n)
        r[:3] = robot.forward_kinematics(x[:n])[:3, 3] - self.target
        r[3 : 3 + n] = x[n:]
        if tau is not None:
            data.xout = robot.forward_dynamics(x[:n], x[n:], tau)
            r[3 + n :] = tau - robot.gravity_vector(x[:n])
        data.r = self.weights * r
        data.cost = 0.5 * data.r @ data.r

    def calcDiff(self, data, x, tau=None):
        """Compute their derivatives, after `calc`."""
        robot, n, z = self.robot, self.robot.n, np.zeros(self.robot.n)
        R = np.eye(3 + 2 * n, 3 * n, n - 3)  # of the residuals by (q, dq, tau)
        R[:3, :n], R[:3, n:] = robot.jacobian(x[:n])[:3], 0.0
        if tau is None:
            R[3 + n :] = 0.0
        else:
            d = robot.forward_dynamics_derivatives(x[:n], x[n:], tau)
            data.Fx, data.Fu = np.hstack([d.ddq_dq, d.ddq_dv]), d.Minv
            R[3 + n :, :n] = -robot.inverse_dynamics_derivatives(x[:n], z, z).dtau_dq
        R *= self.weights[:, None]
        gradient, H = R.T @ data.r, R.T @ R
        if self.costate is not None:
            H[:n, :n] += np.tensordot(self.weights[:3] * data.r[:3], robot.jacobian_derivative(x[:n])[:3], 1)
            H += 0.0 if tau is None else self.curvature(x[:n], x[n:], tau, self.weights[-n:] * data.r[-n:])
        data.Lx, data.Lu = gradient[: 2 * n], gradient[2 * n :]
        data.Lxx, data.Lxu, data.Luu = H[: 2 * n, : 2 * n], H[: 2 * n, 2 * n :], H[2 * n :, 2 * n :]

    def curvature(self, q, dq, tau, effort):
        """Return second derivatives, by (q, dq, tau), of ddq weighted by the costate and of tau - G(q) by `effort`."""
        d = self.robot.forward_dynamics_second_derivatives(q, dq, tau)
        qq, vq, vv, uq = (
            np.tensordot(self.costate, by, 1) for by in (d.d2ddq_dqdq, d.d2ddq_dvdq, d.d2ddq_dvdv, d.dMinv_dq)
        )
        gravity = self.robot.inverse_dynamics_second_derivatives(q, 0.0 * q, 0.0 * q).d2tau_dqdq
        none = np.zeros_like(qq)
        return np.block([[qq - np.tensordot(effort, gravity, 1), vq.T, uq.T], [vq, vv, none], [uq, none, none]])


class SecondOrder(crocoddyl.CallbackAbstract):
    """Give the nodes, each a model of its own, the costates of the last iteration, once that was near the solution."""

    def __call__(self, solver):
        """Take gradients of the value function through the Euler steps."""
        if solver.stop > 0.1:  # Gauss-Newton's steps are better far from the solution
            return
        for node, V_x in zip(solver.problem.runningModels, list(solver.Vx)[1:], strict=True):
            by_q, by_dq = np.split(np.array(V_x), 2)
            node.differential.costate = node.dt * by_q + by_dq
        solver.problem.terminalModel.differential.costate = 0.0  # no dynamics there


def own_model(robot: th.Robot, target: np.ndarray, last: bool = False):
    """Return crocoddyl's own model of the same problem, on Pinocchio; the last node has no torque."""
    with tempfile.TemporaryDirectory() as folder:
        robot.save(f"{folder}/robot.urdf")
        state = crocoddyl.StateMultibody(pinocchio.buildModelFromUrdf(f"{folder}/robot.urdf"))
    n, weights = robot.n, Reach(robot, target).weights ** 2
    hand = crocoddyl.ResidualModelFrameTranslation(state, state.pinocchio.getFrameId("tool"), target, n)
    residuals = [
        (hand, weights[:3]),
        (crocoddyl.ResidualModelState(state, n), np.hstack([np.zeros(n), weights[3 : 3 + n]])),
        (crocoddyl.ResidualModelControlGrav(state, n), weights[3 + n :]),
    ]
    cost = crocoddyl.CostModelSum(state, n)
    for k, (residual, weight) in enumerate(residuals[:2] if last else residuals):
        activation = crocoddyl.ActivationModelWeightedQuad(weight)
        cost.addCost(str(k), crocoddyl.CostModelResidual(state, activation, residual), 1.0)
    return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, crocoddyl.ActuationModelFull(state), cost)


def problem(robot: th.Robot, models: list, last) -> crocoddyl.ShootingProblem:
    """Discretize by semi-implicit Euler steps, with limits of torques for solvers that know them."""
    nodes = [crocoddyl.IntegratedActionModelEuler(model, DT) for model in models]
    for node in nodes:
        node.u_lb, node.u_ub = -robot.limits.effort, robot.limits.effort
    x = np.hstack([START, np.zeros(robot.n)])
    return crocoddyl.ShootingProblem(x, nodes, crocoddyl.IntegratedActionModelEuler(last, 0.0))


def solved(solver, robot: th.Robot):
    """Solve from the start at rest, with the torque that holds it."""
    solver.th_stop = 1e-12
    solver.solve([solver.problem.x0] * (NODES + 1), [robot.gravity_vector(START)] * NODES, 200, False)
    return solver


def main() -> dict[str, tuple[float, int]]:
    """Solve with Gauss-Newton Hessians, exact ones, and crocoddyl's own model; return costs and iterations."""
    robot = th.Robot.load("panda")
    target = robot.forward_kinematics(START)[:3, 3] + [0.3, 0.5, -0.3]
    ours = [Reach(robot, target) for _ in range(NODES + 1)]
    own = [own_model(robot, target)] * NODES + [own_model(robot, target, last=True)]
    results = {}
    for name, models in (("first derivatives", ours), ("second derivatives", ours), ("crocoddyl's own model", own)):
        solver = crocoddyl.SolverFDDP(problem(robot, models[:-1], models[-1]))
        solver.setCallbacks([SecondOrder()] if name.startswith("second") else [])
        solved(solver, robot)
        print(f"{name:21} cost {solver.cost:.12f} after {solver.iter} iterations, stopping criterion {solver.stop:.0e}")
        results[name] = (solver.cost, solver.iter)
    return results


if __name__ == "__main__":
    main()
