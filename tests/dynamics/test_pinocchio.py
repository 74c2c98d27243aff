import functools
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import thunder_py as th
from tests.dynamics.numerics import Array, assert_close, derivative, path
from tests.dynamics.random_chains import KINDS, Case, random_case
from tests.symbolic.states import bundled
from thunder_py.errors import ThunderError
from thunder_py.model.inertia import pseudo_inertia, reg_from_pseudo_inertia

COLLECTION = Path(__file__).parents[2].parent / "shared" / "data" / "robots"
WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
Z = np.array([0.0, 0.0, 1.0])
#: REG order -> Pinocchio's [m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]
PIN_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def se3(T: Array) -> pin.SE3:
    return pin.SE3(T[:3, :3], T[:3, 3])


class Oracle(NamedTuple):
    """The arm in Pinocchio: joints 1..n are ours, the others its rotors, as bodies on joints of their own.

    Rotors are tied to the arm by ``dq_all = A dq`` with constant A, so every matrix of the arm is that of all joints
    with A on both sides, the Christoffel C included.
    """

    case: Case
    model: Any
    data: Any
    A: Array

    def mass_matrix(self, q: Array) -> Array:
        M = np.triu(pin.crba(self.model, self.data, self.A @ q))
        return self.A.T @ (M + np.triu(M, 1).T) @ self.A

    def coriolis_matrix(self, q: Array, dq: Array) -> Array:
        return self.A.T @ pin.computeCoriolisMatrix(self.model, self.data, self.A @ q, self.A @ dq) @ self.A

    def gravity_vector(self, q: Array) -> Array:
        return self.A.T @ pin.computeGeneralizedGravity(self.model, self.data, self.A @ q)

    def inverse_dynamics(self, q: Array, dq: Array, ddq: Array) -> Array:
        return self.A.T @ pin.rnea(self.model, self.data, self.A @ q, self.A @ dq, self.A @ ddq)

    def forward_dynamics(self, q: Array, dq: Array, tau: Array) -> Array:
        if len(self.A) == len(q):
            return pin.aba(self.model, self.data, q, dq, tau)
        return np.linalg.solve(self.mass_matrix(q), tau - self.inverse_dynamics(q, dq, np.zeros_like(q)))

    def inverse_dynamics_derivatives(self, q: Array, dq: Array, ddq: Array) -> tuple[Array, Array]:
        """By q and by dq."""
        by_q, by_dq, _ = pin.computeRNEADerivatives(self.model, self.data, self.A @ q, self.A @ dq, self.A @ ddq)
        return self.A.T @ by_q @ self.A, self.A.T @ by_dq @ self.A

    def forward_dynamics_derivatives(self, q: Array, dq: Array, tau: Array) -> tuple[Array, Array, Array]:
        """By q, by dq and by tau."""
        if len(self.A) == len(q):
            by_q, by_dq, by_tau = pin.computeABADerivatives(self.model, self.data, q, dq, tau)
            return by_q, by_dq, np.triu(by_tau) + np.triu(by_tau, 1).T
        inverse = np.linalg.inv(self.mass_matrix(q))
        by_q, by_dq = self.inverse_dynamics_derivatives(q, dq, self.forward_dynamics(q, dq, tau))
        return -inverse @ by_q, -inverse @ by_dq, inverse

    def regressor(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Y in our order: link parameters in link frames, rotor inertias, armature."""
        Y = pin.computeJointTorqueRegressor(self.model, self.data, self.A @ q, self.A @ dq, self.A @ ddq)
        Y = self.A.T @ Y.reshape(len(self.A), -1)  # Pinocchio returns a single row or column as a vector
        return self.in_our_order(Y, np.diag(ddq))

    def energy_regressors(self, q: Array, dq: Array) -> tuple[Array, Array]:
        """Regressors of kinetic and potential energy in our order."""
        T = pin.computeKineticEnergyRegressor(self.model, self.data, self.A @ q, self.A @ dq)
        U = pin.computePotentialEnergyRegressor(self.model, self.data, self.A @ q)
        armatures = 0.5 * dq[None] ** 2
        return self.in_our_order(T[None], armatures)[0], self.in_our_order(U[None], 0 * armatures)[0]

    def in_our_order(self, Y: Array, armatures: Array) -> Array:
        """Columns of Pinocchio's regressor and those of armatures in our order."""
        d, columns = self.case.robot.description, []
        for i, offset in enumerate(d.offsets):
            in_joint = reg_from_pseudo_inertia(offset @ pseudo_inertia(np.eye(10)) @ offset.T)
            columns.append(Y[:, 10 * i : 10 * i + 10] @ in_joint[:, PIN_ORDER].T)
        for rotor in d.rotors:
            k = self.model.getJointId(f"rotor{rotor.joint}") - 1
            columns.append(Y[:, 10 * k + 9 : 10 * k + 10])
        if d.armature is not None:
            columns.append(armatures)
        return np.hstack(columns)

    def frame(self, name: str, q: Array, dq: Array) -> tuple[Array, Array, Array]:
        """Pose, J and J_dot of a frame."""
        model, data, index = self.model, self.data, self.model.getFrameId(name)
        pin.computeJointJacobiansTimeVariation(model, data, self.A @ q, self.A @ dq)
        pin.updateFramePlacements(model, data)
        J = pin.getFrameJacobian(model, data, index, WORLD_AXES)
        J_dot = pin.getFrameJacobianTimeVariation(model, data, index, WORLD_AXES)
        return data.oMf[index].homogeneous, J.reshape(6, -1)[:, : len(q)], J_dot.reshape(6, -1)[:, : len(q)]


def body_of(row: Array) -> Any:
    """A link's parameters in Pinocchio, which divides by the mass."""
    if row[0] > 0.0:
        return pin.Inertia.FromDynamicParameters(row[PIN_ORDER])
    assert not row[1:4].any()
    return pin.Inertia(0.0, np.zeros(3), row[[4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(3, 3))


def build(case: Case) -> Oracle:
    d = case.robot.description
    model = pin.Model()
    model.gravity = pin.Motion(np.array(d.gravity), np.zeros(3))
    links = [se3(d.base)]  # link frames in their joint frames
    for i, kind in enumerate(d.joint_types):
        joint = (pin.JointModelRevoluteUnaligned if kind == "R" else pin.JointModelPrismaticUnaligned)(d.axes[i])
        model.addJoint(i, joint, links[i] * se3(d.placements[i]), f"joint{i + 1}")
        links.append(se3(d.offsets[i]))
        model.appendBodyToJoint(i + 1, body_of(d.inertial[i]), links[-1])
    frames = {"base": (0, np.eye(4)), "tool": (d.n, d.tool), **d.frames}
    frames |= {name: (i, np.eye(4)) for i, name in enumerate(d.link_names, start=1)}
    for name, (link, pose) in frames.items():
        model.addFrame(pin.Frame(name, link, links[link] * se3(pose), pin.FrameType.OP_FRAME))
    rest = model.createData()
    pin.forwardKinematics(model, rest, np.zeros(d.n))
    A = [*np.eye(d.n)]
    # Pinocchio wants the tree depth first: back from the tip
    for rotor in sorted(d.rotors, key=lambda rotor: -(rotor.joint - 1 if rotor.carrier is None else rotor.carrier)):
        carrier = rotor.joint - 1 if rotor.carrier is None else rotor.carrier
        axis = rotor.axis
        if axis is None:
            in_world = rest.oMi[rotor.joint].rotation @ d.axes[rotor.joint - 1]
            axis = (rest.oMi[carrier] * links[carrier]).rotation.T @ in_world
        spin = pin.SE3(pin.Quaternion.FromTwoVectors(Z, np.array(axis)).matrix(), np.zeros(3))
        index = model.addJoint(carrier, pin.JointModelRZ(), links[carrier] * spin, f"rotor{rotor.joint}")
        body = pin.Inertia(0.0, np.zeros(3), np.diag([0.0, 0.0, rotor.inertia]))
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
        A.append(rotor.gear_ratio * np.eye(d.n)[rotor.joint - 1])
    if d.armature is not None:
        model.armature = np.concatenate([d.armature, np.zeros(len(d.rotors))])
    return Oracle(case, model, model.createData(), np.array(A))


@functools.cache
def chain(seed: int) -> Oracle:
    rng = np.random.default_rng([seed, 2])
    n = 40 if seed == 50 else 1 + seed % 12
    return build(random_case(seed, n, rng.choice(KINDS), rotors=rng.random() < 0.4, armature=rng.random() < 0.4))


@pytest.fixture(params=[*range(24), 50])
def oracle(request: pytest.FixtureRequest) -> Oracle:
    return chain(request.param)


def test_frames(oracle):
    robot, q, dq = oracle.case[:3]
    for name in robot.frame_names:
        T, J, J_dot = oracle.frame(name, q, dq)
        assert_close(robot.forward_kinematics(q, name), T, 1e-9)
        assert_close(robot.jacobian(q, name), J, 1e-9)
        assert_close(robot.jacobian_dot(q, dq, name), J_dot, 1e-9)


def test_dynamics(oracle):
    robot, q, dq, ddq, *_ = oracle.case
    M, C, tau = oracle.mass_matrix(q), oracle.coriolis_matrix(q, dq), oracle.inverse_dynamics(q, dq, ddq)
    assert_close(robot.mass_matrix(q), M, 1e-9)
    assert_close(robot.coriolis_matrix(q, dq), C, 1e-9)
    assert_close(robot.gravity_vector(q), oracle.gravity_vector(q), 1e-9)
    assert_close(robot.inverse_dynamics(q, dq, ddq), tau, 1e-9)
    assert_close(robot.forward_dynamics(q, dq, tau), oracle.forward_dynamics(q, dq, tau), 1e-9)
    assert_close(robot.generalized_momentum(q, dq), M @ dq, 1e-9)
    assert_close(robot.momentum_drift(q, dq), C.T @ dq, 1e-9)
    slow = dq / max(1.0, np.abs(dq).sum() / 8)  # enough for the difference formula
    assert_close(robot.mass_matrix_dot(q, slow), derivative(lambda t: oracle.mass_matrix(path(q, slow)(t))), 1e-9)


def test_regressors(oracle):
    robot, q, dq, ddq, *_ = oracle.case
    kinetic, potential = oracle.energy_regressors(q, dq)
    assert_close(robot.regressor(q, dq, ddq), oracle.regressor(q, dq, ddq), 1e-9)
    assert_close(robot.kinetic_energy_regressor(q, dq), kinetic, 1e-9)
    assert_close(robot.potential_energy_regressor(q), potential, 1e-9)


def assert_dynamics_derivatives(oracle):
    robot, q, dq, ddq, *_ = oracle.case
    actual = robot.inverse_dynamics_derivatives(q, dq, ddq)
    assert_close(actual[:2], oracle.inverse_dynamics_derivatives(q, dq, ddq), 1e-9)
    assert_close(actual.M, oracle.mass_matrix(q), 1e-9)
    tau = oracle.inverse_dynamics(q, dq, ddq)
    for ours, theirs in zip(
        robot.forward_dynamics_derivatives(q, dq, tau), oracle.forward_dynamics_derivatives(q, dq, tau), strict=True
    ):
        assert_close(ours, theirs, 1e-9)


def test_dynamics_derivatives(oracle):
    assert_dynamics_derivatives(oracle)


@pytest.mark.parametrize("name", bundled())
def test_dynamics_derivatives_of_bundled_arms(name):
    robot = th.Robot.load(name).replace(friction=None)  # which Pinocchio computes differently
    assert_dynamics_derivatives(build(Case(robot, *np.random.default_rng(4).normal(size=(5, robot.n)))))


@pytest.mark.parametrize("seed", range(0, 7))
def test_second_derivatives(seed):
    """Against differences of Pinocchio's first derivatives."""
    oracle = chain(seed)
    robot, q, dq, ddq, *_ = oracle.case
    q, dq, ddq = q, dq / 2, ddq / 2
    tau = oracle.inverse_dynamics(q, dq, ddq)
    inverse, forward = oracle.inverse_dynamics_derivatives, oracle.forward_dynamics_derivatives

    def by(f):
        return np.moveaxis([derivative(lambda t, e=e: np.array(f(t * e))) for e in np.eye(robot.n)], 0, -1)

    second = robot.inverse_dynamics_second_derivatives(q, dq, ddq)
    assert_close([second.d2tau_dqdq, second.d2tau_dvdq], by(lambda e: inverse(q + e, dq, ddq)), 1e-8)
    assert_close(second.d2tau_dvdv, by(lambda e: inverse(q, dq + e, ddq))[1], 1e-8)
    assert_close(second.dM_dq, by(lambda e: oracle.mass_matrix(q + e)), 1e-8)
    second = robot.forward_dynamics_second_derivatives(q, dq, tau)
    for ours, theirs in zip(second[:3], by(lambda e: forward(q + e, dq, tau)), strict=True):
        assert_close(ours, theirs, 1e-8)
    assert_close(second.d2ddq_dvdv, by(lambda e: forward(q, dq + e, tau))[1], 1e-8)


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_jacobian_derivative(seed):
    """Against differences of Pinocchio's Jacobians."""
    oracle = chain(seed)
    robot, q, dq, *_ = oracle.case
    for name in robot.frame_names:
        expected = [derivative(lambda t, e=e, name=name: oracle.frame(name, q + t * e, dq)[1]) for e in np.eye(robot.n)]
        assert_close(robot.jacobian_derivative(q, name), np.moveaxis(expected, 0, -1), 1e-9)


def rank(robot: th.Robot, seed: int) -> int:
    """Rank of Pinocchio's regressor, at random states; columns of m, mc and I divided by their longest one."""
    arm = build(Case(robot, *np.zeros((5, robot.n))))
    states = np.random.default_rng(seed).uniform(-2.0, 2.0, (60, 3, robot.n))
    W = np.concatenate([arm.regressor(*state) for state in states]).reshape(-1, robot.n, 10)
    lengths = np.linalg.norm(W, axis=0).max(axis=0)
    size = np.repeat([lengths[0], lengths[1:4].max(), lengths[4:].max()], [1, 3, 6])
    size[size < 1e-9] = np.inf
    singular = np.linalg.svd((W / size).reshape(-1, 10 * robot.n), compute_uv=False)
    return int(np.sum(singular > 1e-4 * singular[0]))


@pytest.mark.release
@pytest.mark.skipif(not COLLECTION.is_dir(), reason="needs ../shared/data")
def test_base_parameters_of_a_collection():
    """As many as Pinocchio's regressor has independent columns, at any states, though files round their angles."""
    counted = 0
    for file in sorted(p for folder in ("urdf", "vendor") for p in (COLLECTION / folder).iterdir()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                robot = th.Robot.load(file).replace(friction=None)
            except ThunderError:
                continue
        if robot.n > 1:
            assert {rank(robot, seed) for seed in range(4)} == {robot.base_parameters().count}, file.name
            counted += 1
    assert counted > 100
