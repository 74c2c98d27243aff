"""The article's and D4.2's closed loops on MuJoCo's plant and on ours: same dynamics, another engine and integrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import robots
from ...checks import Array
from ...mujoco import MujocoPlant
from ...optional import require
from ...parallel import Workers, map_items
from ...plotting import style
from ...plotting.panels import new_panels
from ...plotting.style import draw_lines, draw_truth, label, label_time, outside_legend
from ...robot import Robot
from ...simulation import Payload, SimulationResult, simulate
from ...simulation.divergence import outcome_recorded
from ..lissajous import run as article
from ..mact import setup as d42_setup
from ..results import Draws, Varied, rms, titled
from ..softhand.setup import HAND_COM, HAND_MASS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: adaptive gain of D4.2's controllers: the slow one, with which all of them stay bounded
ETA = 10.0
DRAWN = f"{article.DRAWN}; parameter error of 15 % in D4.2's models"


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """Closed loop without a plant.

    Attributes
    ----------
    group, name : str
        Source and controller.
    robot : Robot
        Robot with the true parameters.
    controller : callable
        Returns a new controller.
    reference : reference
        Reference of the controller.
    q0, dq0 : (n,) array
        Initial state [rad, rad/s].
    error : callable
        Norm of the tracking error of a `SimulationResult` over time, (k,).
    unit : str
        Unit of the error.
    payloads : tuple of Payload
        Payloads of the plant, unknown to the controller.
    torque_limits : (n,) array or None
        Torque limits [N m].
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
        """True if the controller adapts."""
        return self.name not in ("CT", "fixed")


def article_cases(seed: int = 0) -> list[Case]:
    """Return the article's experiment: backstepping with a wrong last link (`draw_last_link`), adaptive or not."""
    robot = Robot.load("panda")
    nominal = article.draw_last_link(robot, seed)
    reference = article.curve(robot)
    return [
        Case(
            group="article", name=name, robot=robot, reference=reference, q0=article.START,
            controller=partial(article.controller_of, nominal, adaptive=name == "adaptive"),
            error=lambda result: result.error_norm(slice(0, 3)), unit="m", torque_limits=robot.limits.effort,
        )
        for name in ("adaptive", "fixed")
    ]  # fmt: skip


def joint_cases(seed: int = 0) -> list[Case]:
    """Return D4.2's four controllers in joint space, with friction and a parameter error of 15 %."""
    robot, curve = d42_setup.panda(), d42_setup.joint_curve()
    model = d42_setup.wrong_panda(robot, seed)

    def make(name: str) -> Callable[[], Any]:
        return lambda: d42_setup.joint_controllers(model, ETA)[name]

    return [
        Case(
            group="D4.2 joints", name=name, robot=robot, controller=make(name), reference=curve, q0=curve(0.0).q,
            error=lambda result: result.error_norm(), unit="rad",
        )
        for name in ("CT", "ACT", "AIRC", "MACT")
    ]  # fmt: skip


def cartesian_cases(duration: float, seed: int = 0) -> list[Case]:
    """Return D4.2's controllers on the slow curve, with a parameter error of 15 %, and MACT with an unknown hand."""
    robot = d42_setup.panda()
    curve = d42_setup.curves(robot, duration)["liss3D"]
    joints = d42_setup.inverse_kinematics(robot).joint_reference(curve, d42_setup.START, duration)
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

    wrong = d42_setup.wrong_panda(robot, seed)
    cases = [case("D4.2 hand's pose", name, wrong, None) for name in ("CT", "AIRC", "MACT")]
    return [*cases, case("D4.2 payload", "MACT", robot, "link7", (hand,))]


#: plants: source of the accelerations, and integrator (Runge-Kutta of order 4, or MuJoCo's implicitfast)
PLANTS = ("ours, RK4", "MuJoCo, our RK4", "MuJoCo, its RK4", "MuJoCo, implicitfast")
OURS, LAST = PLANTS[0], PLANTS[-1]
_CONTROL_PERIOD = 1e-3  # [s]
_LOG_EVERY = 10
_WINDOW = 10.0  # steady state, at most half of the run [s]
_STEPPED = (("article", "adaptive"), ("D4.2 joints", "MACT"))  # cases with several time steps
_STEPPED_FOR = 10.0  # [s]
_TIMESTEPS = (1e-3, 5e-4, 2.5e-4, 1.25e-4)  # of the integrators [s]
_FINEST = 3.125e-5  # of the run that they are compared with [s]


def agreement(robot: Robot, states: int = 100) -> dict[str, float]:
    """Return largest differences between MuJoCo and this package at random states, relative to the largest entry.

    Parameters
    ----------
    robot : Robot
        A robot that MuJoCo can represent.
    states : int
        Number of random states: q within half a turn, dq and tau normal.

    Returns
    -------
    dict of str to float
        Differences of M (``mass_matrix``), of C dq + G + friction (``bias``), and of forward dynamics
        (``acceleration``).
    """
    plant, rng = MujocoPlant(robot), np.random.default_rng(0)
    worst = np.zeros(3)
    for _ in range(states):
        q, (dq, tau) = rng.uniform(-np.pi, np.pi, robot.n), rng.normal(size=(2, robot.n))
        pairs = (
            (plant.mass_matrix(q), robot.mass_matrix(q)),
            (plant.bias(q, dq), robot.inverse_dynamics(q, dq, np.zeros(robot.n))),
            (plant.forward_dynamics(q, dq, tau), robot.forward_dynamics(q, dq, tau)),
        )
        worst = np.maximum(worst, [np.abs(theirs - ours).max() / np.abs(ours).max() for theirs, ours in pairs])
    return dict(zip(("mass_matrix", "bias", "acceleration"), worst.tolist(), strict=True))


@outcome_recorded()  # of interest is whether plants agree, beyond limits too
def run_case(case: Case, plant: str, duration: float, timestep: float | None = None) -> SimulationResult:
    """Run a closed loop on one of `PLANTS`.

    Parameters
    ----------
    case : Case
        Closed loop.
    plant : str
        One of `PLANTS`.
    duration : float
        Duration [s].
    timestep : float, optional
        Time step of the integrator, a divisor of the control period [s]; default the control period.
    """
    native, own = plant == OURS, plant not in PLANTS[:2]
    arm: Any = case.robot
    if not native:
        method = "rk4" if plant == PLANTS[2] else "implicitfast"
        arm = MujocoPlant(case.robot, payloads=case.payloads, integrator=method, timestep=timestep)
    dt = _CONTROL_PERIOD if own or timestep is None else timestep
    return simulate(
        arm, case.controller(), case.reference, duration, dt, control_period=_CONTROL_PERIOD, q0=case.q0, dq0=case.dq0,
        payloads=case.payloads if native else (), torque_limits=case.torque_limits, log_every=_LOG_EVERY,
        integrator="plant" if own else "rk4",
    )  # fmt: skip


class _Loop(NamedTuple):
    """Run of a case: its number, the plant, the time step, and the seed of the cases."""

    case: int
    plant: str
    duration: float
    timestep: float | None = None
    seed: int = 0


@lru_cache(maxsize=4)
def _cases(duration: float, seed: int) -> list[Case]:
    return article_cases(seed) + joint_cases(seed) + cartesian_cases(duration, seed)


def _run_loop(duration: float, loop: _Loop) -> SimulationResult:
    return run_case(_cases(duration, loop.seed)[loop.case], loop.plant, loop.duration, loop.timestep)


def _stepped(case: int, duration: float, timesteps: Sequence[float]) -> list[_Loop]:
    """Return the runs of a case with several time steps, first our RK4 with a much shorter step."""
    coarse = [_Loop(case, plant, duration, h) for h in timesteps for plant in (OURS, LAST)]
    return [_Loop(case, OURS, duration, _FINEST), *coarse]


@dataclass(frozen=True, kw_only=True, eq=False)
class MujocoPlants(Varied):
    """Results of the experiment.

    Attributes
    ----------
    version : str
        Version of MuJoCo.
    duration : float
        Duration of each run [s].
    cases : list of Case
        Closed loops.
    results : list of dict of str to SimulationResult
        Runs of each case, by plant; without MuJoCo's Runge-Kutta where there is Coulomb friction.
    agreements : dict of str to dict of str to float
        Comparison of the dynamics, see `agreement`, by bundled robot.
    timesteps : (k,) array
        Time steps of the integrators [s].
    distances : dict of str to (k, 2) array
        RMS difference in q between runs with these time steps, of our RK4 and of MuJoCo's implicitfast, and a run of
        our RK4 with a much shorter step, for two of the cases by name [rad].
    """

    version: str
    duration: float
    cases: list[Case]
    results: list[dict[str, SimulationResult]]
    agreements: dict[str, dict[str, float]]
    timesteps: Array
    distances: dict[str, Array]

    @property
    def plants(self) -> list[str]:
        """Plants of the runs."""
        return list(self.results[0])

    def numbers(self, case: int, plant: str) -> dict[str, float | None]:
        """Return the numbers of a run, each None without a run.

        Returns
        -------
        dict of str to float or None
            ``steady_state``: mean tracking error at the end, in the case's unit; ``torque_difference`` [N m] and
            ``position_difference`` [rad]: RMS over time and joints, from our plant; ``estimate_difference``: distance
            of the final estimates relative to the adaptation on our plant, None without adaptation.
        """
        names = ("steady_state", "torque_difference", "position_difference", "estimate_difference")
        loop, ours, theirs = self.cases[case], self.results[case][OURS], self.results[case].get(plant)
        if theirs is None:
            return dict.fromkeys(names)
        apart = (rms(theirs.tau - ours.tau), rms(theirs.q - ours.q))
        estimates = None
        if loop.adapts:
            first, last = ours.parameters[0], ours.parameters[-1]
            estimates = float(np.linalg.norm(theirs.parameters[-1] - last) / np.linalg.norm(last - first))
        return dict(zip(names, (_steady_state(loop, theirs), *apart, estimates), strict=True))

    def table(self) -> str:
        """Return agreement, closed loops, and the effect of the time step, as Markdown."""
        others = [plant for plant in self.plants if plant != OURS]
        loops: list[list[object]] = []
        estimates: list[list[object]] = []
        for k, case in enumerate(self.cases):
            found = {plant: self.numbers(k, plant) for plant in self.plants}
            torques = (found[plant]["torque_difference"] for plant in others)
            loops.append([case.group, case.name, case.unit, *(x["steady_state"] for x in found.values()), *torques])
            if case.adapts:
                estimates.append([case.group, case.name, *(found[plant]["estimate_difference"] for plant in others)])
        pairs = [f"{name}: {plant}" for name in self.distances for plant in ("ours", "implicitfast")]
        steps = np.column_stack([1e3 * self.timesteps, *self.distances.values()]).tolist()
        titles = (
            f"MuJoCo {self.version} and this package at random states: largest relative differences",
            f"Closed loops of {self.duration:g} s: steady-state error; RMS difference of torques from ours [N m]",
            "Final estimates: distance from those on our plant, relative to the adaptation there",
            f"RMS difference of q from our RK4 with steps of {1e3 * _FINEST:g} ms [rad]",
        )
        agreements = [[name, *found.values()] for name, found in self.agreements.items()]
        return self.join(
            titled(titles[0], ["robot", "M", "C dq + G", "ddq"], agreements, 2),
            titled(titles[1], ["", "", "unit", *self.plants, *(f"dtau: {plant}" for plant in others)], loops),
            titled(titles[2], ["", "", *others], estimates, 2),
            titled(titles[3], ["time step [ms]", *pairs], steps),
        )

    def plot(self) -> Figure:
        """Draw errors of all loops (lines: our plant, dots: MuJoCo), the estimated mass, torques, and the time step."""
        title = "Closed loops of the Thunder article and of D4.2; lines: our plant, dots: MuJoCo"
        figure, panels = new_panels([[*_TITLES], ["mass", "torque", "step"]], title=title)
        ours, last = self.plants[0], self.plants[-1]
        for group, title in _TITLES.items():
            units = {case.unit for case in self.cases if case.group == group}
            for case, results in zip(self.cases, self.results, strict=True):
                if case.group == group:
                    curves = [(results[plant].t, case.error(results[plant])) for plant in (ours, last)]
                    _draw_both(panels[group], curves, _LAWS.get(case.name, case.name))
            y = f"tracking error [{''.join(units)}]"
            label(panels[group], title, "time [s]", y, xlim=(0.0, self.duration), yscale="log")
        robot, runs = self.cases[0].robot, self.results[0]
        t, k = runs[ours].t, robot.parameter_names.index("link7.m")
        _draw_both(panels["mass"], [(runs[p].t, runs[p].parameters[:, k]) for p in (ours, last)], "backstepping")
        draw_truth(panels["mass"], robot.parameters[k])
        label_time(panels["mass"], t, "Thunder article, as Figure 7: mass of link 7", "$m$ [kg]")
        apart = {p: np.linalg.norm(runs[p].tau - runs[ours].tau, axis=1) for p in self.plants[1:]}
        colors = (style.PINK, style.SKY, style.BROWN)[3 - len(apart) :]
        y, title = "norm of the torque's difference [N m]", "backstepping: difference from our plant"
        draw_lines(panels["torque"], t, apart, title, y, colors=colors, log=True, width=style.THIN)
        h = 1e3 * self.timesteps
        for (name, distances), mark in zip(self.distances.items(), "os", strict=False):
            law = _LAWS.get(name.rpartition(", ")[2], "MACT")
            for k, color, plant in ((0, style.PURPLE, "our RK4"), (1, style.BROWN, "implicitfast")):
                look: dict[str, Any] = {"color": color, "label": f"{law}: {plant}", "linewidth": style.LINE}
                panels["step"].loglog(h, distances[:, k], f"{mark}-", **look)
        label(panels["step"], "error of both integrators", "time step [ms]", "RMS error of $q$ [rad]")
        panels["step"].set_xticks(h, [f"{x:g}" for x in h], minor=False)
        panels["step"].set_xticks([], minor=True)
        for name, room, place in (("torque", 30.0, "upper right"), ("step", 3e5, "upper left")):  # for the legend
            panels[name].set_ylim(top=room * panels[name].get_ylim()[1])
            panels[name].legend(fontsize="small", loc=place)
        return outside_legend(figure, *(panels[name] for name in (*_TITLES, "mass")), ncols=8)

    def to_dict(self) -> dict[str, Any]:
        """Return all reported numbers; steady states in the unit of the loop, differences in N m and rad."""
        loops = [
            {"group": case.group, "controller": case.name, "unit": case.unit}
            | {"plants": {plant: self.numbers(k, plant) for plant in self.plants}}
            for k, case in enumerate(self.cases)
        ]
        return {
            "mujoco": self.version,
            "duration_s": self.duration,
            "agreement": self.agreements,
            "loops": loops,
            "time_step_s": self.timesteps,
            "position_difference_rad": self.distances,
            **{"draws": None, **self.variations()},
        }


def _steady_state(case: Case, result: SimulationResult) -> float:
    last = result.t >= result.t[-1] - min(_WINDOW, 0.5 * result.t[-1])
    return float(np.mean(case.error(result)[last]))


def _figures(cases: Sequence[Case], runs: Mapping[tuple[int, str], SimulationResult]) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for k, case in enumerate(cases):
        name = f"{case.group}, {case.name}"
        for whose, plant in (("ours", OURS), ("MuJoCo", LAST)):
            row[f"{name}: steady state, {whose} [{case.unit}]"] = _steady_state(case, runs[k, plant])
        row[f"{name}: torque difference [N m]"] = rms(runs[k, LAST].tau - runs[k, OURS].tau)
    return row


def _can_run(case: Case, plant: str) -> bool:
    """Return False for MuJoCo's Runge-Kutta with friction: it holds Coulomb friction constant over its stages."""
    return plant != PLANTS[2] or case.robot.description.friction is None


def run_mujoco_plants(
    duration: float = 40.0,
    plants: Sequence[str] = PLANTS,
    *,
    states: int = 100,
    timesteps: Sequence[float] = _TIMESTEPS,
    seeds: int = 1,
    workers: Workers = 1,
) -> MujocoPlants:
    """Run the closed loops on all plants, and compare the robots.

    Parameters
    ----------
    duration : float
        Duration of each run [s].
    plants : sequence of str
        Names from `PLANTS`, ours first.
    states : int
        Number of random states at which the dynamics of each bundled robot are compared.
    timesteps : sequence of float
        Time steps of both integrators, for one loop of the article and one of D4.2 [s].
    seeds : int
        Number of initial models; those after the first are run on our plant and the last one only.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    version = require("mujoco", "mujoco").__version__
    cases = _cases(duration, 0)
    loops = [_Loop(k, p, duration) for k, case in enumerate(cases) for p in plants if _can_run(case, p)]
    loops += [_Loop(k, p, duration, None, s) for s in range(1, seeds) for k in range(len(cases)) for p in (OURS, LAST)]
    for k, case in enumerate(cases):
        if (case.group, case.name) in _STEPPED:
            loops += _stepped(k, min(duration, _STEPPED_FOR), timesteps)
    found = map_items(partial(_run_loop, duration), loops, workers=workers, description="mujoco")
    runs = dict(zip(loops, found, strict=True))
    by_seed = [
        {(x.case, x.plant): run for x, run in runs.items() if x.seed == s and not x.timestep} for s in range(seeds)
    ]
    results = [{p: by_seed[0][k, p] for p in plants if (k, p) in by_seed[0]} for k in range(len(cases))]
    distances = {}
    for k, case in enumerate(cases):
        if (case.group, case.name) in _STEPPED:
            exact, *coarse = (runs[loop].q for loop in _stepped(k, min(duration, _STEPPED_FOR), timesteps))
            distances[f"{case.group}, {case.name}"] = np.reshape([rms(q - exact) for q in coarse], (-1, 2))
    return MujocoPlants(
        version=version,
        duration=duration,
        cases=cases,
        results=results,
        agreements={name: agreement(Robot.load(name), states) for name in robots.names()},
        timesteps=np.array(timesteps),
        distances=distances,
        draws=Draws.of(DRAWN, [_figures(cases, each) for each in by_seed]) if seeds > 1 else None,
    )


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> MujocoPlants:
    """Run the experiment of the registry; `seeds` initial models, by default 1."""
    options: dict[str, Any] = {"seeds": 1 if seeds is None else seeds, "workers": workers}
    if quick:
        return run_mujoco_plants(4.0, (OURS, LAST), states=10, timesteps=_TIMESTEPS[:2], **options)
    return run_mujoco_plants(**options)


#: group of cases -> title of its panel
_TITLES = {
    "article": "Thunder article, as Figure 10",
    "D4.2 joints": "D4.2, as Figure 14",
    "D4.2 hand's pose": "D4.2, as Figure 17",
}


_LAWS = {"adaptive": "backstepping", "fixed": "not adaptive"}


def _draw_both(axes: Axes, curves: list[tuple[Any, Any]], law: str) -> None:
    """Draw a line for our plant, and dots at some times for MuJoCo's."""
    ours, theirs = curves
    some = slice(1, None, max(1, len(theirs[0]) // 25))
    axes.plot(*(x[1:] for x in ours), color=style.LAW_COLORS[law], linewidth=style.LINE, label=law)
    axes.plot(*(x[some] for x in theirs), ".", color=style.LAW_COLORS[law], markersize=5)
