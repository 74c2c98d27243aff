"""Measures of excitation of a motion."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, whole
from ..errors import ThunderError
from ..model.parameters import UnknownParameters
from ..robot import Robot
from .signals import instants

#: instants whose regressors are in memory at a time
_CHUNK = 512


class PersistentExcitation(NamedTuple):
    """Bounds of the integral of Y'Y over a moving window, from `persistent_excitation`.

    Attributes
    ----------
    t : (m,) array
        Starts of the windows [s].
    lower, upper : (m,) array
        Smallest and largest eigenvalue of the integral, the best l1 and l2 of each window.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> excitation = th.identification.persistent_excitation(robot, q, dq, ddq, t, window=5.0)
    >>> bool(excitation.l1 > 0.0), bool(excitation.l2 == excitation.upper.max())
    (True, True)
    """

    t: Array
    lower: Array
    upper: Array

    @property
    def l1(self) -> float:
        """Minimum of `lower`; if positive, the motion is persistently exciting over the given instants."""
        return float(self.lower.min())

    @property
    def l2(self) -> float:
        """Maximum of `upper`."""
        return float(self.upper.max())


class Conditioning(NamedTuple):
    """Condition numbers of a stacked base regressor.

    Attributes
    ----------
    unscaled : float
        Condition number of the unscaled columns; it depends on the units of the parameters.
    scaled : float
        Condition number of the columns scaled to unit length.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> condition = th.identification.base_regressor_condition(robot, q, dq, ddq)
    >>> round(condition.unscaled, 1), round(condition.scaled, 1)
    (191.4, 92.9)
    """

    unscaled: float
    scaled: float


def persistent_excitation(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    ddq: npt.ArrayLike,
    t: npt.ArrayLike,
    window: float,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    *,
    windows: int = 200,
) -> PersistentExcitation:
    """Compute bounds of persistent excitation: ``l1 I <= integral of Y'Y from t to t + window <= l2 I``.

    Parameters
    ----------
    robot : Robot
        Robot; its parameters have no effect.
    q, dq, ddq : (k, n) array_like
        Motion [rad or m] and its time derivatives.
    t : (k,) array_like
        Instants [s], increasing.
    window : float
        Length l0 of the window [s], at least a sampling period.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters whose columns of Y are used, see `Robot.unknown`; default the base parameters. `lower` is zero for
        linearly dependent columns.
    windows : int
        Largest number of windows, spread over the motion.

    Returns
    -------
    PersistentExcitation
        Eigenvalues, accurate to about 1e-15 of the largest one of the whole motion; smaller ones are rounding.

    Notes
    -----
    D4.2, section 3.2.3; Thunder article, eq. 36, both for all t >= 0 (docs/errata.md, T-9). Integrals by the
    trapezoidal rule.

    Examples
    --------
    An arm at rest excites only the parameters of gravity.

    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> rest = np.zeros((501, 2))
    >>> pe = th.identification.persistent_excitation(robot, rest, rest, rest, t, window=5.0)
    >>> bool(pe.l1 <= 1e-12 * pe.l2)
    True
    """
    times = instants(t)
    motion = [array(x, (times.size, robot.n), name) for x, name in ((q, "q"), (dq, "dq"), (ddq, "ddq"))]
    window = float(array(window, (), "window"))
    if not 0.0 < window <= (times[-1] - times[0]) * (1.0 + 1e-9):
        raise ThunderError(
            f"window must be more than 0 and at most the duration, {times[-1] - times[0]:g} s, got {window:g}"
        )
    if (longest := float(np.diff(times).max())) * (1.0 - 1e-9) > window:
        raise ThunderError(f"window must be no shorter than a sample, {longest:g} s, got {window:g}")
    whole(windows, "windows", 1)
    columns = robot.base_parameters().independent if unknown is None else robot.unknown(unknown).indices
    last = max(int(np.searchsorted(times, times[-1] - window * (1.0 - 1e-9), side="right")) - 1, 0)
    starts = np.unique(np.linspace(0, last, min(int(windows), last + 1)).round().astype(int))
    ends = np.minimum(np.searchsorted(times, times[starts] + window * (1.0 - 1e-9)), times.size - 1)
    marks = np.unique(np.concatenate([starts, ends]))
    sums, total = np.zeros((marks.size, columns.size, columns.size)), np.zeros((columns.size, columns.size))
    for first, stop in itertools.pairwise(np.union1d(marks, np.arange(0, marks[-1], _CHUNK))):
        part = slice(first, stop + 1)
        step = np.diff(times[part])
        weight = 0.5 * (np.append(step, 0.0) + np.append(0.0, step))  # of the trapezoidal rule
        Y = robot.regressor(*(x[part] for x in motion))[..., columns]
        W = (np.sqrt(weight)[:, None, None] * Y).reshape(-1, columns.size)
        total = total + W.T @ W
        sums[np.searchsorted(marks, stop)] = total  # that of a mark overwrites those before it
    inside = sums[np.searchsorted(marks, ends)] - sums[np.searchsorted(marks, starts)]
    values = np.maximum(np.linalg.eigvalsh(inside), 0.0)
    return PersistentExcitation(times[starts], values[:, 0], values[:, -1])


def base_regressor_condition(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    ddq: npt.ArrayLike,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
) -> Conditioning:
    """Compute the condition numbers of the base regressor stacked over a motion.

    Parameters
    ----------
    robot : Robot
        Robot; its parameters have no effect.
    q, dq, ddq : (k, n) array_like
        Motion [rad or m] and its time derivatives.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters whose base parameters are used, the others being known; default all.

    Returns
    -------
    Conditioning
        Condition numbers, infinite if the motion does not excite a base parameter.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> round(th.identification.base_regressor_condition(robot, q, dq, ddq, unknown="link2").scaled, 1)
    10.6
    """
    motion = [array(x, (None, robot.n), name) for x, name in ((q, "q"), (dq, "dq"), (ddq, "ddq"))]
    keep = robot.unknown(unknown).base_parameters().independent
    W = robot.regressor(*motion)[..., keep].reshape(-1, keep.size)
    return condition_numbers(W)


def condition_numbers(W: Array) -> Conditioning:
    """Return the condition numbers of a matrix, unscaled and with columns scaled to unit length."""
    if W.shape[0] < W.shape[1]:
        return Conditioning(np.inf, np.inf)
    R = np.asarray(np.linalg.qr(W, mode="r"))  # has the singular values of W and is small
    lengths = np.linalg.norm(R, axis=0)
    if not lengths.all():
        return Conditioning(np.inf, np.inf)
    return Conditioning(_condition(R), _condition(R / lengths))


def _condition(R: Array) -> float:
    s = np.linalg.svd(R, compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > np.finfo(np.float64).eps * s[0] else np.inf
