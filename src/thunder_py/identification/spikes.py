"""Samples that are far from their neighbors."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from .log import Log, signals_of
from .signals import NORMAL_MEDIAN

#: samples of the running median, and deviation from it in standard deviations from which on a sample is a spike
_WIDTH, _FAR = 7, 6.0


def without_spikes(log: Log) -> Log:
    """Replace spikes of up to three samples, found by a running median (Hampel), by lines between their neighbors.

    A filter spreads a spike of a position over many samples, and there it is large both in the accelerations of the
    regressor and in the residuals, where weights of residuals alone do not find it.
    """
    return Log(t=log.t, name=log.name, **{name: _cleaned(values) for name, values in signals_of(log).items()})


def _cleaned(x: Array) -> Array:
    from scipy.ndimage import median_filter

    if len(x) < _WIDTH:
        return x
    median = median_filter(x, size=(_WIDTH, 1), mode="nearest")
    away = np.abs(x - median)
    # a running median of a smooth signal is exact but at its turns: the typical step bounds what counts as far there
    scale = np.maximum(np.median(away, axis=0), np.median(np.abs(np.diff(x, axis=0)), axis=0)) / NORMAL_MEDIAN
    far, place, cleaned = away > _FAR * scale, np.arange(len(x)), x.copy()
    for k in np.flatnonzero(far.any(axis=0)):
        bad = far[:, k]
        cleaned[bad, k] = np.interp(place[bad], place[~bad], x[~bad, k])
    return cleaned
