"""SCARA project, chapter 4: robust, adaptive and operational-space control with an unknown payload of 5 kg."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._core import Controller
from ...checks import Array
from ...control import ComputedTorque, GradientAdaptation, OperationalSpace, RobustUnitVector, SlotineLi
from ...kinematics.clik import SampledJointReference
from ...model.joint_data import Friction
from ...robot import Robot
from ...simulation import Payload, SimulationResult, simulate
from ...simulation.divergence import outcome_recorded
from ...trajectory import Path
from ..judgment.judge import FreeParameter, chosen, declared
from ..results import drawing
from ..tables import markdown
from .kinematics import PERIOD, TASK, scara_path, schemes, start

PAYLOAD = Payload(5.0)  # at the origin of the last frame, the end effector
#: gains of sections 4.1 and 4.2; K_D is the same in both [1/s] and [N m s/rad]
K_P, K_D = (1000.0, 1000.0, 2000.0, 1000.0), (10.0, 10.0, 50.0, 1.0)
RHO, EPSILON = 10.0, 0.2
#: right side of the Lyapunov equation for which the unit vector acts along z; not printed in the report
Q_Z = (1.0, 1.0, 1e6, 1.0, 1.0, 1.0, 1.0, 1.0)
LAMBDA = (500.0, 500.0, 10000.0, 500.0)  # [1/s]
LAMBDA_Z = 1000.0  # replaces the third entry, which is unstable at 1 ms
#: twelve parameters, the third the mass of link 3; the others are our choice, because the report does not name them
ADAPTED = (
    *(f"link{i}.m" for i in range(1, 5)),
    *(f"link{i}.Izz" for i in range(1, 5)),
    *(f"joint{i}.viscous" for i in range(1, 5)),
)
_GAINS_OF_ADAPTED = 10.0 * np.array([1.0, 1.0, 1e-3, *[1.0] * 9])
#: gains of section 4.3
OPERATIONAL = {"K_0": (5000.0, 5000.0, 10000.0, 5000.0), "K_1": (50.0, 50.0, 100.0, 50.0)}
K_I: dict[str, tuple[float, ...] | None] = {
    "no integral": None,
    "integral": (20.0, 20.0, 2000.0, 20.0),
    "integral, 15 times": (20.0, 20.0, 30000.0, 20.0),
}


def scara(viscous: float = 0.0) -> Robot:
    """Return the bundled arm with viscous friction in every joint; the report does not print its F_v.

    Parameters
    ----------
    viscous : float
        Viscous friction [N m s/rad], [N s/m]. Zero is still a parameter that can be adapted.
    """
    robot = Robot.load("scara")
    return robot.replace(friction=Friction(terms=("viscous",), coefficients=np.full((robot.n, 1), viscous)))


def joint_reference(path: Path) -> SampledJointReference:
    """Return the joint motion along the path by the second-order CLIK."""
    return schemes(Robot.load("scara"))["second order"].joint_reference(path, start(path), path.duration, PERIOD)


def robust(robot: Robot, Q: tuple[float, ...] | float = 1.0) -> RobustUnitVector:
    """Return the controller of section 4.1."""
    return RobustUnitVector(robot, K_P, K_D, RHO, EPSILON, Q=Q)


def adaptive(robot: Robot, Lambda_z: float = LAMBDA_Z, *, adapts: bool = True) -> SlotineLi:
    """Return the controller of section 4.2, with the gains K_pi in the order of their parameters."""
    Lambda = [*LAMBDA[:2], Lambda_z, LAMBDA[3]]
    if not adapts:
        return SlotineLi(robot, Lambda, K_D, adaptation=None)
    gain = dict(zip(ADAPTED, _GAINS_OF_ADAPTED, strict=True))
    law = GradientAdaptation([gain[name] for name in robot.unknown(ADAPTED).names], unknown=ADAPTED)
    return SlotineLi(robot, Lambda, K_D, adaptation=law)


def operational(robot: Robot, K_integral: tuple[float, ...] | None) -> OperationalSpace:
    """Return the controller of section 4.3."""
    return OperationalSpace(robot, OPERATIONAL["K_0"], OPERATIONAL["K_1"], K_D, K_integral, rows=TASK)


WEIGHT = float(PAYLOAD.mass) * 9.81  # [N]


class Claim(NamedTuple):
    """Remaining error along z: statement of the report, and value by theory [m]."""

    report: str
    theory: float


def z_error_at_rest(stiffness: float) -> float:
    """Return the error at rest due to the payload, ``m g / (B_33 stiffness)`` [m].

    Parameters
    ----------
    stiffness : float
        Gain of the error along z before the product with the model's inertia [1/s^2].
    """
    return WEIGHT / (float(Robot.load("scara").mass_matrix(np.zeros(4))[2, 2]) * stiffness)


def _layer(Q_ez: float) -> float:
    """Return the stiffness of the boundary layer along z: ``rho P_ez / epsilon`` with ``P_ez = Q_ez / (2 K_P)``."""
    return RHO / EPSILON * Q_ez / (2.0 * K_P[2])


#: by run; zero is the limit with adaptation or integral
CLAIMS: dict[str, Claim] = {
    "computed torque": Claim("", z_error_at_rest(K_P[2])),
    "robust": Claim("not zero", z_error_at_rest(K_P[2] + _layer(1.0))),
    "robust, Q for z": Claim("small by choice of gains", z_error_at_rest(K_P[2] + _layer(Q_Z[2]))),
    "not adaptive": Claim("", WEIGHT / (K_D[2] * LAMBDA_Z)),
    "adaptive": Claim("to zero, 1e-5 after 5 s", 0.0),
    "no integral": Claim("", z_error_at_rest(OPERATIONAL["K_0"][2])),
    "integral": Claim("to zero", 0.0),
    "integral, 15 times": Claim("", 0.0),
}


class Loaded(NamedTuple):
    """Run with the payload.

    Attributes
    ----------
    result : SimulationResult
        The run.
    error : (k, 3) array
        Position of the path less that of the tip over time [m].
    """

    result: SimulationResult
    error: Array

    def left(self, window: float = 1.0) -> float:
        """Return the magnitude of the mean error along z over the last `window` seconds [m]."""
        t = self.result.t
        return abs(float(self.error[t >= t[-1] - window, 2].mean()))

    def worst(self, since: float = 0.0) -> tuple[float, float]:
        """Return the largest error from the time `since`, in the plane and along z [m]."""
        late = self.error[self.result.t >= since]
        return float(np.linalg.norm(late[:, :2], axis=1).max()), float(np.abs(late[:, 2]).max())


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraControl:
    """Runs along the path with the payload at the end effector.

    Attributes
    ----------
    robot : Robot
        Model of the controllers, without the payload.
    path : Path
        Path of the end effector.
    runs : dict of str to Loaded
        By `CLAIMS`.
    payload : float
        Mass of the payload [kg].
    """

    robot: Robot
    path: Path
    runs: Mapping[str, Loaded]
    payload: float = float(PAYLOAD.mass)

    def estimated_mass(self) -> Array:
        """Return the estimate of the mass of link 3 over time, (k,) [kg]."""
        result = self.runs["adaptive"].result
        return result.parameters[:, list(result.names["parameters"]).index("link3.m")]

    def time_of_mass(self, tolerance: float = 0.02) -> float:
        """Return the time from which the estimate stays within a fraction `tolerance` of the truth [s]."""
        truth = 10.0 + self.payload
        outside = np.flatnonzero(np.abs(self.estimated_mass() - truth) > tolerance * truth)
        return float(self.runs["adaptive"].result.t[outside[-1]]) if outside.size else 0.0

    def table(self) -> str:
        """Return errors along z and in the plane with the report's statements and theory, as Markdown."""
        rows: list[list[object]] = []
        for name in self.runs:
            report, theory, left, (_, z), (late_plane, late_z) = self._numbers(name).values()
            rows.append([name, report, theory, left, z, late_z, late_plane])
        header = ["", "z left: report", "theory [m]", "ours [m]", "worst z [m]", "after 5 s [m]", "x, y after 5 s [m]"]
        return markdown(header, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the errors of every run [m] next to the limits by theory, and the estimated mass [kg]."""
        runs = {name: self._numbers(name) for name in self.runs}
        return {"runs": runs, "estimated_mass_kg": self.estimated_mass()[-1] if "adaptive" in runs else None}

    def _numbers(self, name: str) -> dict[str, Any]:
        (report, theory), run = CLAIMS[name], self.runs[name]
        worst = {"largest_xy_and_z_m": run.worst(), "largest_xy_and_z_after_5_s_m": run.worst(5.0)}
        return {"report": report, "theory_z_m": theory, "final_z_m": run.left(), **worst}

    plot = drawing("plot_control")
    plot_choices = drawing("plot_choices")


def run_control(
    names: Iterable[str] = tuple(CLAIMS),
    *,
    viscous: float = 0.0,
    known: bool = True,
    log_every: int = 10,
    payload: Payload = PAYLOAD,
    Q_z: float = 1.0,
    Lambda_z: float = LAMBDA_Z,
    reference: SampledJointReference | None = None,
) -> ScaraControl:
    """Simulate the controllers along the path with the payload.

    Parameters
    ----------
    names : iterable of str
        Keys of `CLAIMS`; default all.
    viscous : float
        Viscous friction of every joint [N m s/rad, N s/m]; the report does not print its F_v.
    known : bool
        If True, the controllers know the friction.
    log_every : int
        Number of control periods between rows.
    payload : Payload
        Load at the end effector, unknown to the controllers.
    Q_z : float
        Entry of Q for the position along z of the law ``"robust"``.
    Lambda_z : float
        Third entry of Lambda of the adaptive law [1/s].
    reference : SampledJointReference, optional
        Joint motion along the path; default `joint_reference`.
    """
    plant, path = scara(viscous), scara_path()
    robot = plant if known else scara()
    joints = joint_reference(path) if reference is None else reference
    laws: dict[str, Controller] = {
        "computed torque": ComputedTorque(robot, K_P, K_D),
        "robust": robust(robot, (1.0, 1.0, Q_z, *[1.0] * 5)),
        "robust, Q for z": robust(robot, Q_Z),
        "not adaptive": adaptive(robot, Lambda_z, adapts=False),
        "adaptive": adaptive(robot, Lambda_z),
        **{name: operational(robot, K_i) for name, K_i in K_I.items()},
    }
    given: dict[str, Any] = {"q0": start(path), "payloads": payload, "log_every": log_every}
    runs = {}
    for name in names:
        desired = path if name in K_I else joints
        with outcome_recorded():
            result = simulate(plant, laws[name], desired, path.duration, PERIOD, **given)
        tip = robot.forward_kinematics(result.q)[:, :3, 3]
        runs[name] = Loaded(result, path(result.t).p - tip)
    return ScaraControl(robot=robot, path=path, runs=runs, payload=float(payload.mass))


DRAWN = "payload and viscous friction: first 5 kg without friction, then 1 to 9 kg and 0 to 20 N m s/rad (known)"


def control_of_seed(seed: int) -> dict[str, float]:
    """Return final errors along z [mm] and of the estimated mass [kg] with a drawn payload and friction."""
    rng = np.random.default_rng(seed)
    mass, viscous = (float(PAYLOAD.mass), 0.0) if seed == 0 else (rng.uniform(1.0, 9.0), rng.uniform(0.0, 20.0))
    found = run_control(viscous=viscous, payload=Payload(mass))
    errors = {f"{name}: error along z [mm]": 1e3 * run.left() for name, run in found.runs.items()}
    return errors | {"error of the estimated mass [kg]": abs(float(found.estimated_mass()[-1]) - 10.0 - mass)}


#: Lambda_3 [1/s]: as printed, above the limit, below it, and ours
CASES = (10000.0, 2100.0, 1900.0, 1000.0)
#: alternative choice of the twelve parameters: masses, inertias, and rotors instead of viscous friction
WITH_ROTORS = (
    *(f"link{i}.{what}" for what in ("m", "Izz") for i in range(1, 5)),
    *(f"joint{i}.rotor_inertia" for i in range(1, 5)),
)


def sampled_error_dynamics(Lambda: float, damping: float, dt: float = PERIOD) -> Array:
    """Return the matrix that maps error and its rate to the next sample, for one joint, (2, 2).

    Parameters
    ----------
    Lambda : float
        Gain of the position error [1/s].
    damping : float
        K_D divided by the inertia [1/s].
    dt : float
        Sampling period, in which the torque is constant [s].

    Notes
    -----
    With the true model, Slotine-Li is ``e'' = -(Lambda + damping) e' - Lambda damping e`` in continuous time.
    """
    stiffness, rate = Lambda * damping, Lambda + damping
    hold = np.array([[0.5 * dt * dt], [dt]])
    free = np.array([[1.0, dt], [0.0, 1.0]])
    return np.asarray(free - hold * np.array([[stiffness, rate]]))


def spectral_radius(Lambda: float, dt: float = PERIOD) -> float:
    """Return the spectral radius along z, without payload: above 1 errors grow from sample to sample."""
    inertia = float(Robot.load("scara").mass_matrix(np.zeros(4))[2, 2])
    return float(np.abs(np.linalg.eigvals(sampled_error_dynamics(Lambda, K_D[2] / inertia, dt))).max())


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraSampling:
    """Runs of the adaptive controller with several Lambda_3.

    Attributes
    ----------
    runs : dict of float to SimulationResult
        By Lambda_3.
    with_rotors : SimulationResult
        Run with our Lambda_3, adapting `WITH_ROTORS` with the same gains.
    """

    runs: Mapping[float, SimulationResult]
    with_rotors: SimulationResult

    def table(self) -> str:
        """Return spectral radii and final states of the runs, as Markdown."""
        runs = [(f"{Lambda:g}", Lambda, result) for Lambda, result in self.runs.items()]
        runs.append((f"{CASES[-1]:g}, rotors adapt", CASES[-1], self.with_rotors))
        rows = [[name, Lambda * PERIOD, spectral_radius(Lambda), *_end(result)] for name, Lambda, result in runs]
        header = ["Lambda_3 [1/s]", "Lambda_3 dt", "spectral radius", "run ends at [s]", "status", "z error then [m]"]
        return markdown(header, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return spectral radii and final states of the runs, by Lambda_3 [1/s]."""
        runs = {f"{Lambda:g}": (spectral_radius(Lambda), *_end(result)) for Lambda, result in self.runs.items()}
        runs["rotors adapt"] = (spectral_radius(CASES[-1]), *_end(self.with_rotors))
        names = ("spectral_radius", "end_s", "status", "z_error_m")
        return {Lambda: dict(zip(names, values, strict=True)) for Lambda, values in runs.items()}

    plot = drawing("plot_sampling")


def _end(result: SimulationResult) -> tuple[float, str, float]:
    from ...control import Status

    return float(result.t[-1]), Status(int(result.status[-1])).name, abs(float(result.error[-1, 2]))


def run_sampling(duration: float = 5.0) -> ScaraSampling:
    """Simulate the adaptive controller along the path with the payload, with every Lambda_3 of `CASES`.

    Parameters
    ----------
    duration : float
        Duration of runs that do not diverge [s].
    """
    robot, path = scara(), scara_path()
    reference = joint_reference(path)

    def follow(law: SlotineLi, Lambda: float) -> SimulationResult:
        with warnings.catch_warnings(), outcome_recorded():
            if spectral_radius(Lambda) > 1.0:  # the divergence is what this run shows
                warnings.filterwarnings("ignore", "K_d or Lambda of SlotineLi is too high", RuntimeWarning)
            return simulate(robot, law, reference, duration, PERIOD, payloads=PAYLOAD)

    gains = [0.01 if name == "link3.m" else 10.0 for name in robot.unknown(WITH_ROTORS).names]
    law = GradientAdaptation(gains, unknown=WITH_ROTORS)
    rotors = SlotineLi(robot, [*LAMBDA[:2], CASES[-1], LAMBDA[3]], K_D, adaptation=law)
    runs = {value: follow(adaptive(robot, value), value) for value in CASES}
    return ScaraSampling(runs=runs, with_rotors=follow(rotors, CASES[-1]))


def printed_mass_matrix(q: npt.ArrayLike) -> Array:
    """Return the report's B(q), (..., 4, 4)."""
    c2 = np.cos(np.asarray(q, dtype=np.float64)[..., 1])
    B = np.zeros((*c2.shape, 4, 4))
    B[..., 0, 0] = 10.0 * c2 + 10763 / 500
    B[..., 0, 1] = B[..., 1, 0] = 5.0 * c2 + 4383 / 500
    B[..., 1, 1] = 4383 / 500
    B[..., :2, 2] = B[..., 2, :2] = -1 / 4
    B[..., :2, 3] = B[..., 3, :2] = -51 / 50
    B[..., 2, 2], B[..., 3, 3] = 45 / 2, 7 / 5
    return B


def printed_coriolis_matrix(q: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
    """Return the report's matrix C(q, dq), (..., 4, 4)."""
    s2 = np.sin(np.asarray(q, dtype=np.float64)[..., 1])
    v1, v2, *_ = np.moveaxis(np.asarray(dq, dtype=np.float64), -1, 0)
    C = np.zeros((*s2.shape, 4, 4))
    C[..., 0, 0], C[..., 0, 1], C[..., 1, 0] = -5.0 * v2 * s2, -5.0 * (v1 + v2) * s2, 5.0 * v1 * s2
    return C


def coriolis_by_printed_formula(robot: Robot, q: npt.ArrayLike, dq: npt.ArrayLike) -> Array:
    """Return C by the report's formula for Christoffel symbols, with its wrong last sign (S-2), (..., 4, 4)."""
    D = robot.mass_matrix_derivative(q)
    symbols = 0.5 * (D + np.swapaxes(D, -1, -2) + np.moveaxis(D, -1, -3))
    return np.asarray(np.einsum("...ijk,...k->...ij", symbols, np.asarray(dq, dtype=np.float64)))


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaraDynamics:
    """Comparison of the arm with its printed dynamics.

    Attributes
    ----------
    robot : Robot
        The bundled SCARA.
    differences : dict of str to float
        Largest difference of matrices between report and package, at random states.
    t, torque, printed_torque : (k,), (k, 4), (k, 4) array
        Coriolis torque along the path by the matrix and by the printed formula [s, N m, N].
    """

    robot: Robot
    differences: Mapping[str, float]
    t: Array
    torque: Array
    printed_torque: Array

    def table(self) -> str:
        """Return the differences and gravity, as Markdown."""
        gravity = self.robot.gravity_vector(np.zeros(4))
        loaded = PAYLOAD.added_to(self.robot).gravity_vector(np.zeros(4))
        forces = [["g_3 without payload, with 5 kg [N]", f"{gravity[2]:.4g}, {loaded[2]:.5g}"]]
        return markdown(["report against package", "largest difference"], [*self.differences.items(), *forces], 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the largest differences between the report's matrices and the package's."""
        return {"largest_differences": self.differences}

    plot = drawing("plot_coriolis")


def run_dynamics(samples: int = 200) -> ScaraDynamics:
    """Compare the report's matrices with the package, at random states and along the path."""
    robot, path = Robot.load("scara"), scara_path()
    q, dq = np.random.default_rng(2).uniform(-2.0, 2.0, (2, samples, robot.n))
    C, rate = robot.coriolis_matrix(q, dq), robot.mass_matrix_dot(q, dq)
    formula = coriolis_by_printed_formula(robot, q, dq)
    skew = [rate - 2.0 * matrix for matrix in (C, formula)]
    pairs = {
        "B(q) (S-1)": robot.mass_matrix(q) - printed_mass_matrix(q),
        "C(q, dq), the matrix": C - printed_coriolis_matrix(q, dq),
        "C(q, dq), by the formula (S-2)": C - formula,
        "symmetric part of B_dot - 2 C": skew[0] + skew[0].swapaxes(-1, -2),
        "the same, C by the formula": skew[1] + skew[1].swapaxes(-1, -2),
    }
    motion = schemes(robot)["second order"].follow(path, start(path), path.duration, 1e-2, integrator="rk4")
    matrices = (robot.coriolis_matrix(motion.q, motion.dq), coriolis_by_printed_formula(robot, motion.q, motion.dq))
    torques = [np.einsum("kij,kj->ki", matrix, motion.dq) for matrix in matrices]
    return ScaraDynamics(
        robot=robot,
        differences={name: float(np.abs(value).max()) for name, value in pairs.items()},
        t=motion.t,
        torque=torques[0],
        printed_torque=torques[1],
    )


#: quantities that the report does not print, for Figures 4.2, 4.4, 4.5 and 4.7
QUANTITIES = (
    FreeParameter("Q_z", 1.0, (1e2, 1e4, 1e6), "Q of the unit vector along z", "right side of the Lyapunov equation"),
    FreeParameter(
        "friction",
        "none",
        ("none", "20 known", "5 unknown", "20 unknown"),
        "viscous friction [N m s/rad, N s/m]",
        '"from the given parameters"',
    ),
    FreeParameter("payload", float(PAYLOAD.mass), (4.5, 5.5), "payload [kg]", '"about 5 kg"'),
    FreeParameter("Lambda_z", LAMBDA_Z, (300.0, 1900.0), "Lambda_3 [1/s]", "the printed 10000 diverges at 1 ms (S-6)"),
    FreeParameter("integrator", "RK4", ("RK4", "Euler"), "integrator of the reference", "discrete at 1 ms"),
)
#: law -> figure and statement; the text of the report has numbers for the adaptive law only
_LAWS = {"robust": "Figure 4.2, robust", "adaptive": "Figure 4.5, adaptive", "integral": "Figure 4.7, integral"}
_MASS = "Figure 4.4, mass within 2 % after [s]"


@lru_cache(maxsize=2)
def _reference(integrator: str) -> SampledJointReference:
    path = scara_path()
    if integrator == "RK4":
        return joint_reference(path)
    motion = schemes(Robot.load("scara"))["second order"].follow(path, start(path), path.duration, PERIOD)
    return SampledJointReference(PERIOD, motion.q, motion.dq)


def remaining_errors(**given: Any) -> dict[str, float]:
    """Return errors along z by law, and the time until the estimated mass stays within 2 %.

    Parameters
    ----------
    Q_z, friction, payload, Lambda_z, integrator
        See `QUANTITIES`.
    """
    s = chosen(QUANTITIES, given)
    viscous, _, known = s.friction.partition(" ")
    found = run_control(
        _LAWS, viscous=0.0 if viscous == "none" else float(viscous), known=known != "unknown",
        payload=Payload(s.payload), Q_z=s.Q_z, Lambda_z=s.Lambda_z, reference=_reference(s.integrator),
    )  # fmt: skip
    errors: dict[str, float] = {}
    for law, what in _LAWS.items():
        run = found.runs[law]
        failed = run.result.diverged
        errors[f"{what}: largest z error after 5 s [m]"] = np.inf if failed else run.worst(5.0)[1]
        errors[f"{what}: z error at the end [m]"] = np.inf if failed else run.left()
    return errors | {_MASS: np.inf if found.runs["adaptive"].result.diverged else found.time_of_mass()}


#: the two numbers of chapter 4 with one choice of `QUANTITIES`
judge_control = declared(
    "SCARA project, chapter 4: errors with the payload",
    remaining_errors,
    QUANTITIES,
    {"Figure 4.5, adaptive: largest z error after 5 s [m]": 1e-5, _MASS: 5.0},
    budget=24,
    few=1,
)
