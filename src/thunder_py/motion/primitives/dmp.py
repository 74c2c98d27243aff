"""Discrete dynamic movement primitives (DMPs), D4.2 (104)-(106)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, positive
from ...errors import ThunderError
from .bases import DMPBasis
from .demonstrations import Demonstration, read_demonstrations
from .dynamic_potential import DynamicPotential
from .sampled_motion import SampledMotion
from .stepping import NO_WAY, DiscretePrimitive, DMPState, PositionPrimitive, place, sample, span_of

#: least displacement, relative to the extent of the demonstration, that motions are rotated and scaled with by default
_CLEAR_WAY = 0.5


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


@dataclass(eq=False, repr=False, kw_only=True)
class DMP(PositionPrimitive, DiscretePrimitive[_core.Dmp, DMPState]):
    """Discrete dynamic movement primitive: spring and damper towards a goal, with a learned forcing term.

    Parameters
    ----------
    n_basis : int
        Number of basis functions; the paper has 21.
    overlap : float
        Overlap of the functions; 1 gives the widths of Ginesi et al.
    K, D : float
        Stiffness and damping in time t / tau; D is 2 sqrt(K) by default.
    regression : str
        ``"ls"`` for least squares of all weights, ``"lwr"`` for locally weighted regression of each.
    basis : str
        ``"gaussian"``, ``"mollifier"`` (106), ``"wendland_c2"`` or ``"wendland_c4"``, see `DMPBasis`.
    scaling : str
        ``"hoffmann"`` or ``"paper"``.
    alpha : float
        Decay rate of the phase, which is exp(-alpha) at the end.
    rotodilatation : bool or "auto"
        Rotate and scale f with the displacement from start to goal, relative to the demonstrated one (Ginesi et al.
        2021). Only with Hoffmann's scaling, and for coordinates of one space. "auto" does so for one to three
        coordinates, in meters where units are known, unless a demonstration ends nearer to its start than half its
        extent.

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

    rotodilatation: bool | str = "auto"
    rotodilatation_: bool = field(init=False)
    _stored = (*DiscretePrimitive._stored, "rotodilatation_")

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
        ThunderWarning
            If the learned motion is farther from the only demonstration than a tenth of its extent (RMS), from the
            first of several than all of it.
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.

        Raises
        ------
        ThunderError
            For arguments of the constructor out of range; NaN; fewer samples than basis functions; zero duration; a
            coordinate that cannot be learned. `UnknownNameError` for unknown names.
        """
        self._checked()
        demos = read_demonstrations(demonstrations, cutoff, samples)
        first, turns = demos[0], self._turns(demos)
        weights, condition = self._regress(demos, turns)
        self._unit = first.units[0] if len(set(first.units)) == 1 else "units"
        self.with_weights(weights, first.x[0], first.x[-1], first.duration, turns)
        self.condition_ = condition
        self._judge(demos)
        return self

    def with_weights(
        self,
        weights: npt.ArrayLike,
        start: npt.ArrayLike,
        goal: npt.ArrayLike,
        duration: float,
        rotodilatation: bool | None = None,
    ) -> DMP:
        """Set weights learned elsewhere.

        Parameters
        ----------
        weights : (n_basis, d) array_like
            Weights of the basis functions.
        start, goal : (d,) array_like
            Ends of their demonstration.
        duration : float
            Its duration [s].
        rotodilatation : bool, optional
            Whether f is rotated and scaled; by default as the argument of the constructor says, where "auto" does so
            for one to three coordinates with different ends.
        """
        w = self._read_weights(weights)
        y0, g = (array(value, (w.shape[1],), name) for value, name in ((start, "start"), (goal, "goal")))
        free, turns = self.rotodilatation == "auto", rotodilatation
        if turns is None:
            apart = self.scaling == "hoffmann" and w.shape[1] <= 3 and bool((y0 != g).any())
            turns = apart if free else bool(self.rotodilatation)
        agrees = not (turns and self.scaling == "paper") if free else turns == self.rotodilatation
        if not isinstance(turns, (bool, np.bool_)) or not agrees:
            raise ThunderError(f"rotodilatation must be True or False as in the constructor, got {turns!r}")
        if turns and (y0 == g).all():
            raise ThunderError("start and goal must differ with rotodilatation, got the same")
        self._learn(_core.Dmp, w, _core.DmpScaling[self.scaling], bool(turns), w, g - y0)
        self.rotodilatation_ = bool(turns)
        self._learn_motion(y0, g, duration)
        return self

    def _checked(self) -> tuple[DMPBasis, float]:
        if not isinstance(self.rotodilatation, bool) and self.rotodilatation != "auto":
            raise ThunderError(f'rotodilatation must be True, False or "auto", got {self.rotodilatation!r}')
        if self.rotodilatation is True and self.scaling == "paper":
            raise ThunderError(
                "rotodilatation must go with scaling='hoffmann': the paper's form scales each coordinate alone"
            )
        return super()._checked()

    def _groups(self) -> list[list[int]]:
        return [list(range(self.weights_.shape[1]))] if self.rotodilatation_ else super()._groups()

    def _turns(self, demos: list[Demonstration]) -> bool:
        """Return whether f is rotated and scaled, after checks of the displacements."""
        ways = np.array([demo.displacement for demo in demos])
        if self.rotodilatation == "auto":
            extents = [float(np.linalg.norm(demo.x - demo.x[0], axis=1).max()) for demo in demos]
            clear = np.linalg.norm(ways, axis=1) > _CLEAR_WAY * np.array(extents)
            positions = ways.shape[1] <= 3 and all({"m"}.issuperset(demo.units) for demo in demos)
            return positions and bool(clear.all()) and self.scaling == "hoffmann"
        extent = max(float(np.ptp(demo.x, axis=0).max()) for demo in demos)
        if self.rotodilatation and (np.linalg.norm(ways, axis=1) <= NO_WAY * extent).any():
            raise ThunderError("demonstrations must not end where they start with rotodilatation")
        return bool(self.rotodilatation)

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
            If path length, peak speed or peak acceleration without obstacles are above 2, 2.5 or 10 times both those of
            the demonstration over this duration and those of minimum jerk, of a coordinate or, with rotodilatation, of
            all together. The cause is scaling with the displacement (``"paper"``, rotodilatation) of a demonstration
            that nearly returns.
        """
        core = self._copy()
        tau = self._reset(core, start, goal, duration, start_velocity)
        place(core, obstacles, potential)
        end, steps = span_of(until, dt, tau)
        t, x, dx, ddx, dddx = sample(core, end, steps, tau)
        rest, settled, *_ = sample(core, 2.0 * end, 200, tau)
        g = core.goal
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
        core = self._copy()
        self._reset(core, start, goal, duration, start_velocity)
        return self._start(core, goal_filter, obstacles, potential)


def _settling(t: Array, distance: Array, tolerance: float) -> float:
    outside = np.flatnonzero(~(distance <= positive(tolerance, "tolerance")))
    if not len(outside):
        return 0.0
    return float(t[outside[-1] + 1]) if outside[-1] + 1 < len(t) else math.inf
