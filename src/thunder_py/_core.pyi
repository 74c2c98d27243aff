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
    "BasisKind",
    "BezierPath",
    "Box",
    "Capsule",
    "CartesianComputedTorque",
    "CartesianMACT",
    "Clik",
    "ComputedTorque",
    "ConditionedMotion",
    "ConstantVelocityFilter",
    "Controller",
    "DerivativeEstimator",
    "Dmp",
    "DmpBasis",
    "DynamicPotential",
    "Expression",
    "FourierSeries",
    "Function",
    "FunctionalPlanner",
    "GradientLaw",
    "Graph",
    "HalfSpace",
    "Impedance",
    "IndependentJoint",
    "Interceptor",
    "InverseKinematics",
    "JointBezierPath",
    "JointController",
    "JointLimitObjective",
    "JointReferenceSource",
    "JointTrajectory",
    "Lissajous",
    "ManipulabilityObjective",
    "Model",
    "NaturalLaw",
    "NullObjective",
    "Obstacle",
    "ObstacleSet",
    "OperationalSpace",
    "PDGravity",
    "PassivityBased",
    "PiecewisePolynomial",
    "PostureObjective",
    "PotentialField",
    "QuaternionDmp",
    "RobustUnitVector",
    "RotationVectorPath",
    "SampledJointReference",
    "ScheduledInterception",
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
    "ViaSearch",
    "build_config",
    "emit_c",
    "jacobian",
    "quantities",
    "select",
    "simulate",
    "use_instruction_set",
]

class Model:
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
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
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
    def mass_and_coriolis(
        self,
        q: numpy.typing.ArrayLike,
        dq: numpy.typing.ArrayLike,
        *,
        out: numpy.typing.NDArray[numpy.float64] | None = None,
        threads: int = 1,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
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
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def sample(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...

class TaskReferenceSource:
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def sample(self, times: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...

class SetPoint(JointReferenceSource):
    def __init__(self, q: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class Sinusoid(JointReferenceSource):
    def __init__(
        self,
        amplitude: numpy.typing.ArrayLike,
        frequency: numpy.typing.ArrayLike,
        centre: numpy.typing.ArrayLike,
        phase: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class SetPose(TaskReferenceSource):
    def __init__(self, p: numpy.typing.ArrayLike, R: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class Lissajous(TaskReferenceSource):
    def __init__(
        self,
        amplitude: numpy.typing.ArrayLike,
        frequency: numpy.typing.ArrayLike,
        centre: numpy.typing.ArrayLike,
        orientation: numpy.typing.ArrayLike,
        t0: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class AdaptationLaw:
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class NaturalLaw(AdaptationLaw):
    def __init__(
        self, gamma: numpy.typing.ArrayLike, rest: numpy.typing.ArrayLike, dead_zone: numpy.typing.ArrayLike | None
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class PiecewisePolynomial:
    def __init__(self, breaks: numpy.typing.ArrayLike, coefficients: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class JointTrajectory(JointReferenceSource):
    def __init__(self, breaks: numpy.typing.ArrayLike, coefficients: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class Obstacle:
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def nearest(
        self, points: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...

class Sphere(Obstacle):
    def __init__(self, centre: numpy.typing.ArrayLike, radius: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class Box(Obstacle):
    def __init__(
        self, centre: numpy.typing.ArrayLike, R: numpy.typing.ArrayLike, half: numpy.typing.ArrayLike
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class Capsule(Obstacle):
    def __init__(
        self, a: numpy.typing.ArrayLike, b: numpy.typing.ArrayLike, radius: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class HalfSpace(Obstacle):
    def __init__(self, point: numpy.typing.ArrayLike, normal: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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

class BezierPath:
    def __getstate__(self) -> tuple[typing.Any, ...]: ...
    def __init__(self, breaks: numpy.typing.ArrayLike, points: numpy.typing.ArrayLike) -> None: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None: ...
    def sample(
        self, t: numpy.typing.ArrayLike, derivative: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def breaks(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def degree(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def end(self) -> float: ...
    @property
    def points(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def start(self) -> float: ...

class RotationVectorPath(TaskReferenceSource):
    def __init__(self, path: BezierPath, R: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    @property
    def path(self) -> BezierPath: ...
    @property
    def reference_rotation(self) -> numpy.typing.NDArray[numpy.float64]: ...

class JointBezierPath(JointReferenceSource):
    def __init__(self, path: BezierPath) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    @property
    def path(self) -> BezierPath: ...

class ConditionedMotion:
    def __init__(
        self,
        planner: FunctionalPlanner,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        constraints: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def path(
        self, start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0, along: typing.Any = None
    ) -> BezierPath: ...
    def tube(
        self, tau: numpy.typing.ArrayLike, derivative: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    @property
    def condition(self) -> float: ...
    @property
    def spread(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def unknowns(self) -> numpy.typing.NDArray[numpy.float64]: ...

class FunctionalPlanner:
    def __init__(
        self,
        breaks: numpy.typing.ArrayLike,
        mean: numpy.typing.ArrayLike,
        functions: numpy.typing.ArrayLike,
        variances: numpy.typing.ArrayLike,
        joint: bool,
        aligned: bool,
        exact: bool,
        order: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def jerk_cost(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        duration: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def plan(
        self,
        start: typing.Any,
        goal: typing.Any,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        start_velocity: typing.Any = None,
        goal_velocity: typing.Any = None,
        start_acceleration: typing.Any = None,
        goal_acceleration: typing.Any = None,
    ) -> BezierPath: ...
    def plan_many(
        self,
        starts: numpy.typing.ArrayLike,
        goals: numpy.typing.ArrayLike,
        durations: numpy.typing.ArrayLike,
        start_velocities: numpy.typing.ArrayLike,
        goal_velocities: numpy.typing.ArrayLike,
        start_accelerations: numpy.typing.ArrayLike,
        goal_accelerations: numpy.typing.ArrayLike,
        tau: numpy.typing.ArrayLike,
        derivative: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def resume(
        self,
        path: BezierPath,
        t: typing.SupportsFloat | typing.SupportsIndex,
        end: typing.SupportsFloat | typing.SupportsIndex,
        tau: typing.SupportsFloat | typing.SupportsIndex,
        origin: typing.Any,
        goal: numpy.typing.ArrayLike,
        goal_velocity: typing.Any,
        goal_acceleration: typing.Any,
        order: typing.SupportsInt | typing.SupportsIndex,
        limit: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[BezierPath, float, bool]: ...
    @property
    def condition(self) -> float: ...
    @property
    def dimension(self) -> int: ...

class ObstacleSet:
    def __init__(
        self, obstacles: collections.abc.Sequence[Obstacle], velocities: numpy.typing.ArrayLike | None = None
    ) -> None: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def clearance(
        self, path: BezierPath, tolerance: typing.SupportsFloat | typing.SupportsIndex = 1e-09
    ) -> tuple[float, float, float, int]: ...
    def distance(
        self,
        k: typing.SupportsInt | typing.SupportsIndex,
        p: numpy.typing.ArrayLike,
        t: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def free(self, path: BezierPath, margin: typing.SupportsFloat | typing.SupportsIndex) -> bool: ...
    def nearer(
        self,
        p: numpy.typing.ArrayLike,
        t: typing.SupportsFloat | typing.SupportsIndex,
        margin: typing.SupportsFloat | typing.SupportsIndex,
    ) -> int: ...

class ViaSearch:
    def __init__(
        self,
        planner: FunctionalPlanner,
        method: str,
        count: typing.SupportsInt | typing.SupportsIndex,
        seed: typing.SupportsInt | typing.SupportsIndex,
        half_width: typing.SupportsFloat | typing.SupportsIndex,
        state: str,
        most: typing.SupportsInt | typing.SupportsIndex,
        direct: bool,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def candidates(
        self, start: numpy.typing.ArrayLike, goal: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def plan(
        self,
        start: typing.Any,
        goal: typing.Any,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        obstacles: ObstacleSet,
        margin: typing.SupportsFloat | typing.SupportsIndex,
        start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        start_velocity: typing.Any = None,
        goal_velocity: typing.Any = None,
        start_acceleration: typing.Any = None,
        goal_acceleration: typing.Any = None,
    ) -> tuple[
        str,
        BezierPath,
        numpy.typing.NDArray[numpy.float64],
        numpy.typing.NDArray[numpy.float64],
        tuple[typing.Any, ...],
        int,
        int,
    ]: ...
    def plan_many(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        start_time: numpy.typing.ArrayLike,
        duration: numpy.typing.ArrayLike,
        obstacles: collections.abc.Sequence[ObstacleSet],
        margin: typing.SupportsFloat | typing.SupportsIndex,
        threads: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> list[
        tuple[
            str,
            BezierPath,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            tuple[typing.Any, ...],
            int,
            int,
        ]
    ]: ...
    def through(
        self,
        start: typing.Any,
        goal: typing.Any,
        duration: typing.SupportsFloat | typing.SupportsIndex,
        points: numpy.typing.ArrayLike,
        start_time: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        start_velocity: typing.Any = None,
        goal_velocity: typing.Any = None,
        start_acceleration: typing.Any = None,
        goal_acceleration: typing.Any = None,
    ) -> (
        tuple[
            str,
            BezierPath,
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
            tuple[typing.Any, ...],
            int,
            int,
        ]
        | None
    ): ...

class BasisKind(enum.Enum):
    gaussian = ...
    mollifier = ...
    wendland_c2 = ...
    wendland_c4 = ...

class DmpBasis:
    def __init__(
        self,
        kind: BasisKind,
        count: typing.SupportsInt | typing.SupportsIndex,
        alpha: typing.SupportsFloat | typing.SupportsIndex,
        overlap: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def evaluate(self, x: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]: ...
    def forcing(
        self, weights: numpy.typing.ArrayLike, x: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def centres(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def widths(self) -> numpy.typing.NDArray[numpy.float64]: ...

class DynamicPotential:
    def __init__(
        self,
        gain: typing.SupportsFloat | typing.SupportsIndex,
        beta: typing.SupportsFloat | typing.SupportsIndex,
        least_distance: typing.SupportsFloat | typing.SupportsIndex,
        tie_break: typing.SupportsFloat | typing.SupportsIndex,
        side: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _at(
        self,
        y: numpy.typing.ArrayLike,
        z: numpy.typing.ArrayLike,
        spheres: numpy.typing.ArrayLike,
        t: typing.SupportsFloat | typing.SupportsIndex,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...

class Dmp:
    def __init__(
        self,
        basis: DmpBasis,
        K: typing.SupportsFloat | typing.SupportsIndex,
        D: typing.SupportsFloat | typing.SupportsIndex,
        paper: bool,
        rotodilatation: bool,
        weights: numpy.typing.ArrayLike,
        displacement: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _rollout(
        self,
        steps: typing.SupportsInt | typing.SupportsIndex,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        pieces: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    def copy(self) -> Dmp: ...
    def reset(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        tau: typing.SupportsFloat | typing.SupportsIndex,
        start_velocity: numpy.typing.ArrayLike,
    ) -> None: ...
    def set_goal(self, goal: numpy.typing.ArrayLike) -> None: ...
    def set_goal_filter(self, time_constant: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def set_obstacles(self, field: DynamicPotential, spheres: numpy.typing.ArrayLike) -> None: ...
    def set_tau(self, tau: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def step(self, dt: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def dddx(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def ddx(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def dimension(self) -> int: ...
    @property
    def dx(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def goal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def phase(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def time(self) -> float: ...
    @property
    def x(self) -> numpy.typing.NDArray[numpy.float64]: ...

class QuaternionDmp:
    def __init__(
        self,
        basis: DmpBasis,
        K: typing.SupportsFloat | typing.SupportsIndex,
        D: typing.SupportsFloat | typing.SupportsIndex,
        paper: bool,
        weights: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _rollout(
        self, steps: typing.SupportsInt | typing.SupportsIndex, dt: typing.SupportsFloat | typing.SupportsIndex
    ) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    def copy(self) -> QuaternionDmp: ...
    def reset(
        self,
        start: numpy.typing.ArrayLike,
        goal: numpy.typing.ArrayLike,
        tau: typing.SupportsFloat | typing.SupportsIndex,
        start_velocity: numpy.typing.ArrayLike,
    ) -> None: ...
    def set_goal(self, goal: numpy.typing.ArrayLike) -> None: ...
    def set_tau(self, tau: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def step(self, dt: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def R(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def dw(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def goal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def phase(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def time(self) -> float: ...
    @property
    def w(self) -> numpy.typing.NDArray[numpy.float64]: ...

class ConstantVelocityFilter:
    def __init__(
        self,
        process: str,
        intensity: typing.SupportsFloat | typing.SupportsIndex,
        R: numpy.typing.ArrayLike,
        velocity_deviation: typing.SupportsFloat | typing.SupportsIndex,
        gate: typing.SupportsFloat | typing.SupportsIndex,
        reinitialise_after: typing.SupportsInt | typing.SupportsIndex,
        frozen_after: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    def estimate(
        self, t: typing.Any = None
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def reset(self) -> None: ...
    def update(self, t: typing.SupportsFloat | typing.SupportsIndex, position: numpy.typing.ArrayLike) -> str: ...
    @property
    def distance(self) -> float: ...
    @property
    def started(self) -> bool: ...
    @property
    def time(self) -> float: ...
    @property
    def updates(self) -> int: ...

class Interceptor:
    def __init__(
        self,
        planner: FunctionalPlanner,
        filter: ConstantVelocityFilter,
        settings: dict[str, typing.Any],
        start: numpy.typing.ArrayLike,
        R: numpy.typing.ArrayLike,
        goal_rotation: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    def advance(self, now: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def at(self, t: typing.SupportsFloat | typing.SupportsIndex) -> tuple[numpy.typing.NDArray[numpy.float64], ...]: ...
    def measure(
        self,
        now: typing.SupportsFloat | typing.SupportsIndex,
        taken: typing.SupportsFloat | typing.SupportsIndex,
        position: numpy.typing.ArrayLike,
    ) -> str: ...
    def reset(self) -> None: ...
    @property
    def _plans(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def arrival(self) -> float: ...
    @property
    def filter(self) -> ConstantVelocityFilter: ...
    @property
    def goal(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def goal_velocity(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def path(self) -> BezierPath: ...
    @property
    def phase(self) -> str: ...
    @property
    def reason(self) -> str: ...

class ScheduledInterception(TaskReferenceSource):
    def __init__(
        self,
        interceptor: Interceptor,
        taken: numpy.typing.ArrayLike,
        available: numpy.typing.ArrayLike,
        positions: numpy.typing.ArrayLike,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    @property
    def interceptor(self) -> Interceptor: ...

class Controller:
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class ComputedTorque(JointController):
    def __init__(
        self, model: Model, K_p: numpy.typing.ArrayLike, K_v: numpy.typing.ArrayLike, impedance: bool
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class PassivityBased(JointController):
    def __init__(self, model: Model, Lambda: numpy.typing.ArrayLike, K: numpy.typing.ArrayLike) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]: ...
    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]: ...
    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]: ...
    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]: ...
    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _evaluate(
        self, q: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike, reference: typing.Any
    ) -> dict[str, numpy.typing.NDArray[numpy.float64]]: ...
    @property
    def adapting(self) -> numpy.typing.NDArray[numpy.bool]: ...
    @adapting.setter
    def adapting(self, arg1: collections.abc.Sequence[bool]) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _apply(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    def _step(
        self, dt: typing.SupportsFloat | typing.SupportsIndex, q: numpy.typing.ArrayLike
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def reset(self) -> None: ...

class NullObjective:
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def velocity(self, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]: ...

class ManipulabilityObjective(NullObjective):
    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        gain: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class JointLimitObjective(NullObjective):
    def __init__(
        self,
        model: Model,
        lower: numpy.typing.ArrayLike,
        upper: numpy.typing.ArrayLike,
        gain: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class PostureObjective(NullObjective):
    def __init__(
        self, model: Model, posture: numpy.typing.ArrayLike, gain: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

class Clik:
    def __init__(
        self,
        model: Model,
        frame: typing.Any,
        mask: typing.SupportsInt | typing.SupportsIndex,
        orientation: typing.SupportsInt | typing.SupportsIndex,
        settings: dict[str, typing.Any],
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _core_state(self) -> numpy.typing.NDArray[numpy.float64]: ...
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
    def _set_core_state(self, state: numpy.typing.ArrayLike) -> None: ...
    def _set_tool(self, tool: numpy.typing.ArrayLike) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...

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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def _solve(
        self, T: numpy.typing.ArrayLike, near: numpy.typing.ArrayLike
    ) -> numpy.typing.NDArray[numpy.float64]: ...

class Graph:
    def __getstate__(self) -> tuple[typing.Any, ...]: ...
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None: ...
    def symbol(self, name: str) -> Expression: ...
    @property
    def outlining(self) -> bool: ...
    @outlining.setter
    def outlining(self, arg0: bool) -> None: ...
    @property
    def uniform(self) -> bool: ...
    @uniform.setter
    def uniform(self, arg0: bool) -> None: ...

class Expression:
    __array_priority__: typing.ClassVar[float] = -1.0

    def __abs__(self) -> Expression: ...
    def __add__(self, other: typing.Any) -> typing.Any: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: typing.Any) -> bool: ...
    def __float__(self) -> float: ...
    def __ge__(self, other: typing.Any) -> typing.Any: ...
    def __getstate__(self) -> tuple[typing.Any, ...]: ...
    def __gt__(self, other: typing.Any) -> typing.Any: ...
    def __hash__(self) -> int: ...
    def __le__(self, other: typing.Any) -> typing.Any: ...
    def __lt__(self, other: typing.Any) -> typing.Any: ...
    def __mul__(self, other: typing.Any) -> typing.Any: ...
    def __neg__(self) -> Expression: ...
    def __pos__(self) -> Expression: ...
    def __pow__(self, other: typing.Any) -> typing.Any: ...
    def __radd__(self, other: typing.Any) -> typing.Any: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __repr__(self) -> str: ...
    def __rmul__(self, other: typing.Any) -> typing.Any: ...
    def __rpow__(self, other: typing.Any) -> typing.Any: ...
    def __rsub__(self, other: typing.Any) -> typing.Any: ...
    def __rtruediv__(self, other: typing.Any) -> typing.Any: ...
    def __setstate__(self, arg0: tuple[typing.Any, ...]) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
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
    def __reduce__(self) -> tuple[typing.Any, ...]: ...
    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> str | tuple[typing.Any, ...]: ...
    def __setstate__(self, pickled: typing.Any) -> None: ...
    def evaluate(
        self,
        quantity: str,
        inputs: collections.abc.Iterable[typing.Any],
        frame: typing.SupportsInt | typing.SupportsIndex,
        rows: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
    ) -> list[typing.Any]: ...

def _arrival_time(
    settings: dict[str, typing.Any],
    time: typing.SupportsFloat | typing.SupportsIndex,
    position: numpy.typing.ArrayLike,
    velocity: numpy.typing.ArrayLike,
) -> float: ...
def _misses(
    settings: dict[str, typing.Any],
    time: typing.SupportsFloat | typing.SupportsIndex,
    position: numpy.typing.ArrayLike,
    velocity: numpy.typing.ArrayLike,
    goal: numpy.typing.ArrayLike,
    arrival: typing.SupportsFloat | typing.SupportsIndex,
) -> bool: ...
def _new_arrival(
    settings: dict[str, typing.Any],
    time: typing.SupportsFloat | typing.SupportsIndex,
    position: numpy.typing.ArrayLike,
    velocity: numpy.typing.ArrayLike,
    arrival: typing.SupportsFloat | typing.SupportsIndex,
    remaining: typing.SupportsFloat | typing.SupportsIndex,
    hand: numpy.typing.ArrayLike,
    frequency: typing.SupportsFloat | typing.SupportsIndex,
    old_frequency: typing.SupportsFloat | typing.SupportsIndex,
) -> float: ...
def _pose_state(
    pose: numpy.typing.ArrayLike, twist: typing.Any, rate: typing.Any, R: numpy.typing.ArrayLike, name: str
) -> numpy.typing.NDArray[numpy.float64]: ...
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
            numpy.typing.ArrayLike,
        ]
    ],
    external: collections.abc.Sequence[
        tuple[
            typing.SupportsFloat | typing.SupportsIndex,
            typing.SupportsFloat | typing.SupportsIndex,
            typing.Any,
            numpy.typing.ArrayLike,
        ]
    ],
    sensors: dict[str, typing.Any] | None,
    actuators: dict[str, typing.Any] | None,
    integrator: typing.Any,
    log: collections.abc.Sequence[str] | None,
    progress: typing.Any,
    native_plant: bool,
    native_control: bool,
) -> dict[str, typing.Any]: ...
def use_instruction_set(name: str) -> None: ...

__version__: str = "0.1.0"
