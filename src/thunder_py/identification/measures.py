"""How much a motion tells about the parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..robot import Robot
from ..robot.robot import UnknownParameters
from .signals import instants

__all__ = ["Conditioning", "PersistentExcitation", "base_regressor_condition", "persistent_excitation"]

#: regressors of this many instants are held at a time
_CHUNK = 512


class PersistentExcitation(NamedTuple):
    """Bounds of the integral of Y'Y over a moving window.

    Attributes
    ----------
    t : (m,) array
        Starts of the windows [s].
    lower, upper : (m,) array
        Its smallest and largest eigenvalue, the largest l1 and smallest l2 that hold there.
    """

    t: Array
    lower: Array
    upper: Array

    @property
    def l1(self) -> float:
        """Least of `lower`: the motion is persistently exciting, as far as it was seen, where this is above zero."""
        return float(self.lower.min())

    @property
    def l2(self) -> float:
        """Largest of `upper`."""
        return float(self.upper.max())


class Conditioning(NamedTuple):
    """Condition numbers of a stacked base regressor.

    Attributes
    ----------
    unscaled : float
        Of the columns as they are: it depends on the units of the parameters.
    scaled : float
        Of the columns scaled to unit length.
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
    """Measure persistent excitation: ``l1 I <= integral of Y'Y from t to t + window <= l2 I``.

    Parameters
    ----------
    robot : Robot
        Its geometry matters, its parameters do not.
    q, dq, ddq : (k, n) array_like
        The motion.
    t : (k,) array_like
        Its instants [s], growing.
    window : float
        Length l0 of the window [s], at least a sample.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Whose columns of Y count, see `Robot.unknown`; default those of the base parameters. Among columns that no
        motion can tell apart `lower` is zero.
    windows : int
        At most so many starts, spread over all that there are.

    Returns
    -------
    PersistentExcitation
        Eigenvalues to about 1e-15 of the largest one of the whole motion: below, they are not told from zero.

    Notes
    -----
    D4.2, section 3.2.3; Thunder article, eq. 36, both for all t >= 0 (docs/errata.md, T-9). Integrals by the
    trapezoidal rule.
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
    if isinstance(windows, bool) or not isinstance(windows, (int, np.integer)) or windows < 1:
        raise ThunderError(f"windows must be a positive whole number, got {windows!r}")
    columns = _columns(robot, unknown)
    last = max(int(np.searchsorted(times, times[-1] - window * (1.0 - 1e-9), side="right")) - 1, 0)
    starts = np.unique(np.linspace(0, last, min(int(windows), last + 1)).round().astype(int))
    ends = np.minimum(np.searchsorted(times, times[starts] + window * (1.0 - 1e-9)), times.size - 1)
    cuts = np.unique(np.concatenate([starts, ends]))
    sums = np.zeros((cuts.size, columns.size, columns.size))
    for k, gram in enumerate(_grams(robot, times, motion, columns, cuts)):
        sums[k + 1] = sums[k] + gram
    inside = sums[np.searchsorted(cuts, ends)] - sums[np.searchsorted(cuts, starts)]
    values = np.maximum(np.linalg.eigvalsh(inside), 0.0)
    return PersistentExcitation(times[starts], values[:, 0], values[:, -1])


def _columns(
    robot: Robot, unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None
) -> npt.NDArray[np.intp]:
    if unknown is None:
        return robot.base_parameters().independent
    return robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown).indices


def _grams(
    robot: Robot, t: Array, motion: Sequence[Array], columns: npt.NDArray[np.intp], cuts: npt.NDArray[np.intp]
) -> Iterator[Array]:
    """Integrals of Y'Y between instants, by the trapezoidal rule."""
    for first, last in itertools.pairwise(cuts):
        step = np.diff(t[first : last + 1])
        weight = 0.5 * (np.append(step, 0.0) + np.append(0.0, step))
        gram = np.zeros((columns.size, columns.size))
        for begin in range(first, last + 1, _CHUNK):
            part = slice(begin, min(begin + _CHUNK, last + 1))
            Y = robot.regressor(*(x[part] for x in motion))[..., columns]
            W = (np.sqrt(weight[part.start - first : part.stop - first])[:, None, None] * Y).reshape(-1, columns.size)
            gram += W.T @ W
        yield gram


def base_regressor_condition(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    ddq: npt.ArrayLike,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
) -> Conditioning:
    """Condition numbers of the base regressor stacked over a motion.

    Parameters
    ----------
    robot : Robot
        Its geometry matters, its parameters do not.
    q, dq, ddq : (k, n) array_like
        The motion.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Base parameters of these alone, the others being known; default of all.

    Returns
    -------
    Conditioning
        Infinite where the motion leaves a base parameter out.
    """
    motion = [array(x, (None, robot.n), name) for x, name in ((q, "q"), (dq, "dq"), (ddq, "ddq"))]
    mask = unknown.mask if isinstance(unknown, UnknownParameters) else unknown
    keep = robot.unknown(mask).base_parameters().independent
    W = robot.regressor(*motion)[..., keep].reshape(-1, keep.size)
    return condition_numbers(W)


def condition_numbers(W: Array) -> Conditioning:
    """Condition of a matrix, and of it with its columns scaled to unit length."""
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
