"""Discrete dynamic movement primitives (DMPs), D4.2 (104)-(106)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, one_of, positive
from ...errors import ThunderError
from ...trajectory.hermite import duration_of
from ..estimator_file import flag, read_estimator, scalar, write_estimator
from .bases import DMPBasis, Fit
from .demonstrations import Demonstration, read_demonstrations, span_of
from .dynamic_potential import DynamicPotential
from .sampled_motion import SampledMotion
from .stepping import DMPState, PositionPrimitive, check_coordinates, place, sample, warn_growth


@dataclass(frozen=True, eq=False, repr=False)
class DMPMotion(SampledMotion):
    """Sampled motion to a goal.

    Attributes
    ----------
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

    goal: Array
    end_error: float
    settled_error: float
    settling_time: float

    def __repr__(self) -> str:
        return (
            f"DMPMotion({self.x.shape[1]} coordinates, {self.duration:g} s, end_error={self.end_error:.3g}, "
            f"settled_error={self.settled_error:.3g})"
        )


SCALINGS: dict[str, _core.DmpScaling] = {
    "hoffmann": _core.DmpScaling.hoffmann,
    "paper": _core.DmpScaling.paper,
}
#: displacements below this, relative to the extent of the demonstration, count as zero
_NO_WAY = 1e-6
#: least displacement, relative to the extent of the demonstration, that motions are rotated and scaled with by default
_CLEAR_WAY = 0.5


class DMP(PositionPrimitive):
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
    rotodilatation : bool or "auto"
        Rotate and scale f with the displacement from start to goal, relative to the demonstrated one (Ginesi et al.
        2021). Only with Hoffmann's scaling, and for coordinates of one space. "auto" does so for one to three
        coordinates, in meters where units are known, unless a demonstration ends nearer to its start than half its
        extent.
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
    rotodilatation_ : bool
        Whether f is rotated and scaled.

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
    rotodilatation_: bool

    def __init__(
        self,
        n_basis: int = 21,
        *,
        basis: str = "gaussian",
        overlap: float = 1.0,
        scaling: str = "hoffmann",
        rotodilatation: bool | str = "auto",
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
        check_coordinates(first.x.shape[1], "demonstrations")
        turns = self._turns(demos)
        x = np.concatenate([basis.phase(demo.t, demo.duration) for demo in demos])
        fit = Fit(basis, x, np.concatenate([demo.share for demo in demos]), self._method)
        to_first = [_turn(demo.displacement, first.displacement) if turns else None for demo in demos]
        parts = [self._target(demo, basis, D, turn) for demo, turn in zip(demos, to_first, strict=True)]
        weights = fit.weights(np.concatenate([y for y, _ in parts]), np.concatenate([s for _, s in parts]))
        return self._learned(weights, (first.x[0], first.x[-1]), first.duration, turns, fit.condition)

    def with_weights(self, weights: npt.ArrayLike, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float) -> DMP:
        """Set weights (n_basis, d) learned elsewhere, with start, goal and duration [s] of their demonstration."""
        basis, _ = self._checked()
        w = array(weights, (basis.n_basis, None), "weights")
        check_coordinates(w.shape[1], "weights")
        y0, g = array(start, (w.shape[1],), "start"), array(goal, (w.shape[1],), "goal")
        turns = self.rotodilatation
        if turns == "auto":
            turns = self.scaling == "hoffmann" and w.shape[1] <= 3 and bool((y0 != g).any())
        return self._learned(w, (y0, g), duration_of(duration), bool(turns), math.nan)

    def _checked(self) -> tuple[DMPBasis, float]:
        """Basis and damping from the arguments of the constructor."""
        basis = self._basis()
        one_of(self.scaling, tuple(SCALINGS), "scaling")
        if self.rotodilatation is True and self.scaling == "paper":
            raise ThunderError(
                "rotodilatation must go with scaling='hoffmann': the paper's form scales each coordinate alone"
            )
        if not isinstance(self.rotodilatation, bool) and self.rotodilatation != "auto":
            raise ThunderError(f'rotodilatation must be True, False or "auto", got {self.rotodilatation!r}')
        return basis, self._damping()

    def _learned(
        self, weights: Array, ends: tuple[Array, Array], duration: float, turns: bool, condition: float
    ) -> DMP:
        basis, D = self._checked()
        way = ends[1] - ends[0]
        if turns and not way.any():
            raise ThunderError("start and goal must differ with rotodilatation, got the same")
        self._core = _core.Dmp(basis.core, self.K, D, SCALINGS[self.scaling], turns, weights, way)
        self.weights_, (self.start_, self.goal_), self.duration_ = weights, ends, duration
        self.basis_, self.D_, self.condition_, self.rotodilatation_ = basis, D, condition, turns
        self._running = False
        copy = self._core.copy()
        copy.reset(*ends, duration, np.zeros_like(way), np.ones_like(way), 0.0)
        self._extent: Array = self._sizes(sample(copy, duration, 100, duration)[1] - ends[0]).max(axis=0)
        return self

    def _sizes(self, x: Array) -> Array:
        """Return the sizes that scale the forcing term: of coordinates (..., d), or norms (..., 1)."""
        return np.abs(x) if self.scaling == "paper" else np.linalg.norm(x, axis=-1, keepdims=True)

    def _warn_growth(self, way: Array) -> None:
        if self.scaling == "paper" or self.rotodilatation_:
            warn_growth(self._sizes(way), self._sizes(self.goal_ - self.start_), self._extent)

    def _turns(self, demos: list[Demonstration]) -> bool:
        """Return whether f is rotated and scaled, after checks of the displacements."""
        ways = np.array([demo.displacement for demo in demos])
        extent = max(float(np.ptp(demo.x, axis=0).max()) for demo in demos)
        if self.scaling == "paper":
            short = np.abs(ways).max(axis=0) <= _NO_WAY * extent
            if short.any():
                raise ThunderError(
                    f"coordinate {int(np.argmax(short))} must not end where it starts with scaling='paper', which "
                    "divides by g - y0: use scaling='hoffmann'"
                )
            return False
        if self.rotodilatation == "auto":
            extents = [float(np.linalg.norm(demo.x - demo.x[0], axis=1).max()) for demo in demos]
            clear = np.linalg.norm(ways, axis=1) > _CLEAR_WAY * np.array(extents)
            positions = ways.shape[1] <= 3 and all({"m"}.issuperset(demo.units) for demo in demos)
            return positions and bool(clear.all())
        if self.rotodilatation and (np.linalg.norm(ways, axis=1) <= _NO_WAY * extent).any():
            raise ThunderError("demonstrations must not end where they start with rotodilatation")
        return bool(self.rotodilatation)

    def _target(self, demo: Demonstration, basis: DMPBasis, D: float, turn: Array | None) -> tuple[Array, Array]:
        """Return the target of factor times f, turned by a matrix, and the factor."""
        tau, way = demo.duration, demo.displacement
        pull = tau**2 * demo.ddx + D * tau * demo.dx - self.K * (demo.x[-1] - demo.x)
        if self.scaling == "paper":
            return pull, np.broadcast_to(way, pull.shape)
        f = pull / self.K + basis.phase(demo.t, tau)[:, None] * way
        if turn is not None:
            f = f @ turn.T
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

        Warns
        -----
        ThunderWarning
            If forcing is scaled with the displacement (``"paper"``, rotodilatation), and the smaller one of the new
            displacement and the demonstrated extent is above twice the demonstrated displacement.
        """
        core = self._learned_core().copy()
        g, tau = self._prepare(core, start, goal, duration, start_velocity)
        place(core, obstacles, potential)
        end, steps = span_of(until, dt, tau)
        t, x, dx, ddx, dddx = sample(core, end, steps, tau)
        rest, settled, *_ = sample(core, 2.0 * end, 200, tau)
        far, later = np.linalg.norm(x - g, axis=1), np.linalg.norm(settled - g, axis=1)
        settling = _settling(np.append(t, end + rest[1:]), np.append(far, later[1:]), tolerance)
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
        self._filter(goal_filter)
        self._prepare(core, start, goal, duration, start_velocity)
        place(core, obstacles, potential)
        self._running = True
        return self.state

    # -- files ---------------------------------------------------------------------------------------------------------

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
        self._learned_core()
        write_estimator(path, self, "weights_", "start_", "goal_", "duration_", "rotodilatation_", "condition_")

    @classmethod
    def load(cls, path: str | Path) -> DMP:
        """Read a file written by `save`.

        Raises
        ------
        FileFormatError
            For any other file, and for a file of a newer version.
        """
        with read_estimator(path, cls) as (dmp, arrays):
            dmp.with_weights(arrays["weights_"], arrays["start_"], arrays["goal_"], scalar(arrays, "duration_"))
            turns, ends = flag(arrays, "rotodilatation_"), (dmp.start_, dmp.goal_)
            if turns and (dmp.scaling == "paper" or dmp.rotodilatation is False):
                raise ThunderError(f"rotodilatation_ must agree with rotodilatation and scaling, got {turns}")
            condition = scalar(arrays, "condition_")
            return dmp._learned(dmp.weights_, ends, dmp.duration_, turns, condition)

    # -- internal ------------------------------------------------------------------------------------------------------

    def _basis(self) -> DMPBasis:
        return DMPBasis(self.n_basis, self.basis, alpha=self.alpha, overlap=self.overlap)

    def _prepare(self, core: _core.Dmp, start: Any, goal: Any, duration: Any, velocity: Any) -> tuple[Array, float]:
        shape = (core.dimension,)
        y0 = self.start_ if start is None else array(start, shape, "start")
        g = self.goal_ if goal is None else array(goal, shape, "goal")
        tau = self.duration_ if duration is None else duration_of(duration)
        v0 = np.zeros(shape) if velocity is None else array(velocity, shape, "start_velocity")
        core.reset(y0, g, tau, v0, np.ones(shape), 0.0)
        self._warn_growth(g - y0)
        return g, tau


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
    return np.asarray(R * (np.linalg.norm(b) / np.linalg.norm(a)))
