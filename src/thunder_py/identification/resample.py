"""Logs with uneven instants, interpolated to even ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..errors import ThunderError, ThunderWarning, outer_level
from ..robot import Robot
from .log import Log, LogSource, checked_chunks, signals_of
from .signals import JITTER

#: longest gap that is interpolated, in periods of the cutoff: half of one is what its fastest tone needs
_GAP = 0.5
#: share of the sampling frequency below which resampling would fold noise into the motion
_SLOWER = 0.98
#: instants from which on the sampling frequency is known before the end
_COUNTED = 1000


@dataclass(frozen=True)
class Resampled:
    """A log at even instants, by cubic polynomials through the four samples around each.

    Attributes
    ----------
    source : LogSource
        The log.
    frequency : float
        Sampling frequency [Hz].
    cutoff : float or None
        Cutoff frequency of the filter that follows [Hz].
    quiet : bool
        Whether the warning of changed instants is left out.
    """

    source: LogSource
    frequency: float
    cutoff: float | None = None
    quiet: bool = False

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.source.name

    def rows(self) -> int:
        """Return the number of instants of the log before."""
        return self.source.rows()

    def chunks(self, robot: Robot, size: int) -> Iterator[Log]:
        """Yield the log in parts.

        Raises
        ------
        ThunderError
            If the log has gaps, or a higher sampling frequency.
        """
        held, start, done, count, told = None, 0.0, 0, 0, self.quiet
        for chunk in checked_chunks(robot, self.source, size):
            if held is None:
                start = float(chunk.t[0])
            held = chunk if held is None else Log.joined([held, chunk])
            count += len(chunk)
            self._check_gaps(held.t)
            if count >= _COUNTED:
                self._check_frequency((count - 1) / (float(held.t[-1]) - start))
            told = told or self._tell(held.t)
            if len(held) < 5:
                continue
            stop = int(np.ceil((held.t[-2] - start) * self.frequency))  # two samples must follow
            if stop > done:
                instants = start + np.arange(done, stop) / self.frequency
                yield _interpolated(held, instants)
                done = stop
                # the next instant needs the sample before the one before it
                first = int(np.searchsorted(held.t, start + done / self.frequency, side="right")) - 2
                held = held[max(min(first, len(held) - 4), 0) :]
        if held is None or len(held) < 4:
            raise ThunderError(f"t must hold at least 5 instants, got {0 if held is None else len(held)}")
        self._check_frequency((count - 1) / (float(held.t[-1]) - start))
        stop = int(np.floor((held.t[-1] - start) * self.frequency * (1.0 + 1e-12) + 1e-9)) + 1
        if stop > done:
            yield _interpolated(held, np.minimum(start + np.arange(done, stop) / self.frequency, held.t[-1]))

    def _check_gaps(self, t: Array) -> None:
        steps = np.diff(t)
        gap = np.inf if self.cutoff is None else _GAP / self.cutoff
        if steps.size and steps.max() > gap:
            k = int(np.argmax(steps))
            raise ThunderError(
                f"t must have no gap longer than {gap:g} s, half a period of the cutoff, got {steps[k]:g} s after "
                f"{t[k]:g} s: split the log there"
            )

    def _check_frequency(self, frequency: float) -> None:
        if frequency * _SLOWER > self.frequency:
            raise ThunderError(
                f"resample must be at least the sampling frequency of the log, {frequency:g} Hz, got {self.frequency:g}"
            )

    def _tell(self, t: Array) -> bool:
        """Warn if the instants are changed; return whether they are."""
        steps = np.diff(t)
        if not steps.size or np.abs(steps * self.frequency - 1.0).max() <= JITTER:
            return False
        where = f"{self.name}: " if self.name else ""
        message = f"interpolated to {self.frequency:g} Hz, from periods of {steps.min():g} to {steps.max():g} s"
        warnings.warn(where + message, ThunderWarning, stacklevel=outer_level())
        return True


def _interpolated(log: Log, instants: Array) -> Log:
    place = np.clip(np.searchsorted(log.t, instants, side="right") - 2, 0, len(log) - 4)
    index = place[:, None] + np.arange(4)
    distance = instants[:, None] - log.t[index]
    weights = np.ones_like(distance)
    for a in range(4):
        for b in range(4):
            if a != b:
                weights[:, a] *= distance[:, b] / (log.t[index[:, a]] - log.t[index[:, b]])
    signals = {name: np.einsum("ka,kan->kn", weights, values[index]) for name, values in signals_of(log).items()}
    return Log(t=instants, name=log.name, **signals)
