"""Movement primitives of orientation, in the form of Ude et al. (2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, rotation
from ...errors import ThunderError
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.trial import ROTATION
from ...spatial import angular_acceleration, angular_velocity, exp, log
from .demonstrations import Demonstration, is_sampled, label_of, named, read_motion
from .stepping import DiscretePrimitive, span_of

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: largest rotation to the goal, just below half a turn [rad]
_HALF_TURN = math.pi - 0.02


class OrientationState(NamedTuple):
    """Orientation (3, 3), angular velocity and acceleration (3,) in world axes."""

    R: Array
    w: Array
    dw: Array


@dataclass(frozen=True, eq=False)
class OrientationMotion:
    """Sampled motion of an orientation.

    Attributes
    ----------
    t : (k,) array
        Times [s].
    rotations : scipy.spatial.transform.Rotation
        k orientations.
    w, dw : (k, 3) array
        Angular velocity [rad/s] and acceleration [rad/s^2] in world axes.
    end_error : float
        Angle from the goal at the end [rad].
    """

    t: Array
    rotations: Rotation
    w: Array
    dw: Array
    end_error: float

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return float(self.t[-1])


class QuaternionDMP(DiscretePrimitive[_core.QuaternionDmp, OrientationState]):
    """Discrete dynamic movement primitive of orientation, in the form of Ude et al. (2014).

    Parameters
    ----------
    n_basis, overlap, K, D, regression, basis, scaling, alpha
        As in `DMP`.

    Attributes
    ----------
    weights_ : (n_basis, 3) array
        Weights of the basis functions.
    start_, goal_ : (3, 3) array
        Ends of the first demonstration, the defaults of rollouts.
    duration_ : float
        Duration of the first demonstration [s].
    condition_ : float
        Condition number of the least squares; NaN for ``"lwr"``.
    basis_ : DMPBasis
        Basis functions.
    D_ : float
        Damping used.

    Notes
    -----
    For the unit quaternion q, the angular velocity w in world axes and eta = tau w, ``tau eta' = K e(g, q) - D eta +
    forcing`` and ``tau q' = eta q / 2``. ``e(a, b) = 2 log(a b*)`` is the rotation vector from b to a, the shorter way.
    The forcing is ``-K e(g, q0) x + K f(x)``, or with ``scaling="paper"`` Ude's ``e(g, q0) f(x)``, entry by entry.

    In the form of Koutras and Doulgeri (2020) the error itself obeys the linear equation. The two differ for large
    rotations about changing axes. Parameters and results follow scikit-learn's conventions.

    References
    ----------
    A. Ude, B. Nemec, T. Petric, J. Morimoto, "Orientation in Cartesian space dynamic movement primitives", ICRA 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.spatial.transform import Rotation
    >>> from thunder_py.motion import QuaternionDMP
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> s = 10 * t**3 - 15 * t**4 + 6 * t**5
    >>> dmp = QuaternionDMP().fit((t, Rotation.from_rotvec(s[:, None] * [0.3, 1.2, -0.4])))
    >>> motion = dmp.rollout(goal=Rotation.from_rotvec([0.0, 1.5, 0.0]))
    >>> len(motion.rotations), motion.end_error < 0.05
    (501, True)
    """

    _unit = "rad"

    def fit(self, demonstrations: Any, y: object = None, *, cutoff: float = math.inf) -> QuaternionDMP:
        """Learn the forcing term.

        Parameters
        ----------
        demonstrations
            One or a list of: a `Trial` with rotation vectors; a tuple ``(t, rotations)`` with times (k,) [s] and a
            SciPy Rotation or matrices (k, 3, 3).
        y : object
            Ignored; scikit-learn passes it.
        cutoff : float
            Cutoff [Hz] of the filter of `DMP.fit`, applied to the rotation vectors from the last orientation.

        Returns
        -------
        QuaternionDMP
            The fitted primitive itself.

        Warns
        -----
        ThunderWarning
            As `DMP.fit`.
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.

        Raises
        ------
        ThunderError
            As `DMP.fit`; and for a demonstration half a turn away from its end, where the error is discontinuous.
        """
        self._checked()
        read = [_read(value, name, cutoff) for name, value in named(demonstrations)]
        check_plausible([Samples(demo.x, demo.t, ("rad",) * 3, demo.name) for demo, _ in read])
        weights, condition = self._regress([demo for demo, _ in read])
        (first, last), *_ = read
        self.with_weights(weights, exp(first.x[0]) @ last, exp(first.x[-1]) @ last, first.duration)
        self.condition_ = condition
        self._judge([demo for demo, _ in read])
        return self

    def with_weights(
        self, weights: npt.ArrayLike, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float
    ) -> QuaternionDMP:
        """Set weights (n_basis, 3) learned elsewhere, with start, goal (3, 3), duration [s] of their demonstration."""
        w, ends = (
            array(self._read_weights(weights), (None, 3), "weights"),
            (self._end(start, "start"), self._end(goal, "goal")),
        )
        self._learn(_core.QuaternionDmp, w, self.scaling == "paper", w)
        self._learn_motion(*ends, duration)
        return self

    def _end(self, value: Any, what: str) -> Array:
        return rotation(value.as_matrix() if hasattr(value, "as_matrix") else value, what)

    def _vectors(self, x: Array) -> Array:
        from scipy.spatial.transform import Rotation

        return np.asarray((Rotation.from_quat(x) * Rotation.from_matrix(self.goal_).inv()).as_rotvec())

    def _way(self, start: Array, goal: Array) -> Array:
        return log(goal @ start.T)

    def _groups(self) -> list[list[int]]:
        return super()._groups() if self.scaling == "paper" else [[0, 1, 2]]

    def rollout(
        self,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        duration: float | None = None,
        dt: float | None = None,
        *,
        start_velocity: npt.ArrayLike | None = None,
        until: float | None = None,
    ) -> OrientationMotion:
        """Integrate a whole motion; see `DMP.rollout`.

        Parameters
        ----------
        start, goal : (3, 3) array_like or Rotation, optional
            Orientations; by default those of the demonstration.
        duration, dt, until : float, optional
            Times [s], as in `DMP.rollout`.
        start_velocity : (3,) array_like, optional
            Angular velocity at the start in world axes [rad/s]; default zero.

        Returns
        -------
        OrientationMotion
            Samples and error at the goal.

        Warns
        -----
        ThunderWarning
            As `DMP.rollout`, of the angle traveled, the angular speed and acceleration, with ``"paper"`` about each
            axis.
        """
        from scipy.spatial.transform import Rotation

        core = self._copy()
        tau = self._reset(core, start, goal, duration, start_velocity)
        end, steps = span_of(until, dt, tau)
        q, w, dw = core._rollout(steps, end / steps)
        rotations = Rotation.from_quat(q)
        error = float((Rotation.from_matrix(core.goal) * rotations[-1].inv()).magnitude())
        return OrientationMotion(np.linspace(0.0, end, steps + 1), rotations, w, dw, error)

    def reset(
        self,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        duration: float | None = None,
        *,
        start_velocity: npt.ArrayLike | None = None,
    ) -> OrientationState:
        """Start a motion for `step`."""
        core = self._copy()
        self._reset(core, start, goal, duration, start_velocity)
        self._moving = core
        return self.state

    @property
    def state(self) -> OrientationState:
        """State of the motion."""
        core = self._started()
        return OrientationState(core.R, core.w, core.dw)


def _read(value: Any, name: str, cutoff: float) -> tuple[Demonstration, Array]:
    """Return a demonstration as rotation vectors from its last orientation, and that orientation (3, 3)."""
    from scipy.spatial.transform import Rotation

    pair = isinstance(value, tuple)
    if (pair and len(value) != 2) or not (pair or is_sampled(value)):
        raise ThunderError(f"{name} must be a Trial with rotations or (t, rotations), got {type(value).__name__}")
    if not pair and not set(ROTATION) <= set(value.dofs):
        raise ThunderError(f"{name} must have rotation vectors rx, ry, rz, got a Trial of {', '.join(value.dofs)}")
    if not pair and np.isnan(np.asarray(value.x)).any():
        raise ThunderError(f"{name} must have no gaps (processing.fill_gaps closes them), got NaN")
    times, rotations = value if pair else (value.t, value.rotations)
    if not isinstance(rotations, Rotation):
        matrices = array(rotations, (None, 3, 3), name)
        rotations = Rotation.from_matrix([rotation(R, f"{name}: rotations") for R in matrices])
    vectors = (rotations * rotations[-1].inv()).as_rotvec()
    if np.linalg.norm(vectors, axis=1).max() > _HALF_TURN:
        raise ThunderError(f"{name} must stay within half a turn of its end: split it in two")
    demo = read_motion((times, vectors), name, cutoff)
    w, dw = angular_velocity(demo.x, demo.dx), angular_acceleration(demo.x, demo.dx, demo.ddx)
    return replace(demo, dx=w, ddx=dw, name=label_of(value)), rotations[-1].as_matrix()
