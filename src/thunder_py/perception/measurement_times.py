"""When a camera takes pictures, and when their results can be used."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..errors import ThunderError
from ..motion.scalars import positive
from .options import not_negative, probability

__all__ = ["measurement_times"]


def measurement_times(
    duration: float,
    rate: float,
    *,
    latency: float = 0.0,
    jitter: float = 0.0,
    dropout: float = 0.0,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Draw the times of a camera's measurements.

    Pictures are taken at 0, 1 / rate, 2 / rate, ... up to the duration. The result of each can be used after the
    latency and a further delay, uniform from 0 to the jitter; where the jitter is longer than a period, results
    overtake each other.

    Parameters
    ----------
    duration : float
        [s], 0 for the picture at time 0 alone.
    rate : float
        Pictures per second [Hz].
    latency, jitter : float
        Delay of every result, and the longest further one [s].
    dropout : float
        Probability, from 0 to 1, that a picture has no result.
    rng : numpy.random.Generator
        Two numbers are drawn for each picture, so pictures that are not dropped have the same delays whatever the
        drop-out probability.

    Returns
    -------
    taken : (K,) array
        When pictures were taken [s], ascending; without those that were dropped.
    available : (K,) array
        When their results can be used [s], in the order of `taken`.

    Raises
    ------
    ThunderError
        A number outside its range.
    """
    if not isinstance(rng, np.random.Generator):
        raise ThunderError(f"rng must be a numpy.random.Generator, got {rng!r}")
    last = np.floor(not_negative(duration, "duration", "s") * positive(rate, "rate", "Hz") * (1.0 + 1e-12))
    taken = np.arange(int(last) + 1) / rate
    delay, chance = rng.random((len(taken), 2)).T
    available = taken + not_negative(latency, "latency", "s") + not_negative(jitter, "jitter", "s") * delay
    kept = chance >= probability(dropout, "dropout")
    return taken[kept], available[kept]
