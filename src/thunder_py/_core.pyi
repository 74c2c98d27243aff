"""Types of the compute core; made by tools/make_stubs.py."""

from __future__ import annotations

import collections.abc
import enum
import typing

import numpy
import numpy.typing

__all__: list[str] = [
    "ACT",
    "MACT",
    "AdaptationLaw",
    "Backstepping",
    "Box",
    "Capsule",
    "CartesianComputedTorque",
    "CartesianMACT",
    "Clik",
    "ComputedTorque",
    "Controller",
    "DerivativeEstimator",
    "Expression",
    "FourierSeries",
    "Function",
    "GradientLaw",
    "Graph",
    "HalfSpace",
    "Impedance",
    "IndependentJoint",
    "InverseKinematics",
    "JointController",
    "JointReferenceSource",
    "JointTrajectory",
    "Lissajous",
    "Model",
    "NaturalLaw",
    "NullObjective",
    "Obstacle",
    "OperationalSpace",
    "PDGravity",
    "PassivityBased",
    "PiecewisePolynomial",
    "PotentialField",
    "RobustUnitVector",
    "SampledJointReference",
    "SetPoint",
    "SetPose",
    "Sinusoid",
    "SlotineLi",
    "Sphere",
    "SphericalWrist",
    "Status",
    "SymbolicChain",
    "TaskController",
    "TaskPath",
    "TaskReferenceSource",
    "build_config",
    "emit_c",
    "jacobian",
    "quantities",
    "select",
    "simulate",
]

class Model:
    @staticmethod
    def _use_instruction_set(name: str) -> None: ...
    def __init__(
        self,
        *,
        name: str,
        prismatic: collections.abc.Sequence[bool],
        placements: typing.Any,
        axes: typing.Any,
        offsets: typing.Any,
        inertial: typing.Any,
        gravity: typing.Any,
        base: typing.Any,
        tool: typing.Any,
        friction_terms: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        friction: typing.Any,
        friction_delta: typing.SupportsFloat | typing.SupportsIndex,
        armature: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        rotors: list[tuple[typing.Any, ...]],
        elastic: tuple[typing.Any, ...],
        joint_names: collections.abc.Sequence[str],
        link_names: collections.abc.Sequence[str],
        frames: list[tuple[typing.Any, ...]],
    ) -> None: ...
    def christoffel_symbols(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_blocks(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_matrix(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_matrix_algebra(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_matrix_christoffel(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_matrix_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        d3q: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_matrix_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def coriolis_regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def elastic_damping_regressor(
        self,
        dq: numpy.typing.ArrayLike,
        dx: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def elastic_damping_torque(
        self,
        dq: numpy.typing.ArrayLike,
        dx: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def elastic_forward_dynamics(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike,
        dx: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def elastic_regressor(
        self,
        q: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def elastic_torque(
        self,
        q: numpy.typing.ArrayLike,
        x: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def forward_dynamics(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def forward_kinematics(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def friction_regressor(
        self, dq: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def friction_torque(
        self, dq: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def gravity_blocks(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def gravity_regressor(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def gravity_vector(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def gravity_vector_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def gravity_vector_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def inverse_dynamics(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def jacobian(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def jacobian_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def jacobian_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def kinetic_energy(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> typing.Any: ...
    def manipulability(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        rows: collections.abc.Sequence[int] | None = None,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> typing.Any: ...
    def mass_blocks(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def mass_matrix(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def mass_matrix_ddot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def mass_matrix_derivative(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def mass_matrix_dot(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def mass_regressor(
        self,
        q: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def motor_damping_regressor(
        self, dx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def motor_damping_torque(
        self, dx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def motor_inertia_regressor(
        self, ddx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def motor_inertia_torque(
        self, ddx: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def operational_space_inertia(
        self,
        q: numpy.typing.ArrayLike,
        frame: int | str | None = None,
        *,
        rows: collections.abc.Sequence[int] | None = None,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def potential_energy(
        self, q: numpy.typing.ArrayLike, *, out: numpy.typing.NDArray[numpy.float64] | None = None, threads: int = 1
    ) -> typing.Any: ...
    def regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        ddq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def slotine_li_regressor(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        dq_r: numpy.typing.ArrayLike,
        ddq_r: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def e(self) -> int: ...
    @property
    def frame_names(self) -> tuple[str, ...]: ...
    @property
    def n(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def p(self) -> int: ...
    @property
    def parameter_names(self) -> tuple[str, ...]: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...

class Status(enum.IntEnum):
    diverged = ...
    invalid_input = ...
    ok = ...
    saturated = ...
    singular = ...

class JointReferenceSource:
    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def sample(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...

class TaskReferenceSource:
    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def sample(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...

class SetPoint(JointReferenceSource):
    def __init__(self, q: numpy.typing.ArrayLike) -> None: ...

class Sinusoid(JointReferenceSource):
    def __init__(
        self,
        amplitude: numpy.typing.ArrayLike,
        frequency: numpy.typing.ArrayLike,
        centre: numpy.typing.ArrayLike,
        phase: numpy.typing.ArrayLike,
    ) -> None: ...

class SetPose(TaskReferenceSource):
    def __init__(self, p: numpy.typing.ArrayLike, R: numpy.typing.ArrayLike) -> None: ...

class Lissajous(TaskReferenceSource):
    def __init__(
        self,
        amplitude: numpy.typing.ArrayLike,
        frequency: numpy.typing.ArrayLike,
        centre: numpy.typing.ArrayLike,
        orientation: numpy.typing.ArrayLike,
        t0: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...

class AdaptationLaw:
    @property
    def size(self) -> int: ...

class GradientLaw(AdaptationLaw):
    def __init__(
        self,
        Gamma: numpy.typing.ArrayLike,
        size: typing.SupportsInt | typing.SupportsIndex,
        lower: numpy.typing.ArrayLike | None,
        upper: numpy.typing.ArrayLike | None,
        dead_zone: numpy.typing.ArrayLike | None,
    ) -> None: ...

class NaturalLaw(AdaptationLaw):
    def __init__(
        self, gamma: numpy.typing.ArrayLike, rest: numpy.typing.ArrayLike, dead_zone: numpy.typing.ArrayLike | None
    ) -> None: ...

class PiecewisePolynomial:
    def __init__(self, breaks: numpy.typing.ArrayLike, coefficients: numpy.typing.ArrayLike) -> None: ...
    def at(
        self, t: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[
        numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
    ]: ...

class FourierSeries(JointReferenceSource):
    def __init__(
        self,
        a: numpy.typing.ArrayLike,
        b: numpy.typing.ArrayLike,
        q0: numpy.typing.ArrayLike,
        fundamental: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...

class JointTrajectory(JointReferenceSource):
    def __init__(self, breaks: numpy.typing.ArrayLike, coefficients: numpy.typing.ArrayLike) -> None: ...

class TaskPath(TaskReferenceSource):
    def __init__(
        self,
        p: numpy.typing.ArrayLike,
        R: numpy.typing.ArrayLike,
        laws: collections.abc.Sequence[PiecewisePolynomial],
        portions: numpy.typing.ArrayLike,
        turn_laws: collections.abc.Sequence[PiecewisePolynomial],
        turns: numpy.typing.ArrayLike,
    ) -> None: ...

class Obstacle:
    def nearest(
        self, points: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...

class Sphere(Obstacle):
    def __init__(self, centre: numpy.typing.ArrayLike, radius: typing.SupportsFloat | typing.SupportsIndex) -> None: ...

class Box(Obstacle):
    def __init__(
        self, centre: numpy.typing.ArrayLike, R: numpy.typing.ArrayLike, half: numpy.typing.ArrayLike
    ) -> None: ...

class Capsule(Obstacle):
    def __init__(
        self, a: numpy.typing.ArrayLike, b: numpy.typing.ArrayLike, radius: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...

class HalfSpace(Obstacle):
    def __init__(self, point: numpy.typing.ArrayLike, normal: numpy.typing.ArrayLike) -> None: ...

class PotentialField:
    def __init__(
        self,
        model: Model,
        obstacles: collections.abc.Sequence[Obstacle],
        goal: numpy.typing.ArrayLike,
        links: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        offsets: numpy.typing.ArrayLike,
        attraction: typing.SupportsFloat | typing.SupportsIndex,
        conic_distance: typing.SupportsFloat | typing.SupportsIndex,
        repulsion: typing.SupportsFloat | typing.SupportsIndex,
        influence: typing.SupportsFloat | typing.SupportsIndex,
        posture: typing.SupportsFloat | typing.SupportsIndex,
        radius: typing.SupportsFloat | typing.SupportsIndex,
        interior: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def _clearance(self, q: numpy.typing.ArrayLike) -> float: ...
    def _free(
        self,
        q0: numpy.typing.ArrayLike,
        q1: numpy.typing.ArrayLike,
        margin: typing.SupportsFloat | typing.SupportsIndex,
    ) -> bool: ...
    def _plan(
        self,
        q0: numpy.typing.ArrayLike,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        step: typing.SupportsFloat | typing.SupportsIndex,
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        margin: typing.SupportsFloat | typing.SupportsIndex,
        max_iterations: typing.SupportsInt | typing.SupportsIndex,
        walk_steps: typing.SupportsInt | typing.SupportsIndex,
        max_walks: typing.SupportsInt | typing.SupportsIndex,
        seed: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[str, numpy.typing.NDArray[numpy.float64], int, int]: ...
    def _potential(self, q: numpy.typing.ArrayLike) -> tuple[float, numpy.typing.NDArray[numpy.float64]]: ...

class Controller:
    def reset(self) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def signals(self) -> dict[str, numpy.typing.NDArray[numpy.float64]]: ...
    @property
    def status(self) -> Status: ...
    @property
    def torque_limits(self) -> numpy.typing.NDArray[numpy.float64] | None: ...
    @torque_limits.setter
    def torque_limits(self, arg1: numpy.typing.ArrayLike | None) -> None: ...

class JointController(Controller):
    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        reference: typing.Any,
    ) -> numpy.typing.NDArray[numpy.float64]: ...

class TaskController(Controller):
    def step(
        self,
        t: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        reference: typing.Any,
    ) -> numpy.typing.NDArray[numpy.float64]: ...

class IndependentJoint(JointController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        inertia: numpy.typing.ArrayLike,
        damping: numpy.typing.ArrayLike,
        K_i: typing.Any,
        integral_limit: typing.Any,
        model_feedforward: bool,
    ) -> None: ...

class PDGravity(JointController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        K_i: typing.Any,
        integral_limit: typing.Any,
        desired_gravity: bool,
    ) -> None: ...

class ComputedTorque(JointController):
    def __init__(
        self, model: Model, K_p: numpy.typing.ArrayLike, K_v: numpy.typing.ArrayLike, impedance: bool
    ) -> None: ...

class PassivityBased(JointController):
    def __init__(self, model: Model, Lambda: numpy.typing.ArrayLike, K: numpy.typing.ArrayLike) -> None: ...

class RobustUnitVector(JointController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_v: numpy.typing.ArrayLike,
        rho: typing.SupportsFloat | typing.SupportsIndex,
        epsilon: typing.SupportsFloat | typing.SupportsIndex,
        Q: numpy.typing.ArrayLike,
    ) -> None: ...
    @property
    def lyapunov_matrix(self) -> numpy.typing.NDArray[numpy.float64]: ...

class SlotineLi(JointController):
    def __init__(
        self,
        model: Model,
        Lambda: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
    ) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class ACT(JointController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_v: numpy.typing.ArrayLike,
        Q: numpy.typing.ArrayLike,
        damping: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        craig: bool,
        route: str,
        cutoff: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class MACT(JointController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_v: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        prediction: tuple[
            str, typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex, typing.Any
        ],
    ) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class OperationalSpace(TaskController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_v: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        K_i: typing.Any,
        integral_limit: typing.Any,
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        frame: typing.Any,
        posture: typing.Any,
        K_posture: typing.Any,
    ) -> None: ...

class CartesianComputedTorque(TaskController):
    def __init__(
        self,
        model: Model,
        K_p: numpy.typing.ArrayLike,
        K_v: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        frame: typing.Any,
        posture: typing.Any,
        K_posture: typing.Any,
        points: list[typing.Any],
        gain: typing.SupportsFloat | typing.SupportsIndex,
        influence: typing.SupportsFloat | typing.SupportsIndex,
        largest_force: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    @property
    def _obstacles(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @_obstacles.setter
    def _obstacles(self, arg1: numpy.typing.ArrayLike) -> None: ...

class Impedance(TaskController):
    def __init__(
        self,
        model: Model,
        K: numpy.typing.ArrayLike,
        D: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        inertia: typing.Any,
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        frame: typing.Any,
        posture: typing.Any,
        K_posture: typing.Any,
    ) -> None: ...
    @property
    def wrench(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @wrench.setter
    def wrench(self, arg1: numpy.typing.ArrayLike) -> None: ...

class CartesianMACT(TaskController):
    def __init__(
        self,
        model: Model,
        K_xi: numpy.typing.ArrayLike,
        K_v: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        prediction: tuple[
            str, typing.SupportsFloat | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex, typing.Any
        ],
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        frame: typing.Any,
        posture: typing.Any,
        K_posture: typing.Any,
    ) -> None: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class Backstepping(TaskController):
    def __init__(
        self,
        model: Model,
        Lambda: numpy.typing.ArrayLike,
        K_p: numpy.typing.ArrayLike,
        K_d: numpy.typing.ArrayLike,
        law: AdaptationLaw | None,
        unknown: collections.abc.Sequence[bool],
        frame: typing.Any,
        position_only: bool,
    ) -> None: ...
    def _evaluate(
        self, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike, reference: typing.Any
    ) -> dict[str, numpy.typing.NDArray[numpy.float64]]: ...
    @property
    def parameters(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @parameters.setter
    def parameters(self, arg1: numpy.typing.ArrayLike) -> None: ...

class DerivativeEstimator:
    def __init__(
        self,
        kind: str,
        *,
        cutoff: typing.SupportsFloat | typing.SupportsIndex = 1.0,
        window: typing.SupportsInt | typing.SupportsIndex = 2,
        order: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> None: ...
    def _apply(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def _step(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def reset(self) -> None: ...

class NullObjective:
    @staticmethod
    def joint_limits(
        model: Model,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        gain: typing.SupportsFloat | typing.SupportsIndex,
    ) -> NullObjective: ...
    @staticmethod
    def manipulability(
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        gain: typing.SupportsFloat | typing.SupportsIndex,
    ) -> NullObjective: ...
    @staticmethod
    def posture(
        model: Model, posture: numpy.typing.ArrayLike, gain: typing.SupportsFloat | typing.SupportsIndex
    ) -> NullObjective: ...
    def velocity(self, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]: ...

class Clik:
    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        orientation: typing.SupportsInt | typing.SupportsIndex,
        settings: dict[str, typing.Any],
    ) -> None: ...
    def _follow(
        self,
        reference: typing.Any,
        null_velocity: typing.Any,
        q0: numpy.typing.ArrayLike,
        dq0: numpy.typing.ArrayLike,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        steps: typing.SupportsInt | typing.SupportsIndex,
        runge_kutta: bool,
    ) -> dict[str, typing.Any]: ...
    def _step(
        self, q: numpy.typing.ArrayLike, dq: typing.Any, reference: typing.Any, dq_0: typing.Any
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def error(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def n(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def status(self) -> Status: ...

class SampledJointReference(JointReferenceSource):
    def __init__(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike
    ) -> None: ...

class InverseKinematics:
    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        newton: bool,
        tolerance: typing.SupportsFloat | typing.SupportsIndex,
        max_iterations: typing.SupportsInt | typing.SupportsIndex,
        learning_rate: typing.SupportsFloat | typing.SupportsIndex,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        starts: numpy.typing.ArrayLike,
    ) -> None: ...
    def _solve(
        self, T: numpy.typing.ArrayLike, q0: typing.Any, threads: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    @property
    def n(self) -> int: ...

class SphericalWrist:
    def __init__(
        self,
        axes: numpy.typing.ArrayLike,
        points: numpy.typing.ArrayLike,
        wrist: numpy.typing.ArrayLike,
        T: numpy.typing.ArrayLike,
    ) -> None: ...
    def _solve(
        self, T: numpy.typing.ArrayLike, near: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]: ...

class Graph:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def symbol(self, name: str) -> Expression: ...
    @property
    def outlining(self) -> bool: ...
    @outlining.setter
    def outlining(self, arg0: bool) -> None: ...

class Expression:
    def __abs__(self) -> Expression: ...
    def __add__(self, other: typing.Any) -> typing.Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: typing.Any) -> bool: ...
    def __float__(self) -> float: ...
    def __ge__(self, other: typing.Any) -> typing.Any: ...
    def __gt__(self, other: typing.Any) -> typing.Any: ...
    def __hash__(self) -> int: ...
    def __le__(self, other: typing.Any) -> typing.Any: ...
    def __lt__(self, other: typing.Any) -> typing.Any: ...
    def __mul__(self, other: typing.Any) -> typing.Any: ...
    def __neg__(self) -> Expression: ...
    def __pos__(self) -> Expression: ...
    def __pow__(self, other: typing.Any) -> typing.Any: ...
    def __radd__(self, other: typing.Any) -> typing.Any: ...
    def __repr__(self) -> str: ...
    def __rmul__(self, other: typing.Any) -> typing.Any: ...
    def __rpow__(self, other: typing.Any) -> typing.Any: ...
    def __rsub__(self, other: typing.Any) -> typing.Any: ...
    def __rtruediv__(self, other: typing.Any) -> typing.Any: ...
    def __str__(self) -> str: ...
    def __sub__(self, other: typing.Any) -> typing.Any: ...
    def __truediv__(self, other: typing.Any) -> typing.Any: ...
    def _arctan2_of(self, other: typing.Any) -> typing.Any: ...
    def arccos(self) -> Expression: ...
    def arcsin(self) -> Expression: ...
    def arctan2(self, other: typing.Any) -> typing.Any: ...
    def conjugate(self) -> Expression: ...
    def cos(self) -> Expression: ...
    def exp(self) -> Expression: ...
    def log(self) -> Expression: ...
    def sign(self) -> Expression: ...
    def sin(self) -> Expression: ...
    def sqrt(self) -> Expression: ...
    def tan(self) -> Expression: ...
    def tanh(self) -> Expression: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def is_constant(self) -> bool: ...
    @property
    def name(self) -> str | None: ...
    @property
    def operands(self) -> tuple[typing.Any, ...]: ...
    @property
    def operation(self) -> str: ...

class Function:
    def __call__(
        self, *arguments: numpy.typing.ArrayLike, out: numpy.typing.NDArray[numpy.float64] | None = None
    ) -> typing.Any: ...
    def __init__(
        self, name: str, arguments: collections.abc.Iterable[typing.Any], results: collections.abc.Iterable[typing.Any]
    ) -> None: ...
    def apply(self, entries: collections.abc.Iterable[typing.Any]) -> list[typing.Any]: ...
    def attach(self, path: str, symbol: str) -> None: ...
    def dependence(self) -> numpy.ndarray: ...
    @property
    def argument_names(self) -> tuple[typing.Any, ...]: ...
    @property
    def argument_shapes(self) -> tuple[typing.Any, ...]: ...
    @property
    def call_count(self) -> int: ...
    @property
    def compiled(self) -> bool: ...
    @property
    def constants(self) -> list[float]: ...
    @property
    def depth(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def operation_count(self) -> int: ...
    @property
    def operations(self) -> list[typing.Any]: ...
    @property
    def result_names(self) -> tuple[typing.Any, ...]: ...
    @property
    def result_shapes(self) -> tuple[typing.Any, ...]: ...
    @property
    def result_values(self) -> list[int]: ...

class SymbolicChain:
    def __init__(
        self, model: Model, graph: Graph, groups: dict[str, typing.Any], modified: bool, dyn: bool
    ) -> None: ...
    def evaluate(
        self,
        quantity: str,
        inputs: collections.abc.Iterable[typing.Any],
        frame: typing.SupportsInt | typing.SupportsIndex,
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    ) -> list[typing.Any]: ...

def build_config() -> dict[str, typing.Any]: ...
def emit_c(
    functions: collections.abc.Sequence[Function],
    *,
    header_name: str,
    comment: str = "",
    scalar: str = "double",
    batch: bool = False,
    packed: bool = False,
) -> tuple[str, str]: ...
def jacobian(
    outputs: collections.abc.Iterable[typing.Any], inputs: collections.abc.Iterable[typing.Any], mode: str = "cheaper"
) -> list[typing.Any]: ...
def quantities(model: Model, rows: typing.SupportsInt | typing.SupportsIndex = 6) -> dict[str, typing.Any]: ...
def select(condition: typing.Any, a: typing.Any, b: typing.Any) -> Expression: ...
def simulate(
    plant: typing.Any,
    controller: typing.Any,
    reference: typing.Any,
    *,
    n: typing.SupportsInt | typing.SupportsIndex,
    x0: numpy.typing.ArrayLike,
    dt: typing.SupportsFloat | typing.SupportsIndex,
    steps_per_period: typing.SupportsInt | typing.SupportsIndex,
    periods: typing.SupportsInt | typing.SupportsIndex,
    log_every: typing.SupportsInt | typing.SupportsIndex,
    torque_limits: numpy.typing.ArrayLike,
    payloads: collections.abc.Sequence[
        tuple[
            typing.SupportsFloat | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        ]
    ],
    external: collections.abc.Sequence[
        tuple[
            typing.SupportsFloat | typing.SupportsIndex,
            typing.SupportsFloat | typing.SupportsIndex,
            typing.Any,
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        ]
    ],
    sensors: tuple[
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        typing.SupportsFloat | typing.SupportsIndex,
        typing.SupportsInt | typing.SupportsIndex,
        typing.SupportsInt | typing.SupportsIndex,
        DerivativeEstimator,
    ]
    | None,
    actuators: tuple[
        typing.SupportsInt | typing.SupportsIndex,
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
        collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex],
    ]
    | None,
    integrator: typing.Any,
    log: collections.abc.Sequence[str] | None,
    progress: typing.Any,
    native_plant: bool,
    native_control: bool,
) -> dict[str, typing.Any]: ...

__version__: str = "0.1.0"
