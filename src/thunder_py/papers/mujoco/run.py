"""The article's and D4.2's closed loops on MuJoCo's plant beside ours: same dynamics, another engine and integrator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import robots
from ...checks import Array
from ...control import Backstepping
from ...kinematics import CLIK
from ...mujoco import MujocoPlant
from ...optional import require
from ...reference import Lissajous
from ...result import SimulationResult
from ...robot import Robot
from ...simulation import Payload, simulate
from ..lissajous import run as article
from ..mact import cartesian as d42_cartesian
from ..mact import setup as d42_setup
from ..softhand.run import HAND_COM, HAND_MASS
from ..tables import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ETA",
    "PLANTS",
    "Agreement",
    "Case",
    "MujocoPlants",
    "agreement",
    "article_cases",
    "cartesian_cases",
    "joint_cases",
    "run",
    "run_case",
    "run_mujoco_plants",
]

#: adaptive gain of D4.2's controllers: the slow one, with which all of them stay bounded
ETA = 10.0
_SEED = 0  # of the parameter error


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One closed loop, whatever its plant.

    Attributes
    ----------
    group, name : str
        Where it comes from, and the controller.
    robot : Robot
        The truth.
    controller : callable
        Makes a fresh one.
    reference : reference
        What it follows.
    q0, dq0 : (n,) array
        Start [rad, rad/s].
    error : callable
        Norm of the tracking error of a `SimulationResult` over time, (k,).
    unit : str
        Of the error.
    payloads : tuple of Payload
        Of the plant alone.
    torque_limits : (n,) array or None
        [N m].
    """

    group: str
    name: str
    robot: Robot
    controller: Callable[[], Any]
    reference: Any
    q0: Array
    dq0: Array = field(default_factory=lambda: np.zeros(7))
    error: Callable[[SimulationResult], Array]
    unit: str
    payloads: tuple[Payload, ...] = ()
    torque_limits: Array | None = None

    @property
    def adapts(self) -> bool:
        """Whether there is an estimate that moves."""
        return self.name not in ("CT", "fixed")


def article_cases() -> list[Case]:
    """Return the article's experiment: backstepping with a wrong last link, adaptive or not."""
    robot = Robot.load("panda")
    nominal = article.wrong_last_link(robot)
    reference = Lissajous.starting_at(robot.forward_kinematics(article.START), article.AMPLITUDE, article.FREQUENCY)

    def make(adaptive: bool) -> Callable[[], Backstepping]:
        law = article.link_7_adaptation() if adaptive else None
        return lambda: Backstepping(nominal, article.LAMBDA, article.K_P, article.K_D, adaptation=law)

    return [
        Case(
            group="article", name=name, robot=robot, controller=make(name == "adaptive"), reference=reference,
            q0=article.START, error=lambda result: result.error_norm(slice(0, 3)), unit="m",
            torque_limits=robot.limits.effort,
        )
        for name in ("adaptive", "fixed")
    ]  # fmt: skip


def joint_cases() -> list[Case]:
    """Return D4.2's four controllers in joint space, known to 15 %, with friction."""
    robot, curve = d42_setup.panda(), d42_setup.joint_curve()
    model = d42_setup.wrong_panda(robot, _SEED)

    def make(name: str) -> Callable[[], Any]:
        return lambda: d42_setup.joint_controllers(model, ETA)[name]

    return [
        Case(
            group="D4.2 joints", name=name, robot=robot, controller=make(name), reference=curve, q0=curve(0.0).q,
            error=lambda result: result.error_norm(), unit="rad",
        )
        for name in ("CT", "ACT", "AIRC", "MACT")
    ]  # fmt: skip


def cartesian_cases(duration: float) -> list[Case]:
    """Return D4.2's controllers on the slow curve, known to 15 %, and MACT with a hand that it is not told of."""
    robot = d42_setup.panda()
    curve = d42_cartesian.curves(robot, duration)["liss3D"]
    clik = CLIK(robot, K_0=400.0, K_1=40.0)  # as in d42_cartesian
    joints = clik.joint_reference(curve, d42_setup.START, duration)
    hand = Payload(HAND_MASS, HAND_COM)

    def error(result: SimulationResult) -> Array:
        desired = curve(result.t).p
        return np.asarray(np.linalg.norm(desired - robot.forward_kinematics(result.q)[:, :3, 3], axis=1))

    def case(group: str, name: str, model: Robot, unknown: str | None, payloads: tuple[Payload, ...] = ()) -> Case:
        return Case(
            group=group, name=name, robot=robot, reference=joints if name == "AIRC" else curve, q0=d42_setup.START,
            controller=lambda: d42_setup.task_controllers(model, eta=ETA, unknown=unknown)[name],
            error=error, unit="m", payloads=payloads,
        )  # fmt: skip

    wrong = d42_setup.wrong_panda(robot, _SEED)
    cases = [case("D4.2 hand's pose", name, wrong, None) for name in ("CT", "AIRC", "MACT")]
    return [*cases, case("D4.2 payload", "MACT", robot, "link7", (hand,))]


#: names of the plants: whose accelerations, whose integrator (Runge-Kutta of order 4, or MuJoCo's implicitfast)
PLANTS = ("ours, RK4", "MuJoCo, our RK4", "MuJoCo, its RK4", "MuJoCo, implicitfast")
OURS, LAST = PLANTS[0], PLANTS[-1]
_CONTROL_PERIOD = 1e-3  # [s]
_LOG_EVERY = 10
_WINDOW = 10.0  # of the steady state [s], but no more than half of the run
_STEPPED = (("article", "adaptive"), ("D4.2 joints", "MACT"))  # run with other time steps too
_STEPPED_FOR = 10.0  # [s]
_TIMESTEPS = (1e-3, 5e-4, 2.5e-4, 1.25e-4)  # of integrators [s]
_FINEST = 3.125e-5  # what these are compared with [s]


@dataclass(frozen=True)
class Agreement:
    """Largest differences between MuJoCo and this package at random states, relative to the largest entry.

    Attributes
    ----------
    mass_matrix, bias, acceleration : float
        Of M; of C dq + G + friction; of forward dynamics.
    """

    mass_matrix: float
    bias: float
    acceleration: float


def agreement(robot: Robot, states: int = 100, seed: int = 0) -> Agreement:
    """Compare a robot with itself in MuJoCo.

    Parameters
    ----------
    robot : Robot
        That MuJoCo can hold.
    states : int
        Random ones: q within half a turn, dq and tau normal.
    seed : int
        Of the states.
    """
    plant, rng = MujocoPlant(robot), np.random.default_rng(seed)
    worst = np.zeros(3)
    for _ in range(states):
        q, (dq, tau) = rng.uniform(-np.pi, np.pi, robot.n), rng.normal(size=(2, robot.n))
        pairs = (
            (plant.mass_matrix(q), robot.mass_matrix(q)),
            (plant.bias(q, dq), robot.inverse_dynamics(q, dq, np.zeros(robot.n))),
            (plant.forward_dynamics(q, dq, tau), robot.forward_dynamics(q, dq, tau)),
        )
        worst = np.maximum(worst, [np.abs(theirs - ours).max() / np.abs(ours).max() for theirs, ours in pairs])
    return Agreement(*worst.tolist())


def run_case(case: Case, plant: str, duration: float, timestep: float | None = None) -> SimulationResult:
    """Run a closed loop on one of `PLANTS`.

    Parameters
    ----------
    case : Case
        The loop.
    plant : str
        One of `PLANTS`.
    duration : float
        [s].
    timestep : float, optional
        Of the integrator, a whole part of the control period [s]; default the control period.
    """
    native = plant == OURS
    own = plant not in PLANTS[:2]
    method = "rk4" if plant == PLANTS[2] else "implicitfast"
    arm: Any = case.robot
    if not native:
        arm = MujocoPlant(case.robot, payloads=case.payloads, integrator=method, timestep=timestep)
    dt = _CONTROL_PERIOD if own or timestep is None else timestep
    return simulate(
        arm, case.controller(), case.reference, duration, dt, control_period=_CONTROL_PERIOD, q0=case.q0, dq0=case.dq0,
        payloads=case.payloads if native else (), torque_limits=case.torque_limits, log_every=_LOG_EVERY,
        integrator="plant" if own else "rk4",
    )  # fmt: skip


def _steps(case: Case, duration: float, timesteps: Sequence[float]) -> Array:
    """Return the RMS differences in q of our RK4 and of implicitfast from our RK4 with a far shorter step, (k, 2)."""
    exact = run_case(case, OURS, duration, _FINEST).q
    return np.array([[_rms(run_case(case, plant, duration, h).q - exact) for plant in (OURS, LAST)] for h in timesteps])


@dataclass(frozen=True, kw_only=True, eq=False)
class MujocoPlants:
    """What the experiment found.

    Attributes
    ----------
    version : str
        Of MuJoCo.
    duration : float
        Of each run [s].
    cases : list of Case
        The closed loops.
    results : list of dict of str to Result
        For each case, by plant; MuJoCo's Runge-Kutta is not among them where there is Coulomb friction.
    agreements : dict of str to Agreement
        By bundled robot.
    timesteps : (k,) array
        Of integrators [s].
    distances : dict of str to (k, 2) array
        RMS of the difference in q between runs with these, of our RK4 and of MuJoCo's implicitfast, and a run of our
        RK4 with a far shorter step, for two of the cases by name [rad].
    """

    version: str
    duration: float
    cases: list[Case]
    results: list[dict[str, SimulationResult]]
    agreements: dict[str, Agreement]
    timesteps: Array
    distances: dict[str, Array]

    @property
    def plants(self) -> list[str]:
        """Plants that were run."""
        return list(self.results[0])

    def steady_state(self, case: int, plant: str) -> float | None:
        """Return the mean tracking error at the end of a run, in the case's unit; None if there was none."""
        result = self.results[case].get(plant)
        if result is None:
            return None
        last = result.t >= result.t[-1] - min(_WINDOW, 0.5 * result.t[-1])
        return float(np.mean(self.cases[case].error(result)[last]))

    def torque_difference(self, case: int, plant: str) -> float | None:
        """Return the RMS over time and joints of the torque on a plant less that on ours [N m]."""
        ours, theirs = self.results[case][OURS], self.results[case].get(plant)
        return None if theirs is None else _rms(theirs.tau - ours.tau)

    def position_difference(self, case: int, plant: str) -> float | None:
        """Return the same for joint positions [rad]."""
        ours, theirs = self.results[case][OURS], self.results[case].get(plant)
        return None if theirs is None else _rms(theirs.q - ours.q)

    def estimate_difference(self, case: int, plant: str) -> float | None:
        """Return how far the final estimate is from that on ours, relative to what adaptation moved; None without."""
        if not self.cases[case].adapts or plant not in self.results[case]:
            return None
        ours, theirs = (self.results[case][name].parameters for name in (OURS, plant))
        return float(np.linalg.norm(theirs[-1] - ours[-1]) / np.linalg.norm(ours[-1] - ours[0]))

    def table(self) -> str:
        """Return agreement, closed loops side by side, and the effect of the time step, as Markdown."""
        return "\n\n".join((self._agreement_table(), self._loop_table(), self._estimate_table(), self._step_table()))

    def _agreement_table(self) -> str:
        rows = [[name, *vars(found).values()] for name, found in self.agreements.items()]
        title = f"MuJoCo {self.version} and this package at random states: largest relative differences"
        return f"{title}\n\n{markdown(['robot', 'M', 'C dq + G', 'ddq'], rows, digits=2)}"

    def _loop_table(self) -> str:
        others = [plant for plant in self.plants if plant != OURS]
        rows = []
        for k, case in enumerate(self.cases):
            row: list[object] = [case.group, case.name, case.unit]
            row += [self.steady_state(k, plant) for plant in self.plants]
            rows.append([*row, *(self.torque_difference(k, plant) for plant in others)])
        header = ["", "", "unit", *self.plants, *(f"dtau: {plant}" for plant in others)]
        title = f"Closed loops of {self.duration:g} s: error in the steady state; RMS of torque less ours [N m]"
        return f"{title}\n\n{markdown(header, rows)}"

    def _estimate_table(self) -> str:
        others = [plant for plant in self.plants if plant != OURS]
        rows = [
            [case.group, case.name, *(self.estimate_difference(k, plant) for plant in others)]
            for k, case in enumerate(self.cases)
            if case.adapts
        ]
        title = "Estimates at the end: distance to those on our plant, relative to the way that adaptation went"
        return f"{title}\n\n{markdown(['', '', *others], rows, digits=2)}"

    def _step_table(self) -> str:
        columns = [f"{name}: {plant}" for name in self.distances for plant in ("ours", "implicitfast")]
        values = np.hstack(list(self.distances.values())).tolist()
        rows = [[1e3 * h, *row] for h, row in zip(self.timesteps.tolist(), values, strict=True)]
        title = f"RMS difference of q from our RK4 with steps of {1e3 * _FINEST:g} ms [rad]"
        return f"{title}\n\n{markdown(['time step [ms]', *columns], rows)}"

    def plot(self) -> Figure:
        """Draw tracking errors and mass estimates on both plants, and the effect of the time step."""
        from .figure import plot_mujoco_plants

        return plot_mujoco_plants(self)

    def to_dict(self) -> dict[str, Any]:
        """Return every number that is reported."""
        loops = [
            {
                "group": case.group,
                "controller": case.name,
                "unit": case.unit,
                "plants": {plant: self._numbers(k, plant) for plant in self.plants},
            }
            for k, case in enumerate(self.cases)
        ]
        return {
            "mujoco": self.version,
            "duration_s": self.duration,
            "agreement": {name: dict(vars(found)) for name, found in self.agreements.items()},
            "loops": loops,
            "time_step_s": self.timesteps.tolist(),
            "position_difference_rad": {name: values.tolist() for name, values in self.distances.items()},
        }

    def _numbers(self, case: int, plant: str) -> dict[str, float | None]:
        return {
            "steady_state": self.steady_state(case, plant),
            "torque_difference": self.torque_difference(case, plant),
            "position_difference": self.position_difference(case, plant),
            "estimate_difference": self.estimate_difference(case, plant),
        }


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _can_run(case: Case, plant: str) -> bool:
    """Whether a plant takes the case's friction: MuJoCo's Runge-Kutta would hold Coulomb friction over its stages."""
    return plant != PLANTS[2] or case.robot.description.friction is None


def run_mujoco_plants(
    duration: float = 40.0,
    plants: Sequence[str] = PLANTS,
    *,
    states: int = 100,
    timesteps: Sequence[float] = _TIMESTEPS,
    d42: bool = True,
) -> MujocoPlants:
    """Run the closed loops on all plants, and compare the robots.

    Parameters
    ----------
    duration : float
        Of each run [s].
    plants : sequence of str
        Of `PLANTS`, ours first.
    states : int
        Random states at which each bundled robot is compared with itself in MuJoCo.
    timesteps : sequence of float
        Of both integrators, for one loop of the article and one of D4.2 [s].
    d42 : bool
        Whether to run D4.2's loops too.
    """
    version = require("mujoco", "mujoco").__version__
    cases = article_cases()
    if d42:
        cases += joint_cases() + cartesian_cases(duration)
    results = [{p: run_case(case, p, duration) for p in plants if _can_run(case, p)} for case in cases]
    distances = {}
    for case in cases:
        if (case.group, case.name) in _STEPPED:
            distances[f"{case.group}, {case.name}"] = _steps(case, min(duration, _STEPPED_FOR), timesteps)
    return MujocoPlants(
        version=version,
        duration=duration,
        cases=cases,
        results=results,
        agreements={name: agreement(Robot.load(name), states) for name in robots.names()},
        timesteps=np.array(timesteps),
        distances=distances,
    )


def run(quick: bool = False) -> MujocoPlants:
    """Run the experiment."""
    if quick:
        return run_mujoco_plants(4.0, (OURS, LAST), states=10, timesteps=_TIMESTEPS[:2])
    return run_mujoco_plants()
