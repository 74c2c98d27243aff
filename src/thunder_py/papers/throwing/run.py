"""D4.2, section 3.3.3, Figures 27 and 28: an arm throws unknown objects into a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, at_least
from ...control import MACT, GradientAdaptation
from ...manipulation.throwing import landing_sensitivity, throw
from ...recordings.statistics import bootstrap_interval
from ...robot import Robot
from ...robot.joint_data import Friction
from ...simulation import Payload
from ..mact.setup import ETA, FLOOR, TORQUES
from ..parallel import map_seeds
from ..tables import markdown
from .setup import (
    BOX,
    CONTROLLERS,
    GAMMA,
    GRASP,
    OBJECTS,
    OPENING,
    PALM,
    REPETITIONS,
    REPORT,
    Setup,
    controller_of,
    make_setup,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FRICTIONS",
    "KINDS",
    "Figures",
    "Throwing",
    "figures_of",
    "friction_table",
    "hits",
    "run",
    "run_throwing",
    "throw_with_friction",
    "window",
]

#: friction of every joint, viscous [N m s/rad] and Coulomb [N m]; the last is that of `papers.mact.setup`
FRICTIONS = (0.0, 0.1, 0.3)
#: stiffness of the hand [N/m] and the adapted parameters
KINDS: dict[str, tuple[float, tuple[str, ...]]] = {
    "adaptive, low: link 7": (30.0, ("link7",)),
    "adaptive, low: link 7 and friction": (30.0, ("link7", "friction")),
    "fixed, high": (300.0, ()),
}
#: scale of a friction coefficient in the adaptive gain [N m, N m s/rad]
_SIZE = 1.0


def with_friction(robot: Robot, size: float) -> Robot:
    """Return the robot with the same friction in every joint."""
    return robot.replace(friction=Friction(terms=("viscous", "coulomb"), coefficients=np.full((robot.n, 2), size)))


def throw_with_friction(setup: Setup, frictions: Sequence[float] = FRICTIONS) -> dict[tuple[str, float], float]:
    """Return the RMS miss over the objects by kind of controller and friction [m], for ideal grasp, hand and sensors.

    Parameters
    ----------
    setup : Setup
        Arm, motion, gains.
    frictions : sequence of float
        Friction of every joint [N m, N m s/rad].
    """
    result = {}
    for kind in KINDS:
        for friction in frictions:
            plant = with_friction(setup.robot, at_least(friction, "friction"))
            squares = []
            for mass, _ in OBJECTS.values():
                thrown = throw(
                    setup.motion,
                    _controller(setup, kind),
                    plant=plant,
                    payload=Payload(mass, PALM, link="link7"),
                    repetitions=REPETITIONS,
                    torque_limits=plant.limits.effort,
                    log=(),
                )
                squares.append(float(thrown.miss @ thrown.miss))
            result[kind, friction] = float(np.sqrt(np.mean(squares)))
    return result


def _controller(setup: Setup, kind: str) -> MACT:
    """Return a controller with initially zero friction terms in its model."""
    stiffness, names = KINDS[kind]
    K_p, K_d = setup.gains[stiffness]
    nominal = with_friction(setup.robot, 0.0)
    if not names:
        return MACT(nominal, K_p, K_d, adaptation=None)
    unknown = nominal.unknown(names)
    links = np.flatnonzero(unknown.mask) < 10 * nominal.n
    size = np.where(links, np.maximum(np.abs(unknown.values), FLOOR), _SIZE)
    law = GradientAdaptation(ETA / size, unknown=unknown)
    return MACT(nominal, K_p, K_d, adaptation=law, gamma=GAMMA, R_t=1.0 / TORQUES)


def friction_table(found: dict[tuple[str, float], float]) -> str:
    """Return the misses as Markdown."""
    sizes = sorted({friction for _, friction in found})
    rows: list[list[object]] = [
        [kind, *(f"{100.0 * found[kind, friction]:.2f}" for friction in sizes)]
        for kind in dict.fromkeys(kind for kind, _ in found)
    ]
    header = ["RMS miss [cm]; no noise, known grasp", *(f"friction {friction:g}" for friction in sizes)]
    return f"Friction absent from the models [N m, N m s/rad]\n\n{markdown(header, rows)}"


_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figures:
    """Statistics of landings.

    Attributes
    ----------
    rms : tuple of float
        Root mean square of the distance from the target, and the ends of its interval [m].
    bias : float
        Distance of the mean landing from the target [m].
    spread : float
        Root mean square of the distance from the mean landing [m].
    hits : tuple of float
        Fraction of the throws that end in the box, and the ends of its interval.
    throws : int
        Number of throws.
    """

    rms: tuple[float, float, float]
    bias: float
    spread: float
    hits: tuple[float, float, float]
    throws: int

    def cells(self) -> list[str]:
        """Return the entries of a table."""
        rms, low, high = (100.0 * x for x in self.rms)
        rate, least, most = (100.0 * x for x in self.hits)
        return [
            f"{rms:.2f} ({low:.2f} to {high:.2f})",
            f"{100.0 * self.bias:.2f}",
            f"{100.0 * self.spread:.2f}",
            f"{rate:.1f} ({least:.1f} to {most:.1f})",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def window(size: Sequence[float], box: float) -> float:
    """Return the largest distance of an object's center from the middle of a box for which all of it falls in [m].

    Parameters
    ----------
    size : sequence of float
        Size of the object [m]; the second entry must pass the edges.
    box : float
        Width of the opening [m].
    """
    return 0.5 * (box - size[1])


def hits(misses: Array, half: float) -> Array:
    """Return True for landings within `half` of the middle in both directions, (k,) of bool."""
    return np.asarray(np.abs(misses).max(axis=1) <= half)


def figures_of(misses: Sequence[Array], halves: Sequence[float]) -> Figures:
    """Return the statistics of landings (k, 2) of several objects, each with its own window."""
    from scipy.stats import binomtest

    points = np.concatenate(misses)
    inside = np.concatenate([hits(part, half) for part, half in zip(misses, halves, strict=True)])
    squares = np.sum(points**2, axis=1)
    if len(points) > 1:
        mean = bootstrap_interval(squares, confidence=_CONFIDENCE, resamples=2000)
        low, high = mean.low, mean.high
    else:
        low = high = float(squares[0])
    count = int(inside.sum())
    ends = binomtest(count, len(inside)).proportion_ci(_CONFIDENCE, "wilson")
    center = points.mean(axis=0)
    return Figures(
        rms=tuple(float(np.sqrt(x)) for x in (squares.mean(), low, high)),  # type: ignore[arg-type]  # three
        bias=float(np.linalg.norm(center)),
        spread=float(np.sqrt(np.mean(np.sum((points - center) ** 2, axis=1)))),
        hits=(count / len(inside), float(ends.low), float(ends.high)),
        throws=len(inside),
    )


#: number of seeds of a full and of a quick run; each throws three objects with three controllers
_SEEDS, _QUICK = 40, 3
#: width of a box that distinguishes the controllers better than `BOX` [m]
SMALL_BOX = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Throwing:
    """Results of the experiment.

    Attributes
    ----------
    setup : Setup
        Arm, motion, gains.
    seeds : int
        Number of throws of each object with each controller, with different grasps, jitter and noise.
    misses : dict of (str, str) to (seeds, 2) array
        By controller and object: landing minus target [m].
    positions, velocities : dict of (str, str) to (seeds, REPETITIONS + 1) array
        RMSE of the hand in each swing, that of the throw last [m], [m/s].
    friction : dict of (str, float) to float
        RMS miss with friction that is absent from the controller's model; see `throw_with_friction` [m].
    """

    setup: Setup
    seeds: int
    misses: dict[tuple[str, str], Array]
    positions: dict[tuple[str, str], Array]
    velocities: dict[tuple[str, str], Array]
    friction: dict[tuple[str, float], float]

    @property
    def box(self) -> float:
        """Width of the box's opening [m]."""
        return BOX

    def all_misses(self, controller: str) -> Array:
        """Return the misses of all objects, (3 seeds, 2) [m]."""
        return np.concatenate([self.misses[controller, name] for name in OBJECTS])

    def figures(self, controller: str, name: str | None = None) -> Figures:
        """Return scatter and hit rate with 95 % intervals, for one object or for all."""
        names = list(OBJECTS) if name is None else [name]
        misses = [self.misses[controller, each] for each in names]
        return figures_of(misses, [window(OBJECTS[each][1], BOX) for each in names])

    def centers_within(self, controller: str, width: float = SMALL_BOX) -> float:
        """Return the fraction of throws that land with the center in a square of a width [m] around the target."""
        return float(hits(self.all_misses(controller), 0.5 * width).mean())

    def expected_spread(self) -> float:
        """Return the spread of landings caused by grasp and opening alone, to first order [m]."""
        release = self.setup.motion.release
        sensitivity = landing_sensitivity(release.p, release.v, float(release.target[2]), a=release.a)
        return float(np.sqrt(np.trace(sensitivity.covariance(position=GRASP, time=OPENING.jitter))))

    def table(self) -> str:
        """Return scatter, hit rates and errors, the report's and ours, as Markdown."""
        parts = [self.scatter_table(), self.error_table(), friction_table(self.friction), self.release_text()]
        return "\n\n".join(parts)

    def scatter_table(self) -> str:
        """Return scatter and hit rates of the throws, as Markdown."""
        rows: list[list[object]] = []
        for controller in CONTROLLERS:
            for name in (*OBJECTS, None):
                rows.append([controller, name or "all", *self.figures(controller, name).cells()])
        header = ["controller", "object", "RMS miss [cm]", "bias [cm]", "spread [cm]", "in the box [%]"]
        expected = f"spread due to grasp and opening of the hand: {100.0 * self.expected_spread():.2f} cm"
        text = f"{self.seeds} throws of each object, 95 % intervals in brackets; {expected}"
        centers = ", ".join(f"{100.0 * self.centers_within(name):.0f} % ({name})" for name in CONTROLLERS)
        small = f"center within a square of {100.0 * SMALL_BOX:g} cm: {centers}"
        return f"{text}\n\n{markdown(header, rows)}\n\n{small}"

    def error_table(self) -> str:
        """Return the RMSE of the throwing motion, as Markdown."""
        rows: list[list[object]] = [["report, adaptive", "", 1e3 * REPORT[0], 1e3 * REPORT[1]]]
        for controller in CONTROLLERS:
            for name in OBJECTS:
                parts = (self.positions[controller, name], self.velocities[controller, name])
                rows.append([controller, name, *(1e3 * float(np.mean(part[:, -1])) for part in parts)])
        return "RMSE of the throwing motion\n\n" + markdown(
            ["controller", "object", "position [mm]", "velocity [mm/s]"], rows
        )

    def release_text(self) -> str:
        """Return the release and the motion as text."""
        motion = self.setup.motion
        return f"{motion.release!r}, then {motion!r}"

    def plot(self) -> Figure:
        """Draw Figures 27a, 27b and 28."""
        from .figure import plot_throwing

        return plot_throwing(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers."""
        release = self.setup.motion.release
        return {
            "seeds": self.seeds,
            "box": BOX,
            "expected spread": self.expected_spread(),
            "release": {"q": release.q.tolist(), "dq": release.dq.tolist(), "p": release.p.tolist(),
                        "v": release.v.tolist(), "target": release.target.tolist()},
            "friction": [{"kind": k, "friction": f, "rms": rms} for (k, f), rms in self.friction.items()],
            "centers within 5 cm": {controller: self.centers_within(controller) for controller in CONTROLLERS},
            "controllers": {
                controller: {
                    "all": self.figures(controller).to_dict(),
                    **{name: self._numbers(controller, name) for name in OBJECTS},
                }
                for controller in CONTROLLERS
            },
        }  # fmt: skip

    def _numbers(self, controller: str, name: str) -> dict[str, Any]:
        key = (controller, name)
        return {
            **self.figures(controller, name).to_dict(),
            "misses": self.misses[key].tolist(),
            "position RMSE": self.positions[key].tolist(),
            "velocity RMSE": self.velocities[key].tolist(),
        }


#: by controller and object: miss, RMSE of position and of velocity
_Row = dict[tuple[str, str], tuple[Array, Array, Array]]


def throws_of_seed(setup: Setup, seed: int) -> _Row:
    """Throw every object once with every controller, all with the same grasp, jitter and noise."""
    result: _Row = {}
    grasps, noise, jitter = np.random.SeedSequence(seed).spawn(3)
    rng = np.random.default_rng(grasps)
    for name in OBJECTS:
        grasp = setup.grasp(name, rng)
        sensors = setup.sensors(int(noise.generate_state(1)[0]))
        for controller in CONTROLLERS:
            thrown = throw(
                setup.motion, controller_of(setup, controller), plant=setup.robot, payload=grasp.payload,
                offset=grasp.offset, repetitions=REPETITIONS, hand=OPENING, sensors=sensors,
                seed=int(jitter.generate_state(1)[0]), torque_limits=setup.robot.limits.effort, log=(),
            )  # fmt: skip
            result[controller, name] = (thrown.miss, thrown.position_errors, thrown.velocity_errors)
    return result


def run_throwing(
    seeds: int = _SEEDS,
    *,
    jobs: int = 1,
    progress: bool = False,
    setup: Setup | None = None,
    frictions: Sequence[float] = FRICTIONS,
) -> Throwing:
    """Plan a throw for the arm without object and simulate it with unknown objects.

    Parameters
    ----------
    seeds : int
        Number of throws of each object with each controller.
    jobs : int
        Number of processes.
    progress : bool
        Show a progress bar.
    setup : Setup, optional
        Default ``make_setup()``.
    frictions : sequence of float
        Friction of the joints for the comparison with friction.

    Notes
    -----
    The report uses a real arm, this is a simulation: Panda and SoftHand are known exactly and have no friction.
    All controllers repeat the motion four times before the throw, so those without adaptation are in steady state.
    """
    setup = make_setup() if setup is None else setup
    rows = map_seeds(partial(throws_of_seed, setup), seeds, jobs=jobs, progress=progress, description="throws")
    parts = [{key: np.array([row[key][k] for row in rows]) for key in rows[0]} for k in range(3)]
    return Throwing(
        setup=setup,
        seeds=len(rows),
        misses=parts[0],
        positions=parts[1],
        velocities=parts[2],
        friction=throw_with_friction(setup, frictions),
    )


def run(quick: bool = False, *, seeds: int | None = None, jobs: int = 1) -> Throwing:
    """Run the experiment of the registry; `seeds` throws of each object with each controller."""
    return run_throwing((_QUICK if quick else _SEEDS) if seeds is None else seeds, jobs=jobs, progress=not quick)
