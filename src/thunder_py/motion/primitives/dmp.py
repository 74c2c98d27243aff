"""Discrete dynamic movement primitives (DMPs), D4.2 (104)-(106)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, numbers, positive
from ...errors import NotFittedError, ThunderError
from ...trajectory.hermite import duration_of
from ...values import Estimator, Stateful
from .bases import FITS, DMPBasis, Fit, known_name
from .demonstrations import Demonstration, read_demonstrations, steps_of
from .dynamic_potential import DynamicPotential, spheres_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.interpolate import PPoly

__all__ = ["DMP", "DMPMotion", "DMPState"]


def _hermite() -> Array:
    """Return the matrix from (x, x', x'', x''') at 0 and at 1 to the coefficients of 1, u, ..., u^7."""
    powers = np.arange(8)
    ends = np.zeros((8, 8))
    for derivative in range(4):
        falling = np.prod([powers - j for j in range(derivative)], axis=0) if derivative else np.ones(8)
        ends[derivative, derivative] = falling[derivative]
        ends[4 + derivative] = falling
    inverse = np.linalg.inv(ends)
    exact: Array = np.round(12.0 * inverse) / 12.0
    return exact


@dataclass(frozen=True, eq=False, repr=False)
class DMPMotion:
    """Sampled motion of a movement primitive, interpolated by polynomials of degree 7 that match all derivatives.

    Attributes
    ----------
    t : (k,) array
        Times from 0, evenly spaced [s].
    x, dx, ddx, dddx : (k, d) array
        Position, velocity, acceleration and jerk. Derivatives are evaluated from the equations, without differences.
    goal : (d,) array
        Goal of the motion.
    end_error : float
        Distance from the goal at the end. A discrete primitive converges to its goal and does not reach it.
    settled_error : float
        Distance from the goal after three times the duration.
    settling_time : float
        Time after which the distance from the goal stays below the tolerance of the rollout [s]; infinite if it does
        not within three times the duration.
    """

    t: Array
    x: Array
    dx: Array
    ddx: Array
    dddx: Array
    goal: Array
    end_error: float
    settled_error: float
    settling_time: float

    def __repr__(self) -> str:
        return (
            f"DMPMotion({self.x.shape[1]} coordinates, {self.duration:g} s, end_error={self.end_error:.3g}, "
            f"settled_error={self.settled_error:.3g})"
        )

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return float(self.t[-1])

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        """Return x or a derivative of it.

        Parameters
        ----------
        t : array_like, shape (...)
            Times [s]. Before 0 and after `duration`, x is constant.
        derivative : int
            Order of the derivative, 0 to 3.

        Returns
        -------
        ndarray, shape (..., d)
            In the unit of x, per s^derivative.
        """
        if derivative not in (0, 1, 2, 3):
            raise ThunderError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        time = numbers(t, "t")
        value: Array = self._polynomial(np.clip(time, 0.0, self.duration), nu=derivative)
        outside = (time < 0.0) | (time > self.duration)
        return np.where(outside[..., None], 0.0, value) if derivative else value

    def mean_jerk(self) -> float:
        """Return the mean over time of the norm of the jerk, by trapezoids over the samples."""
        jerk = np.linalg.norm(self.dddx, axis=1)
        return float(np.mean(0.5 * (jerk[1:] + jerk[:-1])))

    @cached_property
    def _polynomial(self) -> PPoly:
        from scipy.interpolate import PPoly

        h = np.diff(self.t)[:, None]
        values = [self.x, self.dx, self.ddx, self.dddx]
        ends = [values[k][side] * h**k for side in (slice(None, -1), slice(1, None)) for k in range(4)]
        base, ends[0], ends[4] = ends[0], np.zeros_like(ends[0]), ends[4] - ends[0]
        coefficients = np.einsum("ij,jkd->ikd", _hermite(), np.stack(ends)) / h ** np.arange(8)[:, None, None]
        coefficients[0] += base
        return PPoly(coefficients[::-1], self.t)

    def plot(self, *, axes: Mapping[str, Axes] | None = None, label: str | None = None) -> dict[str, Axes]:
        """Draw position, speed and jerk over time.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"x"``, ``"speed"`` and ``"jerk"``; default all, in a new figure.
        label : str, optional
            Label in legends.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_dmp_motion

        return plot_dmp_motion(self, axes=axes, label=label)


SCALINGS = ("hoffmann", "paper")
_MOST = 16
#: displacements below this, relative to the extent of the demonstration, count as zero
_NO_WAY = 1e-6
#: longest inner step of a rollout, in parts of its duration
_INNER = 2e-3


class DMPState(NamedTuple):
    """State of a primitive after a step: `x`, `dx`, `ddx`, each (d,)."""

    x: Array
    dx: Array
    ddx: Array


class DMP(Estimator, Stateful):
    """Discrete dynamic movement primitive: spring and damper towards a goal, with a learned forcing term.

    Parameters
    ----------
    n_basis : int
        Number of basis functions; the paper has 21.
    basis : str
        ``"gaussian"``, ``"mollifier"`` (106), ``"wendland_c2"`` or ``"wendland_c4"``, see `DMPBasis`.
    overlap : float
        Overlap of the functions; 1 gives the widths of Ginesi et al.
    scaling : str
        ``"hoffmann"`` or ``"paper"``.
    rotodilatation : bool
        Rotate and scale f with the displacement from start to goal, relative to the demonstrated one (Ginesi et al.
        2021). Only with Hoffmann's scaling, and for coordinates of one space.
    K, D : float
        Stiffness and damping in time t / tau; D is 2 sqrt(K) by default.
    alpha : float
        Decay rate of the phase, which is exp(-alpha) at the end.
    fit : str
        ``"ls"`` for least squares of all weights, ``"lwr"`` for locally weighted regression of each.

    Attributes
    ----------
    weights_ : (n_basis, d) array
        Weights of the basis functions.
    start_, goal_ : (d,) arrays
        Ends of the first demonstration, the defaults of rollouts.
    duration_ : float
        Duration of the first demonstration, the default of rollouts [s].
    condition_ : float
        Condition number of the least squares; NaN for ``"lwr"``.
    basis_ : DMPBasis
        Basis functions.
    D_ : float
        Damping used.

    Notes
    -----
    With the phase ``tau x' = -alpha x`` and ``tau y' = z``, the equations are

    - ``"hoffmann"``: ``tau z' = K (g - y) - D z - K (g - y0) x + K f(x)`` (Park, Hoffmann 2008), for any g - y0;
    - ``"paper"``: ``tau z' = K (g - y) - D z + (g - y0) f(x)``, D4.2 (104), exactly. A coordinate with g = y0 cannot be
      learned, a coordinate with another sign of g - y0 is mirrored, and a demonstration of 1 mm executed over 1 m is
      scaled a thousand times.

    The forcing term is ``f = x sum w_i Phi_i / sum Phi_i``, (105), and 0 at phases without a nonzero function. Phase
    and linear part are integrated exactly, forcing and obstacles to fourth order. Parameters and results follow
    scikit-learn's conventions.

    References
    ----------
    M. Ginesi, N. Sansonetto, P. Fiorini, "Overcoming some drawbacks of dynamic movement primitives", Robotics and
    Autonomous Systems 144, 2021.

    Examples
    --------
    >>> from thunder_py.motion import DMP
    >>> from thunder_py.trajectory import minimum_jerk
    >>> dmp = DMP().fit(minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.2], 2.0))
    >>> motion = dmp.rollout(goal=[0.4, 0.4, 0.1], duration=1.5)
    >>> motion.x.shape, motion.end_error < 0.01
    ((501, 3), True)
    >>> state = dmp.reset()
    >>> dmp.step(0.01).x.shape
    (3,)
    """

    weights_: Array
    start_: Array
    goal_: Array
    duration_: float
    condition_: float
    basis_: DMPBasis
    D_: float
    #: `fit` is a method
    _stored_as = MappingProxyType({"fit": "_method"})

    def __init__(
        self,
        n_basis: int = 21,
        *,
        basis: str = "gaussian",
        overlap: float = 1.0,
        scaling: str = "hoffmann",
        rotodilatation: bool = False,
        K: float = 150.0,
        D: float | None = None,
        alpha: float = 4.0,
        fit: str = "ls",
    ) -> None:
        self.n_basis = n_basis
        self.basis = basis
        self.overlap = overlap
        self.scaling = scaling
        self.rotodilatation = rotodilatation
        self.K = K
        self.D = D
        self.alpha = alpha
        self._method = fit
        self._core: _core.Dmp | None = None
        self._running = False

    @classmethod
    def paper(cls) -> DMP:
        """Return a primitive with the paper's settings: 21 mollifiers, overlap 1, forcing scaled by g - y0, K = 150."""
        return cls(basis="mollifier", scaling="paper")

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, demonstrations: Any, y: object = None, *, cutoff: float = math.inf, samples: int = 1001) -> DMP:
        """Learn the forcing term.

        Parameters
        ----------
        demonstrations
            One or a list of: a `Trial`; a tuple ``(t, x)`` or ``(t, x, dx, ddx)``; an object with ``position(t,
            derivative)`` and ``duration``. Demonstrations have equal weights, independent of durations and rates.
        y : object
            Ignored; scikit-learn passes it.
        cutoff : float
            Cutoff [Hz] of a zero-phase Butterworth filter of second order for samples without derivatives, which are
            then differentiated through a quintic spline. `math.inf` is no filter, for data without noise.
        samples : int
            Number of samples of motions that are functions.

        Returns
        -------
        DMP
            The fitted primitive itself.

        Warns
        -----
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.

        Raises
        ------
        ThunderError
            For arguments of the constructor out of range; NaN; fewer samples than basis functions; zero duration; a
            coordinate that cannot be learned. `UnknownNameError` for unknown names.
        """
        basis, D = self._checked()
        demos = read_demonstrations(demonstrations, cutoff, samples)
        first = demos[0]
        if not 1 <= first.x.shape[1] <= _MOST:
            raise ThunderError(f"demonstrations must have 1 to {_MOST} coordinates, got {first.x.shape[1]}")
        self._check_ways(demos)
        x = np.concatenate([basis.phase(demo.t, demo.duration) for demo in demos])
        fit = Fit(basis, x, np.concatenate([demo.share for demo in demos]), self._method)
        parts = [self._target(demo, basis, D, first.displacement) for demo in demos]
        weights = fit.weights(np.concatenate([y for y, _ in parts]), np.concatenate([s for _, s in parts]))
        return self._learned(weights, (first.x[0], first.x[-1]), first.duration, basis, D, fit.condition)

    def with_weights(self, weights: npt.ArrayLike, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float) -> DMP:
        """Set weights (n_basis, d) learned elsewhere, with start, goal and duration [s] of their demonstration."""
        basis, D = self._checked()
        w = array(weights, (basis.n_basis, None), "weights")
        y0, g = array(start, (w.shape[1],), "start"), array(goal, (w.shape[1],), "goal")
        return self._learned(w, (y0, g), duration_of(duration), basis, D, math.nan)

    def _checked(self) -> tuple[DMPBasis, float]:
        """Basis and damping from the arguments of the constructor."""
        basis = DMPBasis(self.n_basis, self.basis, alpha=self.alpha, overlap=self.overlap)
        known_name(self.scaling, SCALINGS, "scaling")
        if self.rotodilatation and self.scaling == "paper":
            raise ThunderError(
                "rotodilatation must go with scaling='hoffmann': the paper's form scales each coordinate alone"
            )
        known_name(self._method, FITS, "fit")
        K = positive(self.K, "K")
        return basis, 2.0 * math.sqrt(K) if self.D is None else positive(self.D, "D")

    def _learned(
        self, weights: Array, ends: tuple[Array, Array], duration: float, basis: DMPBasis, D: float, condition: float
    ) -> DMP:
        if not 1 <= weights.shape[1] <= _MOST:
            raise ThunderError(f"weights must have 1 to {_MOST} coordinates, got {weights.shape[1]}")
        way, turns = ends[1] - ends[0], bool(self.rotodilatation)
        if turns and not way.any():
            raise ThunderError("start and goal must differ with rotodilatation, got the same")
        self._core = _core.Dmp(basis.core, self.K, D, self.scaling == "paper", turns, weights, way)
        self.weights_, (self.start_, self.goal_), self.duration_ = weights, ends, duration
        self.basis_, self.D_, self.condition_ = basis, D, condition
        self._running = False
        return self

    def _check_ways(self, demos: list[Demonstration]) -> None:
        ways = np.array([demo.displacement for demo in demos])
        extent = max(float(np.ptp(demo.x, axis=0).max()) for demo in demos)
        if self.scaling == "paper":
            short = np.abs(ways).max(axis=0) <= _NO_WAY * extent
            if short.any():
                raise ThunderError(
                    f"coordinate {int(np.argmax(short))} must not end where it starts with scaling='paper', which "
                    "divides by g - y0: use scaling='hoffmann'"
                )
        if self.rotodilatation and (np.linalg.norm(ways, axis=1) <= _NO_WAY * extent).any():
            raise ThunderError("demonstrations must not end where they start with rotodilatation")

    def _target(self, demo: Demonstration, basis: DMPBasis, D: float, first_way: Array) -> tuple[Array, Array]:
        """Return the target of factor times f, and the factor."""
        tau, way = demo.duration, demo.displacement
        pull = tau**2 * demo.ddx + D * tau * demo.dx - self.K * (demo.x[-1] - demo.x)
        if self.scaling == "paper":
            return pull, np.broadcast_to(way, pull.shape)
        f = pull / self.K + basis.phase(demo.t, tau)[:, None] * way
        if self.rotodilatation:
            f = f @ _turn(way, first_way).T
        return f, np.ones_like(f)

    # -- whole motions -------------------------------------------------------------------------------------------------

    def rollout(
        self,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        duration: float | None = None,
        dt: float | None = None,
        *,
        start_velocity: npt.ArrayLike | None = None,
        obstacles: Any = (),
        potential: DynamicPotential | None = None,
        until: float | None = None,
        tolerance: float = 1e-3,
    ) -> DMPMotion:
        """Integrate a whole motion.

        Parameters
        ----------
        start, goal : (d,) array_like, optional
            y0 and g; by default those of the demonstration.
        duration : float, optional
            tau [s]; by default that of the demonstration.
        dt : float, optional
            Time between samples [s], default a five-hundredth of the duration. It is shortened to divide the time of
            the motion; integration steps may be shorter.
        start_velocity : (d,) array_like, optional
            Velocity at the start; default zero.
        obstacles : sequence
            Spheres (`Sphere`), moving spheres (`MovingObstacle`) or points in the first three coordinates, or all of
            fewer.
        potential : DynamicPotential, optional
            Potential of the obstacles; default ``DynamicPotential()``.
        until : float, optional
            End of the samples [s], default `duration`.
        tolerance : float
            Tolerance of `DMPMotion.settling_time`, in the unit of x.

        Returns
        -------
        DMPMotion
            Samples and errors at the goal.
        """
        core = self._learned_core().copy()
        g, tau = self._prepare(core, start, goal, duration, start_velocity)
        self._place(core, obstacles, potential)
        end = tau if until is None else positive(until, "until")
        steps = steps_of(end, tau / 500 if dt is None else positive(dt, "dt"), tau)
        step = end / steps
        x, dx, ddx, dddx = core._rollout(steps, step, max(1, math.ceil(step / (_INNER * tau) - 1e-9)))
        far = np.linalg.norm(x - g, axis=1)
        later = np.linalg.norm(
            core._rollout(200, end / 100, max(1, math.ceil(end / (100 * _INNER * tau))))[0] - g, axis=1
        )
        t = np.linspace(0.0, end, steps + 1)
        settling = _settling(np.append(t, end * (1.0 + 0.01 * np.arange(1, 201))), np.append(far, later[1:]), tolerance)
        return DMPMotion(t, x, dx, ddx, dddx, g, float(far[-1]), float(later[-1]), settling)

    # -- a step at a time ----------------------------------------------------------------------------------------------

    def reset(
        self,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        duration: float | None = None,
        *,
        start_velocity: npt.ArrayLike | None = None,
        goal_filter: float = 0.0,
        obstacles: Any = (),
        potential: DynamicPotential | None = None,
    ) -> DMPState:
        """Start a motion for `step`, with the parameters of `rollout`.

        Parameters
        ----------
        goal_filter : float
            Time constant of a low-pass filter of `goal` [s]; 0 is no filter, with a jump of acceleration at new goals.
        """
        core = self._learned_core()
        if goal_filter != 0.0:
            positive(goal_filter, "goal_filter")
        core.set_goal_filter(float(goal_filter))
        self._prepare(core, start, goal, duration, start_velocity)
        self._place(core, obstacles, potential)
        self._running = True
        return self.state

    def step(self, dt: float) -> DMPState:
        """Advance the motion by dt [s], and return its state."""
        self._started().step(positive(dt, "dt"))
        return self.state

    @property
    def state(self) -> DMPState:
        """State of the motion."""
        core = self._started()
        return DMPState(core.x, core.dx, core.ddx)

    @property
    def phase(self) -> float:
        """Phase x, decreasing from 1 to 0."""
        return self._started().phase

    @property
    def goal(self) -> Array:
        """Current goal, (d,); may be set between steps."""
        return self._started().goal

    @goal.setter
    def goal(self, value: npt.ArrayLike) -> None:
        self._started().set_goal(array(value, (len(self.start_),), "goal"))

    @property
    def tau(self) -> float:
        """Duration [s]; may be set between steps, with continuous phase, position and velocity."""
        return self._started().tau

    @tau.setter
    def tau(self, value: float) -> None:
        self._started().set_tau(positive(value, "tau"))

    # -- internal ------------------------------------------------------------------------------------------------------

    def forcing(self, x: npt.ArrayLike) -> Array:
        """Return the learned f(x), (k, d), at phases x (k,)."""
        return self.basis_.forcing(self.weights_, x)

    def plot_basis(self, *, ax: Axes | None = None) -> Axes:
        """Draw the normalized basis functions over t / tau.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from .plot import plot_dmp_basis

        return plot_dmp_basis(DMPBasis(self.n_basis, self.basis, alpha=self.alpha, overlap=self.overlap), ax=ax)

    def _learned_core(self) -> _core.Dmp:
        if self._core is None:
            raise NotFittedError("DMP must be fitted before it moves: call fit first")
        return self._core

    def _started(self) -> _core.Dmp:
        if not self._running:
            raise ThunderError("DMP must be started before it steps: call reset first")
        return self._learned_core()

    def _prepare(self, core: _core.Dmp, start: Any, goal: Any, duration: Any, velocity: Any) -> tuple[Array, float]:
        shape = (core.dimension,)
        y0 = self.start_ if start is None else array(start, shape, "start")
        g = self.goal_ if goal is None else array(goal, shape, "goal")
        tau = self.duration_ if duration is None else duration_of(duration)
        v0 = np.zeros(shape) if velocity is None else array(velocity, shape, "start_velocity")
        core.reset(y0, g, tau, v0)
        return g, tau

    def _place(self, core: _core.Dmp, obstacles: Any, potential: DynamicPotential | None) -> None:
        m = min(3, core.dimension)
        field = DynamicPotential() if potential is None else potential
        if not isinstance(field, DynamicPotential):
            raise ThunderError(f"potential must be a DynamicPotential, got {type(field).__name__}")
        core.set_obstacles(field.in_dimension(m), spheres_of(obstacles, m))


def _settling(t: Array, distance: Array, tolerance: float) -> float:
    outside = np.flatnonzero(~(distance <= positive(tolerance, "tolerance")))
    if not len(outside):
        return 0.0
    return float(t[outside[-1] + 1]) if outside[-1] + 1 < len(t) else math.inf


def _turn(a: Array, b: Array) -> Array:
    """Return the matrix from a to b, a rotation in their plane times a scale."""
    u, w = a / np.linalg.norm(a), b / np.linalg.norm(b)
    cosine = float(u @ w)
    if cosine < -1.0 + 1e-12:
        R = np.eye(len(u)) - 2.0 * np.outer(u, u)
        if len(u) > 1:
            v = np.eye(len(u))[np.argmin(np.abs(u))]
            v = v - (v @ u) * u
            R = R - 2.0 * np.outer(v, v) / (v @ v)
    else:
        R = np.eye(len(u)) - np.outer(u + w, u + w) / (1.0 + cosine) + 2.0 * np.outer(w, u)
    matrix: Array = R * (np.linalg.norm(b) / np.linalg.norm(a))
    return matrix
