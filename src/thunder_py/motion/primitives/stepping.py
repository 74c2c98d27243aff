"""Common part of the dynamic movement primitives: a fit of weights, a core that is stepped, files."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, numbers, one_of, positive
from ...errors import NotFittedError, ThunderError, ThunderWarning, outer_level
from ...trajectory.hermite import MinimumJerk, duration_of, minimum_jerk
from ...values import Estimator, Stateful
from ..estimator_file import read_estimator, write_estimator
from ..travel import TRAINING_RATIOS, excesses, travel
from .bases import BASES, REGRESSIONS, DMPBasis, fit_weights
from .demonstrations import Demonstration
from .dynamic_potential import DynamicPotential, spheres_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: largest path length, peak speed and peak acceleration of a motion without warning, relative to the larger one of the
#: demonstration over the same duration and minimum jerk; alone, Hoffmann's form has 2.2 times the speed of the latter
RATIOS = (2.0, 2.5, 10.0)
#: part of the largest coordinate below which others are not compared
_SMALL = 0.1
#: number of steps of motions that are compared
COMPARED = 100
#: largest number of coordinates of the core
_MOST = 16
#: longest inner step of a rollout, in parts of its duration or period
_INNER = 2e-3
#: largest number of samples of a rollout, and of durations
_MOST_STEPS, _MOST_DURATIONS = 10_000_000, 1e4
#: largest RMS distance of a reproduction from its only demonstration without warning, relative to the extent
_FAR, _ROUNDING = 0.1, 1e-9
SCALINGS = ("hoffmann", "paper")
#: displacements below this, relative to the extent of the demonstration, count as zero
NO_WAY = 1e-6

_Core = TypeVar("_Core", _core.Dmp, _core.QuaternionDmp)
_State = TypeVar("_State")
_Loaded = TypeVar("_Loaded", bound="SteppedPrimitive[Any, Any]")


class DMPState(NamedTuple):
    """State of a primitive after a step: `x`, `dx`, `ddx`, each (d,)."""

    x: Array
    dx: Array
    ddx: Array


@dataclass(eq=False, repr=False)
class SteppedPrimitive(Estimator, Stateful, Generic[_Core, _State]):
    """Movement primitive with a core that is learned, and a copy of it that is started, then stepped."""

    n_basis: int = 21
    _: KW_ONLY
    overlap: float = 1.0
    K: float = 150.0
    D: float | None = None
    regression: str = "ls"
    weights_: Array = field(init=False)
    basis_: DMPBasis = field(init=False)
    D_: float = field(init=False)
    condition_: float = field(init=False)
    _core: _Core | None = field(init=False, default=None)
    _moving: _Core | None = field(init=False, default=None)
    #: arguments of `with_weights`
    _stored: ClassVar[tuple[str, ...]] = ()
    #: results beside them
    _results: ClassVar[tuple[str, ...]] = ("condition_",)

    def _learn(self, core: type[_Core], weights: Array, *settings: Any) -> None:
        """Store weights, and the core made of them with its settings."""
        self.basis_, self.D_ = self._checked()
        self._core, self._moving = core(self.basis_, self.K, self.D_, *settings), None
        self.weights_, self.condition_ = weights, math.nan

    def _checked(self) -> tuple[DMPBasis, float]:
        """Return basis and damping, by default the critical one, after checks of the arguments of the constructor."""
        one_of(self.regression, REGRESSIONS, "regression")
        K = positive(self.K, "K")
        return self._basis(), 2.0 * math.sqrt(K) if self.D is None else positive(self.D, "D")

    def _basis(self) -> DMPBasis:
        raise NotImplementedError

    def _read_weights(self, value: npt.ArrayLike) -> Array:
        weights = array(value, (self._checked()[0].n_basis, None), "weights")
        if not 1 <= weights.shape[1] <= _MOST:
            raise ThunderError(f"motions must have 1 to {_MOST} coordinates, got {weights.shape[1]}")
        return weights

    def _copy(self) -> _Core:
        if self._core is None:
            raise NotFittedError(f"{type(self).__name__} must be fitted before it moves: call fit first")
        return copy.copy(self._core)  # which can be pickled, unlike that of the core's own method

    def _started(self) -> _Core:
        if self._moving is None:
            self._copy()
            raise ThunderError(f"{type(self).__name__} must be started before it steps: call reset first")
        return self._moving

    def step(self, dt: float) -> _State:
        """Advance the motion by dt [s], and return its state."""
        self._started().step(positive(dt, "dt"))
        return self.state

    @property
    def state(self) -> _State:
        """State of the motion."""
        raise NotImplementedError

    @property
    def goal(self) -> Array:
        """Current goal; may be set between steps."""
        return self._started().goal

    @goal.setter
    def goal(self, value: Any) -> None:
        self._started().set_goal(self._end(value, "goal"))

    def _end(self, value: Any, what: str) -> Array:
        """Return a start or goal."""
        return array(value, (self.weights_.shape[1],), what)

    @property
    def phase(self) -> float:
        """Phase x, decreasing from 1 to 0."""
        return self._started().phase

    @property
    def tau(self) -> float:
        """Time scale [s]: the duration, of a rhythmic primitive the period divided by 2 pi.

        It may be set between steps; phase, position and velocity are continuous.
        """
        return self._started().tau

    @tau.setter
    def tau(self, value: float) -> None:
        self._started().set_tau(positive(value, "tau"))

    def forcing(self, x: npt.ArrayLike) -> Array:
        """Return the learned f(x), (k, d), at phases x (k,)."""
        return self.basis_.forcing(self.weights_, array(x, (None,), "x"))

    def plot_basis(self, *, ax: Axes | None = None) -> Axes:
        """Draw the normalized basis functions over a duration or period.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from ...plotting.panels import panel

        ax, basis, part = panel(ax, (6.4, 4.8)), self._basis(), np.linspace(0.0, 1.0, 2001)
        x = basis.phase(part)
        ax.plot(part, basis.design(x) / basis.gain(x)[:, None], linewidth=1.0)
        title = f"{basis.n_basis} functions, {basis.kind}"
        ax.set(xlabel="t / duration, or period", ylabel="share of each function", title=title)
        ax.grid(visible=True, alpha=0.3)
        return ax

    def save(self, path: str | Path) -> None:
        """Write the learned primitive to a ``.npz`` file of plain arrays; a started motion is not part of it.

        Examples
        --------
        >>> import tempfile
        >>> from thunder_py.motion import DMP
        >>> from thunder_py.trajectory import minimum_jerk
        >>> dmp = DMP(K=100.0).fit(minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.2], 2.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dmp.save(f"{folder}/reach.npz")
        ...     DMP.load(f"{folder}/reach.npz")
        DMP(K=100.0)
        """
        self._copy()
        write_estimator(path, self, *self._stored, *self._results)

    @classmethod
    def load(cls: type[_Loaded], path: str | Path) -> _Loaded:
        """Read a file written by `save`.

        Raises
        ------
        FileFormatError
            For any other file, and for a file of a newer version.
        """
        with read_estimator(path, cls) as (one, arrays):
            cast(Any, one).with_weights(*(arrays[name][()] for name in cls._stored))
            for name in cls._results:
                result = numbers(arrays[name], name, arrays[name].ndim)
                setattr(one, name, result if result.ndim else float(result))
            return one


class PositionPrimitive(SteppedPrimitive[_core.Dmp, DMPState]):
    """Movement primitive of up to 16 coordinates, among obstacles."""

    @property
    def state(self) -> DMPState:
        """State of the motion."""
        core = self._started()
        return DMPState(core.x, core.dx, core.ddx)

    def _start(
        self, core: _core.Dmp, goal_filter: float, obstacles: Any, potential: DynamicPotential | None
    ) -> DMPState:
        """Begin to step a core after its reset."""
        if goal_filter != 0.0:
            positive(goal_filter, "goal_filter")
        core.set_goal_filter(float(goal_filter))
        place(core, obstacles, potential)
        self._moving = core
        return self.state


@dataclass(eq=False, repr=False, kw_only=True)
class DiscretePrimitive(SteppedPrimitive[_Core, _State]):
    """Movement primitive from a start to a goal."""

    basis: str = "gaussian"
    scaling: str = "hoffmann"
    alpha: float = 4.0
    start_: Array = field(init=False)
    goal_: Array = field(init=False)
    duration_: float = field(init=False)
    #: unit of the coordinates, for messages
    _unit: str = field(init=False, default="units")
    _stored: ClassVar[tuple[str, ...]] = ("weights_", "start_", "goal_", "duration_")

    def _basis(self) -> DMPBasis:
        one_of(self.basis, BASES, "basis")
        return DMPBasis(self.n_basis, self.basis, alpha=self.alpha, overlap=self.overlap)

    def _checked(self) -> tuple[DMPBasis, float]:
        one_of(self.scaling, SCALINGS, "scaling")
        return super()._checked()

    def _regress(self, demos: list[Demonstration], turns: bool = False) -> tuple[Array, float]:
        """Return weights and condition for demonstrations, turned to the displacement of the first one or not."""
        basis, D = self._checked()
        targets, factors, paper = [], [], self.scaling == "paper"
        ways = np.array([demo.displacement for demo in demos])
        short = np.abs(ways).max(axis=0) <= NO_WAY * max(float(np.ptp(demo.x, axis=0).max()) for demo in demos)
        if paper and short.any():
            raise ThunderError(
                f"coordinate {int(np.argmax(short))} must not end where it starts with scaling='paper', which "
                "divides by g - y0: use scaling='hoffmann'"
            )
        for demo, way in zip(demos, ways, strict=True):
            tau = demo.duration
            target = tau**2 * demo.ddx + D * tau * demo.dx - self.K * (demo.x[-1] - demo.x)
            if not paper:
                target = target / self.K + basis.phase(demo.t / tau)[:, None] * way
            targets.append(target @ turn_between(way, ways[0]).T if turns else target)
            factors.append(np.broadcast_to(way if paper else 1.0, target.shape))
        x = np.concatenate([basis.phase(demo.t / demo.duration) for demo in demos])
        share, target, factor = map(np.concatenate, ([demo.share for demo in demos], targets, factors))
        return fit_weights(basis, x, share, target, factor, self.regression)

    def _learn_motion(self, start: Array, goal: Array, duration: float) -> None:
        """Store ends and duration [s] of the demonstration, and its travel."""
        self.start_, self.goal_, self.duration_ = start, goal, duration_of(duration)
        self._shown, _ = self._travel(start, goal, self.duration_, np.zeros(self.weights_.shape[1]))

    def _travel(self, *motion: Any) -> tuple[Array, Array]:
        """Return travel and positions of a motion without obstacles, of the arguments of `reset` of the core."""
        core = self._copy()
        core.reset(*motion)
        x, dx, ddx, *_ = core._rollout(COMPARED, motion[2] / COMPARED)
        return travel(dx, ddx, motion[2], self._groups()), x

    def _vectors(self, x: Array) -> Array:
        """Return positions of the core as demonstrations have them, (k, d)."""
        return x

    def _judge(self, demos: list[Demonstration]) -> None:
        """Warn of a reproduction far from the only demonstration, or farther from the first one than its extent."""
        x, t = demos[0].x, np.linspace(0.0, demos[0].duration, COMPARED + 1)
        copy = self._vectors(self._travel(self.start_, self.goal_, self.duration_, demos[0].dx[0])[1])
        shown = np.column_stack([np.interp(t, demos[0].t, column) for column in x.T])
        away = float(np.sqrt(np.square(copy - shown).sum(axis=1).mean()))
        part = away / max(float(np.linalg.norm(x - x[0], axis=1).max()), np.finfo(np.float64).tiny)
        if part > (_FAR if len(demos) == 1 else 1.0) and away > _ROUNDING * np.abs(x).max():
            warnings.warn(
                f"the learned motion has an RMS distance of {away:.3g} {self._unit} from demonstration 0, {part:.0%} "
                "of its extent: use more functions, regression='ls', even times, or a cutoff that filters noise",
                ThunderWarning,
                stacklevel=outer_level(),
            )

    def _way(self, start: Array, goal: Array) -> Array:
        """Return the displacement from start to goal, (d,)."""
        return np.asarray(goal - start)

    def _groups(self) -> list[list[int]]:
        """Return the coordinates that are scaled, and compared, together."""
        return [[k] for k in range(self.weights_.shape[1])]

    def _reset(self, core: _Core, start: Any, goal: Any, duration: Any, velocity: Any) -> float:
        """Reset a core, warn of a motion that is too long or fast, and return the duration [s]."""
        y0 = self.start_ if start is None else self._end(start, "start")
        g = self.goal_ if goal is None else self._end(goal, "goal")
        T, d = self.duration_ if duration is None else duration_of(duration), self.weights_.shape[1]
        v0 = np.zeros(d) if velocity is None else array(velocity, (d,), "start_velocity")
        core.reset(y0, g, T, v0)
        way, old = self._way(y0, g), self._way(self.start_, self.goal_)
        reasons = [
            f"since its g - y0 is {np.linalg.norm(way[group]):.3g}, that of the demonstration "
            f"{np.linalg.norm(old[group]):.3g}: use scaling='hoffmann' with rotodilatation=False, or demonstrations "
            "like the motion"
            for group in self._groups()
        ]
        shown = self._shown * (self.duration_ / T) ** np.arange(3)[:, None]
        least = minimum_jerk(np.zeros(d), way, T, start_velocity=v0)
        size = self._travel(y0, g, T, v0)[0]
        warn_travel(size, shown, self._shown, least, self._groups(), [self._unit] * d, reasons)
        return T


def warn_travel(
    size: Array,
    shown: Array,
    trained: Array,
    least: MinimumJerk,
    groups: Sequence[Sequence[int]],
    units: Sequence[str],
    reasons: Sequence[str],
) -> None:
    """Warn of a motion that exceeds `RATIOS`, with the worst group of coordinates, or `TRAINING_RATIOS`.

    Parameters
    ----------
    size, shown : (3, G) array
        Path length, peak speed and peak acceleration of the motion, and of the demonstration over this duration, see
        `travel`.
    trained : (3, G) array
        The same of the demonstration over its own duration.
    least : MinimumJerk
        Minimum jerk between the same states.
    groups : sequence of sequences of int
        Coordinates of each group.
    units : sequence of str
        Unit of each group.
    reasons : sequence of str
        Why each group exceeds, and what to do.
    """
    T = least.duration
    t = np.linspace(0.0, T, COMPARED + 1)
    reference = np.maximum(shown, travel(least.position(t, 1), least.position(t, 2), T, groups))
    reference = np.maximum(reference, _SMALL * reference.max(axis=1, keepdims=True))
    found = []
    for g in range(len(groups)):
        each = excesses(size[:, [g]], reference[:, [g]], [units[g]], "the demonstration and of minimum jerk", RATIOS)
        found += [(excess.ratio / excess.limit, g, excess) for excess in each]
    if found:
        _, g, excess = max(found, key=lambda each: each[0])
        what = "the motion" if len(groups) == 1 else f"coordinate {', '.join(map(str, groups[g]))} of the motion"
        warnings.warn(f"{what} has a {excess}, {reasons[g]}", ThunderWarning, stacklevel=outer_level())
        return
    for unit in dict.fromkeys(units):  # other units, or another time scale
        alike = [k for k in range(len(groups)) if units[k] == unit]
        own, other = (values[:, alike].max(axis=1, keepdims=True) for values in (size, trained))
        other = np.where(other > 0.0, other, np.nan)
        other[2] = np.nan  # rises with the square of the time scale
        for excess in excesses(own, other, [unit], "the demonstrations", TRAINING_RATIOS)[:1]:
            text = f"the motion has a {excess}: check the units of start and goal, and the duration"
            warnings.warn(text, ThunderWarning, stacklevel=outer_level())


def turn_between(a: Array, b: Array) -> Array:
    """Return the matrix from a to b, a rotation in their plane, as two reflections, times a scale."""
    u, w = a / np.linalg.norm(a), b / np.linalg.norm(b)
    between = u + w
    if np.linalg.norm(between) < 1e-6:  # opposite: any plane
        v = np.eye(len(u))[np.argmin(np.abs(u))]
        between = v - (v @ u) * u
    R = np.eye(len(u)) - 2.0 * np.outer(u, u)
    if between.any():
        R = R - 2.0 * np.outer(between, between @ R) / (between @ between)
    return np.asarray(R * (np.linalg.norm(b) / np.linalg.norm(a)))


def place(core: _core.Dmp, obstacles: Any, potential: DynamicPotential | None) -> None:
    """Put obstacles in the space of the first three coordinates."""
    m = min(3, core.dimension)
    field = DynamicPotential() if potential is None else potential
    if not isinstance(field, DynamicPotential):
        raise ThunderError(f"potential must be a DynamicPotential, got {type(field).__name__}")
    core.set_obstacles(field.in_dimension(m), spheres_of(obstacles, m))


def span_of(until: float | None, dt: float | None, tau: float, name: str = "until") -> tuple[float, int]:
    """Return the end [s] of a rollout of duration tau [s], which is called `name`, and the number of its steps."""
    end = tau if until is None else positive(until, name)
    step = tau / 500 if dt is None else positive(dt, "dt")
    if end / step > _MOST_STEPS:
        raise ThunderError(f"dt must give at most 1e7 samples, got {step:g} s")
    if end / tau > _MOST_DURATIONS:
        raise ThunderError(f"until must be at most {_MOST_DURATIONS:g} durations, got {end:g} s of {tau:g} s")
    return end, max(1, math.ceil(end / step - 1e-9))


def sample(core: _core.Dmp, end: float, steps: int, scale: float) -> tuple[Array, ...]:
    """Integrate from the state of the core until a time.

    Parameters
    ----------
    core : Dmp
        After its reset; it moves.
    end : float
        End [s].
    steps : int
        Number of samples after the first.
    scale : float
        Duration or period [s], of which integration steps are a small part.

    Returns
    -------
    tuple of arrays
        Times (k,), position and its three derivatives (k, d).
    """
    step = end / steps
    values = core._rollout(steps, step, max(1, math.ceil(step / (_INNER * scale) - 1e-9)))
    return np.linspace(0.0, end, steps + 1), *values
