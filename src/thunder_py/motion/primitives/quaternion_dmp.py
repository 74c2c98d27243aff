"""Movement primitives of orientation, in the form of Ude et al. (2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, one_of, positive, rotation
from ...errors import ThunderError
from ...recordings.plausibility import Samples, check_plausible
from ...recordings.trial import ROTATION
from ...spatial import log, quaternion_jacobian
from ...trajectory.hermite import duration_of
from ..estimator_file import read_estimator, scalar, write_estimator
from .bases import DMPBasis, Fit
from .demonstrations import is_sampled, listed, smooth, span_of, times_of
from .dmp import SCALINGS
from .stepping import SteppedPrimitive, warn_growth

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

#: entries of the displacement below this are too small to divide by [rad]
_NO_WAY = 1e-6
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


class _Demonstration(NamedTuple):
    t: Array
    rotations: Rotation
    w: Array
    dw: Array


class QuaternionDMP(SteppedPrimitive[_core.QuaternionDmp]):
    """Discrete dynamic movement primitive of orientation, in the form of Ude et al. (2014).

    Parameters
    ----------
    n_basis, basis, overlap, scaling, K, D, alpha, fit
        As in `DMP`.

    Attributes
    ----------
    weights_ : (n_basis, 3) array
        Weights of the basis functions.
    start_, goal_ : (3, 3) array
        Ends of the first demonstration, the defaults of rollouts.
    duration_ : float
        Duration of the first demonstration [s].
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

    weights_: Array
    start_: Array
    goal_: Array
    duration_: float
    basis_: DMPBasis
    D_: float

    def __init__(
        self,
        n_basis: int = 21,
        *,
        basis: str = "gaussian",
        overlap: float = 1.0,
        scaling: str = "hoffmann",
        K: float = 150.0,
        D: float | None = None,
        alpha: float = 4.0,
        fit: str = "ls",
    ) -> None:
        self.n_basis = n_basis
        self.basis = basis
        self.overlap = overlap
        self.scaling = scaling
        self.K = K
        self.D = D
        self.alpha = alpha
        self._method = fit

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
            Cutoff [Hz] of the filter of `DMP.fit`, applied to the quaternions, which are then normalized.

        Returns
        -------
        QuaternionDMP
            The fitted primitive itself.

        Warns
        -----
        RecordingWarning
            For units, times and gaps that can hardly be right, see `recordings.check_plausible`.

        Raises
        ------
        ThunderError
            As `DMP.fit`; and for a demonstration half a turn away from its end, where the error is discontinuous.
        """
        basis, D = self._checked()
        demos = [_read(value, f"demonstration {k}", cutoff) for k, value in enumerate(listed(demonstrations))]
        check_plausible([Samples(demo.rotations.as_rotvec(), demo.t, ("rad",) * 3) for demo in demos])
        x = np.concatenate([basis.phase(demo.t, demo.t[-1]) for demo in demos])
        share = np.concatenate([np.gradient(demo.t) / demo.t[-1] for demo in demos])
        parts = [self._target(demo, f"demonstration {k}", basis, D) for k, demo in enumerate(demos)]
        targets, factors = np.concatenate([y for y, _ in parts]), np.concatenate([s for _, s in parts])
        weights = Fit(basis, x, share, self._method).weights(targets, factors)
        ends = demos[0].rotations[[0, len(demos[0].t) - 1]].as_matrix()
        return self.with_weights(weights, ends[0], ends[1], float(demos[0].t[-1]))

    def with_weights(
        self, weights: npt.ArrayLike, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float
    ) -> QuaternionDMP:
        """Set weights (n_basis, 3) learned elsewhere, with start, goal (3, 3), duration [s] of their demonstration."""
        from scipy.spatial.transform import Rotation

        basis, D = self._checked()
        w = array(weights, (basis.n_basis, 3), "weights")
        ends = rotation(start, "start"), rotation(goal, "goal")
        duration = duration_of(duration)
        self._core = _core.QuaternionDmp(basis.core, self.K, D, self.scaling == "paper", w)
        self.weights_, (self.start_, self.goal_), self.duration_ = w, ends, duration
        self.basis_, self.D_ = basis, D
        self._running = False
        copy = self._core.copy()
        copy.reset(*ends, duration, np.zeros(3))
        errors = (
            Rotation.from_matrix(ends[1]) * Rotation.from_quat(copy._rollout(100, duration / 100)[0]).inv()
        ).as_rotvec()
        self._extent: Array = np.abs(errors - errors[0]).max(axis=0)
        return self

    def _checked(self) -> tuple[DMPBasis, float]:
        """Basis and damping from the arguments of the constructor."""
        basis = DMPBasis(self.n_basis, self.basis, alpha=self.alpha, overlap=self.overlap)
        one_of(self.scaling, tuple(SCALINGS), "scaling")
        return basis, self._damping()

    def _target(self, demo: _Demonstration, name: str, basis: DMPBasis, D: float) -> tuple[Array, Array]:
        tau = float(demo.t[-1])
        error = (demo.rotations[-1] * demo.rotations.inv()).as_rotvec()
        if np.linalg.norm(error, axis=1).max() > _HALF_TURN:
            raise ThunderError(f"{name} must stay within half a turn of its end: split it in two")
        pull = tau**2 * demo.dw + D * tau * demo.w - self.K * error
        if self.scaling == "paper":
            if (np.abs(error[0]) <= _NO_WAY).any():
                raise ThunderError(
                    f"{name} must rotate about every axis with scaling='paper', which divides by e(g, q0), got "
                    f"{error[0].tolist()}: use scaling='hoffmann'"
                )
            return pull, np.broadcast_to(error[0], pull.shape)
        f = pull / self.K + basis.phase(demo.t, tau)[:, None] * error[0]
        return f, np.ones_like(f)

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
        """
        from scipy.spatial.transform import Rotation

        core = self._learned_core().copy()
        tau = self._prepare(core, start, goal, duration, start_velocity)
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
        self._prepare(self._learned_core(), start, goal, duration, start_velocity)
        self._running = True
        return self.state

    def step(self, dt: float) -> OrientationState:
        """Advance the motion by dt [s], and return its state."""
        self._started().step(positive(dt, "dt"))
        return self.state

    @property
    def state(self) -> OrientationState:
        """State of the motion."""
        core = self._started()
        return OrientationState(core.R, core.w, core.dw)

    @property
    def goal(self) -> Array:
        """Goal (3, 3); may be set between steps."""
        return self._started().goal

    @goal.setter
    def goal(self, value: npt.ArrayLike) -> None:
        self._started().set_goal(_matrix(value, "goal"))

    def save(self, path: str | Path) -> None:
        """Write the learned primitive to a ``.npz`` file of plain arrays; a started motion is not part of it."""
        self._learned_core()
        write_estimator(path, self, "weights_", "start_", "goal_", "duration_")

    @classmethod
    def load(cls, path: str | Path) -> QuaternionDMP:
        """Read a file written by `save`.

        Raises
        ------
        FileFormatError
            For any other file, and for a file of a newer version.
        """
        with read_estimator(path, cls) as (dmp, arrays):
            duration = scalar(arrays, "duration_")
            return dmp.with_weights(arrays["weights_"], arrays["start_"], arrays["goal_"], duration)

    def _prepare(self, core: _core.QuaternionDmp, start: Any, goal: Any, duration: Any, velocity: Any) -> float:
        R0 = self.start_ if start is None else _matrix(start, "start")
        R1 = self.goal_ if goal is None else _matrix(goal, "goal")
        tau = self.duration_ if duration is None else duration_of(duration)
        core.reset(R0, R1, tau, np.zeros(3) if velocity is None else array(velocity, (3,), "start_velocity"))
        if self.scaling == "paper":
            way, shown = (np.abs(log(b @ a.T)) for a, b in ((R0, R1), (self.start_, self.goal_)))
            warn_growth(way, shown, self._extent)
        return tau


def _matrix(value: Any, what: str) -> Array:
    return rotation(value.as_matrix() if hasattr(value, "as_matrix") else value, what)


def _read(value: Any, name: str, cutoff: float) -> _Demonstration:
    """Read rotations, with angular velocity and acceleration from a quintic spline through quaternions of one sign."""
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
    t, q = times_of(times, name), rotations.as_quat()
    if len(t) != len(q):
        raise ThunderError(f"{name} must have as many rotations as times, got {len(q)} and {len(t)}")
    flips = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0.0, -1.0, 1.0)
    q = q * np.cumprod(np.insert(flips, 0, 1.0))[:, None]
    t, spline = smooth(t, q, cutoff, name)
    q, dq, ddq = (spline(t, derivative) for derivative in range(3))
    square = np.sum(q * q, axis=1, keepdims=True)  # the spline leaves the unit length
    rates = 4.0 * quaternion_jacobian(q, scalar_first=False).swapaxes(1, 2) / square[:, None]
    omega: Array = np.einsum("tij,tj->ti", rates, dq)
    stretch = 2.0 * np.sum(q * dq, axis=1, keepdims=True) / square
    return _Demonstration(t, Rotation.from_quat(q), omega, np.einsum("tij,tj->ti", rates, ddq) - stretch * omega)
