"""D4.2, section 3.3.3, Figures 27 and 28: an arm throws unknown objects into a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array, nonnegative
from ...control import MACT
from ...manipulation.throwing import ThrowMotion, landing, landing_sensitivity, throw
from ...parallel import Workers, map_seeds
from ...recordings.statistics import bootstrap_interval
from ...robot import Robot
from ...simulation import Payload
from ..judgment.judge import FreeParameter, chosen, declared
from ..mact.setup import ETA
from ..results import Varied, drawing, wilson_interval
from ..tables import markdown
from ..wrong_arms import with_friction
from . import setup as throws

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
    wall : float
        Fraction of the throws in which the object touches the edge of the opening.
    throws : int
        Number of throws.
    """

    rms: tuple[float, float, float]
    bias: float
    spread: float
    hits: tuple[float, float, float]
    wall: float
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
            f"{100.0 * self.wall:.1f}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


class Window(NamedTuple):
    """Distances of an object's center from the middle of the opening, in its plane, along each side [m].

    Attributes
    ----------
    inside : float
        Largest distance for which the object passes the edges without contact.
    wall : float
        Largest distance for which it touches an edge.
    """

    inside: float
    wall: float


def window(size: Sequence[float], box: float, descent: float = 0.5 * np.pi) -> Window:
    """Return the distances for an object that passes as a ball.

    Parameters
    ----------
    size : sequence of float
        Size of the object [m]; the second entry must pass the edges.
    box : float
        Width of the opening [m].
    descent : float
        Angle between the path and the opening [rad]: a ball on a flat path needs more room.
    """
    room = size[1] / np.sin(descent)
    return Window(0.5 * (box - room), 0.5 * (box + room))


def hits(misses: Array, half: float) -> Array:
    """Return True for landings within `half` of the middle in both directions, (k,) of bool."""
    return np.asarray(np.abs(misses).max(axis=1) <= half)


def figures_of(misses: Sequence[Array], windows: Sequence[Window]) -> Figures:
    """Return the statistics of landings (k, 2) of several objects, each with its own window."""
    points = np.concatenate(misses)
    inside, touching = (
        np.concatenate([hits(part, part_of[k]) for part, part_of in zip(misses, windows, strict=True)]) for k in (0, 1)
    )
    squares = np.sum(points**2, axis=1)
    if len(points) > 1:
        mean = bootstrap_interval(squares, confidence_level=_CONFIDENCE, n_resamples=2000)
        low, high = mean.low, mean.high
    else:
        low = high = float(squares[0])
    center = points.mean(axis=0)
    return Figures(
        rms=tuple(float(np.sqrt(x)) for x in (squares.mean(), low, high)),  # type: ignore[arg-type]  # three
        bias=float(np.linalg.norm(center)),
        spread=float(np.sqrt(np.mean(np.sum((points - center) ** 2, axis=1)))),
        hits=(float(inside.mean()), *wilson_interval(inside.tolist())),
        wall=float(np.mean(touching & ~inside)),
        throws=len(inside),
    )


def descent_of(motion: ThrowMotion) -> float:
    """Return the angle between the planned path and the plane of the landing [rad]."""
    release = motion.release
    v = landing(release.p, release.v, float(release.target[2])).v
    return float(np.arctan2(-v[2], np.hypot(v[0], v[1])))


#: friction of every joint, viscous [N m s/rad] and Coulomb [N m]; the last is that of `papers.mact.setup`
FRICTIONS = (0.0, 0.1, 0.3)
#: stiffness of the hand [N/m], and whether the last link and the friction adapt
KINDS: dict[str, tuple[float, bool, bool]] = {
    "adaptive, low: link 7": (30.0, True, False),
    "adaptive, low: link 7 and friction": (30.0, True, True),
    "fixed, high": (300.0, False, False),
}


def throw_with_friction(setup: throws.Setup, frictions: Sequence[float] = FRICTIONS) -> dict[tuple[str, float], float]:
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
            plant = with_friction(setup.robot, nonnegative(friction, "friction"), friction)
            squares = []
            for mass, _ in throws.OBJECTS.values():
                thrown = throw(
                    setup.motion,
                    _controller(setup, kind),
                    plant=plant,
                    payload=Payload(mass, setup.arm.palm, link=setup.robot.link_names[-1]),
                    repetitions=throws.REPETITIONS,
                    torque_limits=plant.limits.effort,
                    log=(),
                )
                squares.append(float(thrown.miss @ thrown.miss))
            result[kind, friction] = float(np.sqrt(np.mean(squares)))
    return result


def _controller(setup: throws.Setup, kind: str) -> MACT:
    """Return a controller with initially zero friction terms in its model."""
    stiffness, *adapting = KINDS[kind]
    names = [name for name, adapts in zip((setup.robot.link_names[-1], "friction"), adapting, strict=True) if adapts]
    return throws.mact(with_friction(setup.robot, 0.0, 0.0), setup.gains[stiffness], names, setup.arm.torques)


def friction_table(found: dict[tuple[str, float], float]) -> str:
    """Return the misses as Markdown."""
    sizes = sorted({friction for _, friction in found})
    rows: list[list[object]] = [
        [kind, *(f"{100.0 * found[kind, friction]:.2f}" for friction in sizes)]
        for kind in dict.fromkeys(kind for kind, _ in found)
    ]
    header = ["RMS miss [cm]; no noise, known grasp", *(f"friction {friction:g}" for friction in sizes)]
    return f"Friction absent from the models [N m, N m s/rad]\n\n{markdown(header, rows)}"


#: number of seeds of a full and of a quick run; each throws three objects with three controllers
_SEEDS, _QUICK = 40, 3
#: width of a box that distinguishes the controllers better than `BOX` [m]
SMALL_BOX = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Throwing(Varied):
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

    setup: throws.Setup
    seeds: int
    misses: dict[tuple[str, str], Array]
    positions: dict[tuple[str, str], Array]
    velocities: dict[tuple[str, str], Array]
    friction: dict[tuple[str, float], float]

    @property
    def box(self) -> float:
        """Width of the box's opening [m]."""
        return throws.BOX

    def all_misses(self, controller: str) -> Array:
        """Return the misses of all objects, (3 seeds, 2) [m]."""
        return np.concatenate([self.misses[controller, name] for name in throws.OBJECTS])

    def figures(self, controller: str, name: str | None = None) -> Figures:
        """Return scatter and hit rate with 95 % intervals, for one object or for all."""
        names = list(throws.OBJECTS) if name is None else [name]
        misses = [self.misses[controller, each] for each in names]
        return figures_of(
            misses, [window(throws.OBJECTS[each][1], self.box, descent_of(self.setup.motion)) for each in names]
        )

    def centers_within(self, controller: str, width: float = SMALL_BOX) -> float:
        """Return the fraction of throws that land with the center in a square of a width [m] around the target."""
        return float(hits(self.all_misses(controller), 0.5 * width).mean())

    def expected_spread(self) -> float:
        """Return the spread of landings caused by grasp and opening alone, to first order [m]."""
        release = self.setup.motion.release
        sensitivity = landing_sensitivity(release.p, release.v, float(release.target[2]), a=release.a)
        return float(np.sqrt(np.trace(sensitivity.covariance(position=throws.GRASP, time=self.setup.opening.jitter))))

    def table(self) -> str:
        """Return scatter, hit rates and errors, the report's and ours, as Markdown."""
        return self.join(self.scatter_table(), self.error_table(), friction_table(self.friction), self.release_text())

    def scatter_table(self) -> str:
        """Return scatter and hit rates of the throws, as Markdown."""
        keys = product(throws.CONTROLLERS, (*throws.OBJECTS, None))
        rows = [[controller, name or "all", *self.figures(controller, name).cells()] for controller, name in keys]
        header = [
            "controller",
            "object",
            "RMS miss [cm]",
            "bias [cm]",
            "spread [cm]",
            "in the box [%]",
            "on its wall [%]",
        ]
        expected = f"spread due to grasp and opening of the hand: {100.0 * self.expected_spread():.2f} cm"
        text = f"{self.seeds} throws of each object, 95 % intervals in brackets; {expected}"
        centers = ", ".join(f"{100.0 * self.centers_within(name):.0f} % ({name})" for name in throws.CONTROLLERS)
        small = f"center within a square of {100.0 * SMALL_BOX:g} cm: {centers}"
        return f"{text}\n\n{markdown(header, rows)}\n\n{small}"

    def error_table(self) -> str:
        """Return the RMSE of the throwing motion, as Markdown."""
        rows: list[list[object]] = [["report, adaptive", "", *(1e3 * value for value in throws.REPORT)]]
        rows += [
            [*key, *(1e3 * float(np.mean(part[key][:, -1])) for part in (self.positions, self.velocities))]
            for key in product(throws.CONTROLLERS, throws.OBJECTS)
        ]
        table = markdown(["controller", "object", "position [mm]", "velocity [mm/s]"], rows)
        return f"RMSE of the throwing motion\n\n{table}"

    def release_text(self) -> str:
        """Return the release and the motion as text."""
        motion = self.setup.motion
        return f"{motion.release!r}, then {motion!r}"

    plot = drawing("plot_throwing")

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers."""
        release = self.setup.motion.release
        return {
            "seeds": self.seeds,
            "box": self.box,
            "expected spread": self.expected_spread(),
            "release": {"q": release.q.tolist(), "dq": release.dq.tolist(), "p": release.p.tolist(),
                        "v": release.v.tolist(), "target": release.target.tolist()},
            **self.variations(),
            "friction": [{"kind": k, "friction": f, "rms": rms} for (k, f), rms in self.friction.items()],
            "centers within 5 cm": {controller: self.centers_within(controller) for controller in throws.CONTROLLERS},
            "controllers": {
                controller: {
                    "all": self.figures(controller).to_dict(),
                    **{name: self._numbers(controller, name) for name in throws.OBJECTS},
                }
                for controller in throws.CONTROLLERS
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


def run_throwing(
    seeds: int = _SEEDS,
    *,
    workers: Workers = 1,
    progress: bool = False,
    setup: throws.Setup | None = None,
    frictions: Sequence[float] = FRICTIONS,
) -> Throwing:
    """Plan a throw for the arm without object and simulate it with unknown objects.

    Parameters
    ----------
    seeds : int
        Number of throws of each object with each controller.
    workers : Workers
        Where the runs are made, see `run_tasks`.
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
    setup = throws.make_setup() if setup is None else setup
    work = partial(throws.throws_of_seed, setup)
    rows = map_seeds(work, seeds, workers=workers, progress=progress, description="throws")
    parts = [{key: np.array([row[key][k] for row in rows]) for key in rows[0]} for k in range(3)]
    return Throwing(
        setup=setup,
        seeds=len(rows),
        misses=parts[0],
        positions=parts[1],
        velocities=parts[2],
        friction=throw_with_friction(setup, frictions),
    )


#: quantities that section 3.3.3 does not print
QUANTITIES = (
    FreeParameter("box", throws.BOX, (0.1, 0.2, 0.3), "width of the box [m]", "unprinted"),
    FreeParameter("gamma", throws.GAMMA, (0.1, 1.0, 3.0, 100.0), "gamma",
                  "R_t also unprinted; 3 in the published code"),
    FreeParameter("friction", 0.0, (0.1, 0.36), "unknown friction [N m, N m s/rad]", "0.36 N m identified on average "
              "(Gaz et al., 2019); how much the model has is unprinted"),
    FreeParameter("eta", ETA, (1.0, 30.0, 300.0), "eta", "printed as a rule; 300 in the published code"),
    FreeParameter("noise", 1.0, (0.0, 3.0), "noise of the sensors / ours", "unprinted"),
    FreeParameter("share", throws.SHARE, (0.7, 0.8), "target / farthest target", "target unprinted, out of reach"),
    FreeParameter("jitter", throws.OPENING.jitter, (0.0, 0.01), "jitter of the hand's opening [s]", "unprinted"),
    FreeParameter("damping", 1.0, (1.5, 2.0), "damping ratio", "printed: critical or overdamped"),
)  # fmt: skip


@lru_cache(maxsize=16)
def _setup(share: float, damping: float) -> throws.Setup:
    return throws.make_setup((share * throws.FARTHEST, 0.0, throws.PLANE), damping=damping)


def throw_errors(*, draws: int = 5, **given: Any) -> dict[str, Array]:
    """Return miss and share in the box by controller, and the RMSE of the throwing motion under adaptation.

    Parameters
    ----------
    share, box, eta, gamma, friction, noise, jitter, damping
        See `QUANTITIES`.
    draws : int
        Number of throws of each object; results are means over the objects.
    """
    s = chosen(QUANTITIES, given)
    setup = replace(_setup(s.share, s.damping), eta=s.eta, gamma=s.gamma, friction=s.friction, noise=s.noise,
                    opening=replace(throws.OPENING, jitter=s.jitter))  # fmt: skip
    rows = [throws.throws_of_seed(setup, seed) for seed in range(draws)]
    descent = descent_of(setup.motion)
    windows = {name: window(size, s.box, descent) for name, (_, size) in throws.OBJECTS.items()}
    found: dict[str, Array] = {}
    for law in throws.CONTROLLERS:
        misses = np.array([[row[law, name][0] for name in throws.OBJECTS] for row in rows])
        inside = [[hits(misses[k, [j]], part.inside) for j, part in enumerate(windows.values())] for k in range(draws)]
        found[f"{law}: miss [m]"] = np.sqrt(np.mean(np.sum(misses**2, axis=2), axis=1))
        found[f"{law}: share in the box"] = np.mean(inside, axis=(1, 2))
    for k, what in ((1, "position RMSE [m]"), (2, "velocity RMSE [m/s]")):
        errors = [[row["adaptive, low", name][k][-1] for name in throws.OBJECTS] for row in rows]
        found[f"adaptive, low: {what}"] = np.mean(errors, axis=1)
    return found


_PRINTED = {
    "adaptive, low: position RMSE [m]": throws.REPORT[0],
    "adaptive, low: velocity RMSE [m/s]": throws.REPORT[1],
    **{f"{law}: share in the box": float(adaptive) for law, (_, adaptive) in throws.CONTROLLERS.items()},
}
#: Figures 27 and 28 with one choice of `QUANTITIES`
judge_throws = declared(
    "D4.2, Figures 27 and 28: throws",
    throw_errors,
    QUANTITIES,
    _PRINTED,
    orders=[[f"{law}: share in the box" for law in throws.CONTROLLERS]],
    budget=40,
    draws=1,
)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1, robot: Robot | None = None) -> Throwing:
    """Run the experiment of the registry; `seeds` throws of each object with each controller.

    With another arm than the report's there is no judgment of the report's numbers.
    """
    count = (_QUICK if quick else _SEEDS) if seeds is None else seeds
    setup = None if robot is None else throws.make_setup(robot=robot, starts=8 if quick else 25)
    found = run_throwing(count, workers=workers, progress=not quick, setup=setup)
    return found if robot is not None else replace(found, judgment=judge_throws(quick, workers))
