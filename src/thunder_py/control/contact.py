"""Detection of contacts from residuals: thresholds, consecutive samples and hysteresis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, all_positive, array, number_or_row, positive, whole, within
from ..errors import ThunderError
from ..values import Value, set_fields


@dataclass(frozen=True, eq=False)
class ContactDetector(Value):
    """Rule that turns a residual into contacts: thresholds, consecutive samples and hysteresis.

    Attributes
    ----------
    thresholds : float or (m,) array
        Absolute values of the residual beyond which there is a contact, for all entries or each [N m, N or W]; see
        `contact_thresholds`.
    samples : int
        Number of consecutive residuals beyond the threshold before a contact begins, and below ``release`` times it
        before a contact ends.
    release : float
        Fraction of the threshold, more than 0 and at most 1.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    MomentumObserver : Takes a detector, and applies it in every step.

    Examples
    --------
    >>> import thunder_py as th
    >>> detector = th.control.ContactDetector(2.0, samples=2, release=0.5)
    >>> detector.apply([[0.0], [3.0], [-3.0], [1.5], [0.5], [0.5]]).ravel().tolist()
    [False, False, True, True, True, False]
    """

    thresholds: npt.ArrayLike
    samples: int = 3
    release: float = 0.5

    def __post_init__(self) -> None:
        """Check the arguments."""
        set_fields(
            self,
            thresholds=all_positive(number_or_row(self.thresholds, "thresholds"), "thresholds"),
            samples=whole(self.samples, "samples", 1, 1_000_000),
            release=within(self.release, "release", 0.0, 1.0, ends="(]"),
        )

    def apply(self, residuals: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return the contacts along a log.

        Parameters
        ----------
        residuals : (k, m) array_like
            A row for each sample.

        Returns
        -------
        (k, m) array of bool
            Contacts of each entry.

        Raises
        ------
        ValueError
            If `residuals` is not of that shape, or is not finite.
        """
        rows = array(residuals, (None, None), "residuals")
        return _core.detect_contacts(rows, self._sized(rows.shape[1]), self.samples, self.release)

    def _sized(self, size: int) -> Array:
        """Return a threshold for each of `size` entries."""
        thresholds = np.asarray(self.thresholds, dtype=np.float64)
        if thresholds.ndim and thresholds.size != size:
            raise ThunderError(f"thresholds must be a number or {size} numbers, got {thresholds.size}")
        return np.full(size, thresholds)


#: fewest blocks from which a distribution of maxima is fitted
_FEWEST_BLOCKS = 10
_EULER = 0.57721566490153286


def contact_thresholds(
    residuals: npt.ArrayLike | Sequence[npt.ArrayLike],
    period: float,
    false_alarm_rate: float,
    *,
    samples: int = 1,
    block: float = 1.0,
) -> Array:
    """Return thresholds with a given rate of false alarms, from residuals of motions without contact.

    Parameters
    ----------
    residuals : (k, m) array_like, or sequence of them
        Residuals of one or several runs without contact, a row for each sample, with the noise and the errors of the
        model that the detector will meet: ``observer.apply(t, q, dq, tau)`` of a recorded log.
    period : float
        Time between samples [s].
    false_alarm_rate : float
        Expected number of false alarms per second of all entries together [1/s].
    samples : int
        The detector's number of consecutive samples.
    block : float
        Length of a block [s]: longer than the residual's correlation, and at most a tenth of the runs' duration.

    Returns
    -------
    (m,) array
        Thresholds for `ContactDetector`.

    Raises
    ------
    ValueError
        If an argument is invalid, or the runs have fewer than ten blocks.

    Notes
    -----
    The largest |r| in each block (with `samples`, the largest value that as many consecutive ones exceed) is
    approximately Gumbel distributed, ``P(max < x) = exp(-exp(-(x - mu) / beta))``, with mu and beta from the
    probability-weighted moments of the blocks' maxima (Coles 2001, chapter 3; Hosking 1985). Alarms are then a Poisson
    process of rate ``exp(-(x - mu) / beta) / block``, so the threshold of rate f/m for each of m entries is
    ``mu - beta log(f block / m)``. Rates below one over the duration of the runs are extrapolated. For Gaussian noise,
    whose tail is lighter than Gumbel's, there are fewer alarms than requested. Remaining thresholds hold only for
    motions like those recorded, because errors of the model depend on the motion.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> noise = np.random.default_rng(0).normal(size=(100_000, 2)) * [1.0, 0.1]  # 100 s at 1 kHz
    >>> th.control.contact_thresholds(noise, 1e-3, false_alarm_rate=0.01).round(1).tolist()
    [4.8, 0.5]
    """
    dt, rate = positive(period, "period", "s"), positive(false_alarm_rate, "false_alarm_rate", "1/s")
    length = max(1, round(positive(block, "block", "s") / dt))
    count = whole(samples, "samples", 1)
    maxima = np.concatenate([_block_maxima(run, length, count) for run in _runs(residuals)])
    if len(maxima) < _FEWEST_BLOCKS:
        raise ThunderError(
            f"residuals must have at least {_FEWEST_BLOCKS} blocks of {block:g} s, got {len(maxima)}: "
            "record longer or shorten block"
        )
    ordered = np.sort(maxima, axis=0)
    blocks, entries = ordered.shape
    mean, weighted = ordered.mean(axis=0), (np.arange(blocks) / (blocks - 1)) @ ordered / blocks
    beta = (2.0 * weighted - mean) / math.log(2.0)
    mu = mean - _EULER * beta
    thresholds: Array = mu - beta * math.log(rate * length * dt / entries)
    if not (thresholds > 0.0).all():
        raise ThunderError(
            f"false_alarm_rate must be lower: at {rate:g} 1/s the thresholds are {thresholds.tolist()}, not positive"
        )
    return thresholds


def _runs(residuals: Any) -> list[Array]:
    """Return the runs, (k, m) each."""
    several = isinstance(residuals, (list, tuple)) and len(residuals) > 0 and np.ndim(residuals[0]) == 2
    runs = [array(run, (None, None), "residuals") for run in (residuals if several else [residuals])]
    for first, second in pairwise(runs):
        if first.shape[1] != second.shape[1]:
            raise ThunderError(
                f"residuals must have the same number of columns, got {first.shape[1]} and {second.shape[1]}"
            )
    return runs


def _block_maxima(residuals: Array, length: int, samples: int) -> Array:
    """Return the largest value in each whole block that `samples` consecutive absolute residuals exceed, (b, m)."""
    sizes = np.abs(residuals)
    for _ in range(samples - 1):  # of k consecutive ones the smallest
        sizes = np.minimum(sizes[:-1], np.abs(residuals[len(residuals) - len(sizes) + 1 :]))
    blocks = len(sizes) // length
    return np.asarray(sizes[: blocks * length].reshape(blocks, length, -1).max(axis=1))
