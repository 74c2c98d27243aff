"""Logs of any length in windows, which overlap where filters need their neighborhood."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..checks import Array, nonnegative, positive
from ..errors import FileFormatError, ThunderError, ThunderWarning, outer_level
from ..robot import Robot
from .equations import Columns, Equations, equations, formed_columns
from .log import Log, LogSource, checked_chunks
from .resample import Resampled
from .samples import Filter, Samples
from .sensors import SensorCalibration, corrected
from .signals import checked_cutoff, instants, sampling_period
from .spikes import without_spikes

#: instants of a window without its margins, in units of the margin and at least, and instants of equations in memory
_WINDOW, _LEAST, _ROWS = 8, 16384, 1024
#: instants of a log over which the covariances of noise are averaged, which change slowly
_INSTANTS = 500


class Filtering(NamedTuple):
    """Conversion of logs to samples, as for `identify`.

    Attributes
    ----------
    cutoff : float or None
        Cutoff frequency [Hz]; None trusts the accelerations of the logs.
    hold : float
        Time that a torque is held from its instant on [s].
    resample : float or None
        Frequency [Hz] to which logs are interpolated before.
    robust : bool
        Whether spikes are replaced by interpolation before the filter.
    quiet : bool
        Whether warnings are left out, which an earlier pass over the same logs gave.
    longest : float
        Longest delay of sensors [s].
    """

    cutoff: float | None = None
    hold: float = 0.0
    resample: float | None = None
    robust: bool = False
    quiet: bool = False
    longest: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Window:
    """Part of a log with the margins that its filter needs.

    Attributes
    ----------
    robot : Robot
        The robot.
    log : Log
        Measured signals, with margins.
    filter : Filter
        Conversion to samples.
    first : int
        Index of the first instant, with margins, in the whole log.
    own : slice
        Instants of the log in this window alone.
    used : slice
        Those of them that are not near the ends of the whole log.
    stride : int
        Instants between those that stand for the whole log, where some hundreds suffice.
    """

    robot: Robot = field(repr=False)
    log: Log
    filter: Filter
    first: int
    own: slice
    used: slice
    stride: int

    def samples(self, sensors: SensorCalibration | None = None) -> Samples:
        """Return the filtered signals, with margins, corrected for sensors that are not exact."""
        if sensors is None or sensors.exact:
            return self.filter(self.log)
        return self.filter(corrected(self.log, sensors, self.filter.period))

    def every(self, step: int) -> slice:
        """Return the instants that are used, `step` apart in the whole log."""
        first = -(-(self.first + self.used.start) // step) * step - self.first
        return slice(first, max(self.used.stop, first), step)

    def spread(self, here: slice, step: int = 1) -> list[slice]:
        """Return parts of about a thousand of the instants of `every`, each spread over them and like the others."""
        first, size = self.every(step).start, -(-(here.stop - here.start) // _ROWS)
        stop = min(first + here.stop * step, self.used.stop)
        return [slice(first + (here.start + k) * step, stop, size * step) for k in range(size)]

    def rows(
        self, offsets: Array, columns: Sequence[Columns] = (), samples: Samples | None = None
    ) -> Callable[[slice], Equations]:
        """Return what forms the rows at some instants.

        Parameters
        ----------
        offsets : (e,) array
            Known offsets of x - q.
        columns : sequence of Columns
            Further columns.
        samples : Samples, optional
            Those of `samples`, where they are known.
        """
        found = self.samples() if samples is None else samples
        formed = formed_columns(self.robot, found, offsets)
        further = [np.asarray(each.evaluate(found), dtype=np.float64) for each in columns]
        return lambda part: equations(self.robot, found[part], formed[part], [each[part] for each in further], part)

    def equations(
        self, offsets: Array, columns: Sequence[Columns] = (), samples: Samples | None = None
    ) -> Iterator[Equations]:
        """Yield the `rows` of all instants that are used, about a thousand instants at a time."""
        rows = self.rows(offsets, columns, samples)
        for start in range(self.used.start, self.used.stop, _ROWS):
            yield rows(slice(start, min(start + _ROWS, self.used.stop)))


def windows(robot: Robot, log: LogSource, filtering: Filtering) -> Iterator[Window]:
    """Yield the windows of a log, in order.

    Raises
    ------
    ThunderError
        If signals are missing, not finite or of the wrong shape, or instants do not increase or, for a filter, are not
        evenly spaced.
    """
    reader = _Reader(robot, log, filtering)
    try:
        yield from _windows(robot, reader, filtering)
    except FileFormatError:
        raise
    except ThunderError as error:
        if not log.name:
            raise
        raise type(error)(f"{log.name}: {error}") from error


def read_chunks(robot: Robot, log: LogSource, filtering: Filtering, size: int) -> Iterator[Log]:
    """Return the checked parts of a log, resampled, and without velocities and accelerations where these are filtered.

    Warns
    -----
    ThunderWarning
        If accelerations are left out.
    """
    if filtering.resample is not None:
        log = Resampled(log, positive(filtering.resample, "resample"), filtering.cutoff, filtering.quiet)
    return _parts_of(robot, log, filtering, size)


def _parts_of(robot: Robot, log: LogSource, filtering: Filtering, size: int) -> Iterator[Log]:
    told = filtering.quiet
    for part in checked_chunks(robot, log, size):
        if filtering.cutoff is None:
            yield part
            continue
        if part.ddq is not None and not told:
            told, where = True, f"{log.name}: " if log.name else ""
            message = "velocities and accelerations of the log are not used, because cutoff filters its positions"
            warnings.warn(where + message, ThunderWarning, stacklevel=outer_level())
        yield Log(t=part.t, q=part.q, tau=part.tau, x=part.x, joint_torque=part.joint_torque, name=part.name)


def _windows(robot: Robot, reader: _Reader, filtering: Filtering) -> Iterator[Window]:
    reader.read(_LEAST + _LEAST // 2)
    conversion = filter_of(reader.log, filtering)
    margin = conversion.margin
    length, stride = max(_LEAST, _WINDOW * margin), max(reader.source.rows() // _INSTANTS, 1)
    start = 0
    while True:
        reader.read(start + length + max(margin, length // 2) + 1)
        rest = reader.stop - start - length
        ends = reader.exhausted and rest <= length // 2
        stop = reader.stop if ends else start + length
        first = max(start - margin, 0)
        log = reader.log[first - reader.start : min(stop + margin, reader.stop) - reader.start]
        if conversion.cutoff is not None:
            sampling_period(log.t, conversion.period)
            log = without_spikes(log) if filtering.robust else log
        yield _window(robot, log, conversion, first, (start, stop), reader.stop, stride)
        if ends:
            return
        start = stop
        reader.drop(start - margin)


def filter_of(log: Log, filtering: Filtering) -> Filter:
    """Return the filter of a log from one of its `read_chunks`, or raise."""
    hold = nonnegative(filtering.hold, "hold")
    if log.ddq is not None:
        if hold:
            raise ThunderError("hold must be 0 for measured accelerations: give cutoff, or leave ddq out")
        if filtering.longest:
            raise ThunderError("ddq must be None for sensors with delays: give cutoff, or leave ddq out")
        return Filter(float(np.mean(np.diff(instants(log.t)))))
    if filtering.cutoff is None:
        raise ThunderError(
            "cutoff must be given without ddq, because accelerations are computed from filtered positions"
        )
    period = sampling_period(log.t)
    return Filter(period, checked_cutoff(filtering.cutoff, period), hold, filtering.longest)


def _window(
    robot: Robot, log: Log, conversion: Filter, first: int, own: tuple[int, int], size: int, stride: int
) -> Window:
    edge = conversion.edge(size)
    low, high = max(own[0], edge), max(own[1], edge)
    if own[1] == size:
        high = max(size - edge, low)
    return Window(
        robot=robot,
        log=log,
        filter=conversion,
        first=first,
        own=slice(own[0] - first, own[1] - first),
        used=slice(low - first, high - first),
        stride=stride,
    )


class _Reader:
    """A log that is read as far as it is needed; `log` is what is in memory, from the instant `start` on."""

    def __init__(self, robot: Robot, source: LogSource, filtering: Filtering) -> None:
        self.source, self.start, self.exhausted = source, 0, False
        self._chunks = read_chunks(robot, source, filtering, _LEAST)
        self._parts: list[Log] = []

    @property
    def stop(self) -> int:
        return self.start + sum(map(len, self._parts))

    @property
    def log(self) -> Log:
        if len(self._parts) != 1:
            self._parts = [Log.joined(self._parts)]
        return self._parts[0]

    def read(self, stop: int) -> None:
        """Read to the instant `stop`, or to the end."""
        while self.stop < stop and not self.exhausted:
            chunk = next(self._chunks, None)
            if chunk is None:
                self.exhausted = True
            else:
                self._parts.append(chunk)
        if not self._parts:
            raise ThunderError("t must hold at least 5 instants, got 0")

    def drop(self, start: int) -> None:
        """Forget what is before the instant `start`."""
        if start > self.start:
            self._parts, self.start = [self.log[start - self.start :]], start
